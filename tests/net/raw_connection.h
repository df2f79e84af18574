// A plain TCP client and a plain TCP listener on loopback, for tests that send and receive exact
// bytes. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace narthex::net {

struct RawResponse {
  int status = 0;                              // 0: the connection ended before a whole answer.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;                            // Chunks joined.
};

class RawConnection {
 public:
  // To 127.0.0.1, or ::1.
  explicit RawConnection(uint16_t port, bool ipv6 = false);
  // Takes a connected socket.
  explicit RawConnection(int socket) : socket_(socket) {}
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;

  bool connected() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  // False if the other side closed.
  bool Send(std::string_view bytes);
  // The next answer (1xx answers too). `is_head`: without a body.
  RawResponse Read(bool is_head = false);
  // Everything up to the end of the connection, from what was not read yet.
  std::string ReadAll();
  // Reads until `text` has arrived, and takes all up to its end.
  std::string ReadThrough(std::string_view text);
  void ShutdownSend();
  // Closes with a reset instead of an orderly end.
  void Reset();
  void Close();

 private:
  bool Fill();
  int socket_ = -1;
  std::string buffer_;
};

class RawListener {
 public:
  RawListener();
  ~RawListener();
  uint16_t port() const { return port_; }
  RawConnection Accept();

 private:
  int socket_ = -1;
  uint16_t port_ = 0;
};

}  // namespace narthex::net
