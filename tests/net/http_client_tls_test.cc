#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "narthex/net/http_client.h"
#include "tests/net/tls_server.h"

namespace narthex::net {
namespace {

using testing::HasSubstr;

class HttpClientTlsTest : public testing::Test {
 protected:
  HttpClientTlsTest() { std::signal(SIGPIPE, SIG_IGN); }  // OpenSSL writes to ended connections.
  void TearDown() override { client_->Stop(); }

  // "secret", or the error's message.
  std::string Get(const TlsServer& server, const TlsClientOptions& tls) {
    HttpClientOptions options;
    options.tls = tls;
    FetchRequest request;
    request.url = base::StrCat("https://localhost:", server.port(), "/");
    const auto response = client_->FetchNow(request, std::make_shared<HttpClientOptions>(options));
    return response.ok() ? response->body : std::string(base::Message(response.status()));
  }

  const TestCertificate local_ = MakeCertificate("localhost");
  const TestCertificate other_ = MakeCertificate("other.example");
  std::unique_ptr<HttpClient> client_ = HttpClient::Create();
};

TEST_F(HttpClientTlsTest, OnlyTrustedCertificatesAreAccepted) {
  const TlsServer server(local_);
  TlsClientOptions tls;
  EXPECT_THAT(
      Get(server, tls),
      HasSubstr(
          "tls: failed to verify certificate: x509: certificate signed by unknown authority"));
  tls.insecure_skip_verify = true;
  EXPECT_EQ(Get(server, tls), "secret");
  tls.insecure_skip_verify = false;
  tls.ca = local_.cert_pem;
  EXPECT_EQ(Get(server, tls), "secret");
}

TEST_F(HttpClientTlsTest, TheServerNameIsWhatIsVerified) {
  const TlsServer server(other_);
  TlsClientOptions tls;
  tls.ca = other_.cert_pem;
  EXPECT_THAT(Get(server, tls), HasSubstr("x509: certificate is not valid for localhost"));
  tls.server_name = "other.example";
  EXPECT_EQ(Get(server, tls), "secret");
}

TEST_F(HttpClientTlsTest, ClientCertificatesAreShown) {
  const TestCertificate client = MakeCertificate("client");
  const TlsServer server(local_, client.cert_pem);
  TlsClientOptions tls;
  tls.ca = local_.cert_pem;
  EXPECT_NE(Get(server, tls), "secret");
  tls.cert = client.cert_pem;
  tls.key = client.key_pem;
  EXPECT_EQ(Get(server, tls), "secret");
}

TEST_F(HttpClientTlsTest, UnreadableFilesAndBadTextsAreErrors) {
  const TlsServer server(local_);
  TlsClientOptions tls;
  tls.ca_file = "/nonexistent/ca.pem";
  EXPECT_THAT(Get(server, tls), HasSubstr("/nonexistent/ca.pem"));
  tls = {};
  tls.ca = "no pem";
  EXPECT_NE(Get(server, tls), "secret");
}

TEST_F(HttpClientTlsTest, PlainServersAreToldApart) {
  RawListener listener;
  std::thread server([&] {
    RawConnection connection = listener.Accept();
    connection.ReadThrough("\x01");  // The start of a handshake.
    connection.Send("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  FetchRequest request;
  request.url = base::StrCat("https://127.0.0.1:", listener.port(), "/");
  const auto response = client_->FetchNow(request, nullptr);
  EXPECT_EQ(
      base::Message(response.status()),
      base::StrCat("Get \"", request.url, "\": http: server gave HTTP response to HTTPS client"));
  server.join();
}

}  // namespace
}  // namespace narthex::net
