// A TLS server on loopback that answers every request with the same bytes, under a certificate made
// for it. Handles one connection at a time on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "tests/net/raw_connection.h"

namespace narthex::net {

struct TestCertificate {
  std::string cert_pem;  // Self-signed, so also the authority to trust.
  std::string key_pem;
};

// For `name` (a DNS name).
TestCertificate MakeCertificate(const std::string& name);

class TlsServer {
 public:
  // `client_ca_pem`: clients must show a certificate of this authority, if not empty.
  TlsServer(const TestCertificate& certificate, const std::string& client_ca_pem = "");
  ~TlsServer();
  uint16_t port() const { return listener_.port(); }

 private:
  struct Context;
  void Run();

  RawListener listener_;
  std::unique_ptr<Context> context_;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace narthex::net
