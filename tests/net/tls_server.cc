#include "tests/net/tls_server.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "narthex/base/check.h"

namespace narthex::net {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
constexpr long kOneDayS = 86'400;

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

X509* ReadCertificate(const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* const cert = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return cert;
}

}  // namespace

TestCertificate MakeCertificate(const std::string& name) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const cert = X509_new();
  X509_set_version(cert, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert), -kOneDayS);
  X509_gmtime_adj(X509_getm_notAfter(cert), kOneDayS);
  X509_set_pubkey(cert, key);
  X509_NAME* const subject = X509_get_subject_name(cert);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(cert, subject);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str());
  X509_add_ext(cert, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(cert, key, EVP_sha256());

  TestCertificate out;
  BIO* const cert_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(cert_bio, cert);
  out.cert_pem = TextOf(cert_bio);
  BIO* const key_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  out.key_pem = TextOf(key_bio);
  X509_free(cert);
  EVP_PKEY_free(key);
  return out;
}

struct TlsServer::Context {
  SSL_CTX* ssl = SSL_CTX_new(TLS_server_method());
  ~Context() { SSL_CTX_free(ssl); }
};

TlsServer::TlsServer(const TestCertificate& certificate, const std::string& client_ca_pem)
    : context_(std::make_unique<Context>()) {
  X509* const cert = ReadCertificate(certificate.cert_pem);
  BIO* const key_bio =
      BIO_new_mem_buf(certificate.key_pem.data(), static_cast<int>(certificate.key_pem.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_bio, nullptr, nullptr, nullptr);
  BIO_free(key_bio);
  NX_CHECK_EQ(SSL_CTX_use_certificate(context_->ssl, cert), 1);
  NX_CHECK_EQ(SSL_CTX_use_PrivateKey(context_->ssl, key), 1);
  X509_free(cert);
  EVP_PKEY_free(key);
  if (!client_ca_pem.empty()) {
    X509* const authority = ReadCertificate(client_ca_pem);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_->ssl), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context_->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  thread_ = std::thread([this] { Run(); });
}

TlsServer::~TlsServer() {
  is_stopping_ = true;
  RawConnection wake(port());
  thread_.join();
}

void TlsServer::Run() {
  while (true) {
    RawConnection connection = listener_.Accept();
    if (is_stopping_) return;
    SSL* const ssl = SSL_new(context_->ssl);
    SSL_set_fd(ssl, connection.socket());
    if (SSL_accept(ssl) == 1) {
      char bytes[4096];
      if (SSL_read(ssl, bytes, sizeof bytes) > 0) {
        SSL_write(ssl, kAnswer.data(), static_cast<int>(kAnswer.size()));
      }
      SSL_shutdown(ssl);
    }
    SSL_free(ssl);
  }
}

}  // namespace narthex::net
