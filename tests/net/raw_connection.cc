#include "tests/net/raw_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <utility>

namespace narthex::net {

RawConnection::RawConnection(uint16_t port, bool ipv6) {
  socket_ = ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  const int result = ipv6 ? ::connect(socket_, reinterpret_cast<sockaddr*>(&v6), sizeof v6)
                          : ::connect(socket_, reinterpret_cast<sockaddr*>(&v4), sizeof v4);
  if (result != 0) Close();
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}

RawConnection::~RawConnection() { Close(); }

bool RawConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t num_sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (num_sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(num_sent));
  }
  return true;
}

bool RawConnection::Fill() {
  char bytes[16384];
  const ssize_t num_read = ::recv(socket_, bytes, sizeof bytes, 0);
  if (num_read <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(num_read));
  return true;
}

std::string RawConnection::ReadThrough(std::string_view text) {
  size_t found = buffer_.find(text);
  while (found == std::string::npos) {
    if (!Fill()) return "";
    found = buffer_.find(text);
  }
  std::string out = buffer_.substr(0, found + text.size());
  buffer_.erase(0, out.size());
  return out;
}

std::string RawConnection::ReadAll() {
  while (Fill()) {
  }
  return std::exchange(buffer_, "");
}

RawResponse RawConnection::Read(bool is_head) {
  const std::string head = ReadThrough("\r\n\r\n");
  if (head.empty()) return {};
  RawResponse response;
  response.status = std::atoi(head.c_str() + sizeof "HTTP/1.1");
  size_t line = head.find("\r\n") + 2;
  while (line + 2 < head.size()) {
    const size_t end = head.find("\r\n", line);
    const size_t colon = head.find(": ", line);
    std::string name = head.substr(line, colon - line);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    response.headers[name] = head.substr(colon + 2, end - colon - 2);
    line = end + 2;
  }
  if (is_head || response.status < 200 || response.status == 204) return response;
  if (response.headers.count("content-length") > 0) {
    const auto size = std::strtoull(response.headers["content-length"].c_str(), nullptr, 10);
    while (buffer_.size() < size) {
      if (!Fill()) return {};
    }
    response.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return response;
  }
  if (response.headers.count("transfer-encoding") == 0) {
    response.body = ReadAll();
    return response;
  }
  while (true) {
    const std::string size_line = ReadThrough("\r\n");
    if (size_line.empty()) return {};
    const auto size = std::strtoull(size_line.c_str(), nullptr, 16);
    while (buffer_.size() < size + 2) {
      if (!Fill()) return {};
    }
    response.body += buffer_.substr(0, size);
    buffer_.erase(0, size + 2);
    if (size == 0) return response;
  }
}

void RawConnection::ShutdownSend() { ::shutdown(socket_, SHUT_WR); }

void RawConnection::Reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  Close();
}

void RawConnection::Close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

RawListener::RawListener() {
  socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(socket_, 128) != 0 ||
      ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
}

RawListener::~RawListener() { ::close(socket_); }

RawConnection RawListener::Accept() { return RawConnection(::accept(socket_, nullptr, nullptr)); }

}  // namespace narthex::net
