#include "narthex/net/http_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "net/content_encoding.h"
#include "tests/net/raw_connection.h"

namespace narthex::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using OptionsPtr = std::shared_ptr<const HttpClientOptions>;

class HttpClientTest : public testing::Test {
 protected:
  void TearDown() override {
    client_->Stop();
    if (server_ != nullptr) server_->Stop(0);
    workers_.Stop();
  }

  // Starts a server of our own; its URL without a slash at the end.
  std::string Serve(HttpHandler handler) {
    auto server =
        HttpServer::Listen({.listen_addresses = {"127.0.0.1:0"}}, &workers_, &base::NullLogger());
    server_ = *std::move(server);
    server_->Serve(std::move(handler));
    return base::StrCat("http://127.0.0.1:", server_->ports().at(0));
  }

  // Fetches from a server that reads one request and then does `answer`.
  absl::StatusOr<FetchResponse> FetchFrom(std::function<void(RawConnection*)> answer,
                                          FetchRequest request = {}) {
    RawListener listener;
    request.url = base::StrCat("http://127.0.0.1:", listener.port(), "/m");
    std::thread server([&] {
      RawConnection connection = listener.Accept();
      connection.ReadThrough("\r\n\r\n");
      answer(&connection);
    });
    absl::StatusOr<FetchResponse> response = client_->FetchNow(request, nullptr);
    server.join();
    // The port differs from run to run.
    if (!response.ok()) {
      std::string message(base::Message(response.status()));
      const std::string port = base::StrCat(":", listener.port());
      for (size_t at; (at = message.find(port)) != std::string::npos;) {
        message.replace(at, port.size(), ":PORT");
      }
      return absl::Status(response.status().code(), message);
    }
    return response;
  }

  absl::StatusOr<FetchResponse> Get(const std::string& url, OptionsPtr options = nullptr) {
    FetchRequest request;
    request.url = url;
    return client_->FetchNow(request, std::move(options));
  }

  base::ThreadPool workers_{"workers", 4, 256};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create();
};

void EchoRequest(const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
  std::string body = base::StrCat(request.method, " ", request.path, "\n");
  for (const auto& [name, value] : request.headers) base::StrAppend(&body, name, ": ", value, "\n");
  writer->Send(200, {{"X-From", request.remote_address}}, body + request.body);
}

TEST_F(HttpClientTest, FetchesStatusHeadersAndBody) {
  const std::string url = Serve([](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(404, {{"Content-Type", "text/x"}}, "none");
  });
  const FetchResponse response = Get(url + "/a").value();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.reason, "Not Found");
  EXPECT_EQ(FindHeader(response.headers, "content-type"), "text/x");
  EXPECT_EQ(response.body, "none");
}

TEST_F(HttpClientTest, SendsExactlyWhatWasAskedFor) {
  FetchRequest request;
  request.url = Serve(EchoRequest) + "/p?q";
  request.method = "POST";
  request.headers = {{"Accept", "text/x"}, {"X-Empty", ""}};
  request.body = std::string("a\0b", 3);
  request.decode_gzip = false;
  HttpClientOptions options;
  options.headers = {{"X-Config", "1"}};
  const FetchResponse response =
      client_->FetchNow(request, std::make_shared<HttpClientOptions>(options)).value();
  EXPECT_EQ(response.body, base::StrCat("POST /p\nHost: 127.0.0.1:", server_->ports()[0],
                                        "\nX-Config: 1\nAccept: text/x\nX-Empty: \n"
                                        "Content-Length: 3\n",
                                        request.body));
  request.method = "PUT";
  EXPECT_THAT(client_->FetchNow(request, nullptr)->body, StartsWith("PUT /p\n"));
  request.body = "";
  request.method = "HEAD";
  EXPECT_EQ(client_->FetchNow(request, nullptr)->body, "");
  request.method = "DELETE";
  EXPECT_THAT(client_->FetchNow(request, nullptr)->body, StartsWith("DELETE /p\n"));
}

TEST_F(HttpClientTest, ConnectionsAreKept) {
  const std::string url = Serve(EchoRequest);
  const FetchResponse first = Get(url).value();
  const FetchResponse second = Get(url).value();
  EXPECT_EQ(FindHeader(first.headers, "X-From"), FindHeader(second.headers, "X-From"));
}

TEST_F(HttpClientTest, BasicAuthAndBearerAreSent) {
  const std::string url = Serve(EchoRequest);
  HttpClientOptions basic;
  basic.has_basic_auth = true;
  basic.username = "me";
  basic.password = "p:w";
  EXPECT_THAT(Get(url, std::make_shared<HttpClientOptions>(basic))->body,
              HasSubstr("Authorization: Basic bWU6cDp3\n"));
  HttpClientOptions bearer;
  bearer.credentials = "tok";
  EXPECT_THAT(Get(url, std::make_shared<HttpClientOptions>(bearer))->body,
              HasSubstr("Authorization: Bearer tok\n"));
  bearer.authorization_type = "Token";
  EXPECT_THAT(Get(url, std::make_shared<HttpClientOptions>(bearer))->body,
              HasSubstr("Authorization: Token tok\n"));
}

TEST_F(HttpClientTest, SecretFilesAreReadForEachRequest) {
  const std::string url = Serve(EchoRequest);
  const std::string path = base::StrCat(testing::TempDir(), "/narthex_secret_", ::getpid());
  HttpClientOptions options;
  options.credentials_file = path;
  const OptionsPtr shared = std::make_shared<HttpClientOptions>(options);
  for (const char* secret : {"one", "two"}) {
    std::ofstream(path) << " " << secret << "\n";
    EXPECT_THAT(Get(url, shared)->body, HasSubstr(base::StrCat("Bearer ", secret, "\n")));
  }
  std::ofstream(path) << "a\r\nX-Evil: 1";
  EXPECT_EQ(Get(url, shared).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::remove(path);
  const absl::Status missing = Get(url, shared).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::Message(missing),
            base::StrCat("Get \"", url,
                         "\": unable to read authorization credentials: unable to read file ", path,
                         ": open ", path, ": no such file or directory"));
}

TEST_F(HttpClientTest, AClosedPortReadsAsInGo) {
  uint16_t port = 0;
  {
    RawListener listener;
    port = listener.port();
  }
  const std::string address = base::StrCat("127.0.0.1:", port);
  const absl::Status status = Get(base::StrCat("http://me:secret@", address, "/metrics")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(base::Message(status),
            base::StrCat("Get \"http://me:***@", address, "/metrics\": dial tcp ", address,
                         ": connect: connection refused"));
  EXPECT_EQ(base::Message(Get(base::StrCat("http://[::1]:", port)).status()),
            base::StrCat("Get \"http://[::1]:", port, "\": dial tcp [::1]:", port,
                         ": connect: connection refused"));
}

TEST_F(HttpClientTest, AServerThatHangsIsGivenUp) {
  RawListener listener;
  FetchRequest request;
  request.url = base::StrCat("http://127.0.0.1:", listener.port(), "/m");
  request.timeout_ms = 50;
  // Nobody accepts: the kernel takes the connection and the request.
  absl::Status status = client_->FetchNow(request, nullptr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(base::Message(status),
            base::StrCat("Get \"", request.url, "\": context deadline exceeded"));
  request.timeout_ms = 200;
  status = FetchFrom(
               [&](RawConnection* connection) {
                 connection->Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
                 connection->ReadAll();
               },
               request)
               .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(base::Message(status), "context deadline exceeded");
}

TEST_F(HttpClientTest, BrokenAnswersAreErrors) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "Get \"http://127.0.0.1:PORT/m\": EOF"},
      {"rubbish\r\n\r\n",
       "Get \"http://127.0.0.1:PORT/m\": net/http: HTTP/1.x transport connection broken: malformed "
       "HTTP response"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "unexpected EOF"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "unexpected EOF"},
      {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
       "gzip: invalid header"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x') + "\r\n\r\n",
       "Get \"http://127.0.0.1:PORT/m\": net/http: server response headers exceeded 1048576 bytes; "
       "aborted"},
  };
  for (const auto& [bytes, message] : kCases) {
    const absl::Status status = FetchFrom([&bytes = bytes](RawConnection* connection) {
                                  connection->Send(bytes);
                                }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << bytes;
    EXPECT_EQ(base::Message(status), message) << bytes;
  }
}

TEST_F(HttpClientTest, AnAnswerCutAtAnyByteIsAnErrorOrWhole) {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto response =
        FetchFrom([&](RawConnection* connection) { connection->Send(whole.substr(0, size)); });
    EXPECT_EQ(response.ok(), size == whole.size()) << size;
  }
}

TEST_F(HttpClientTest, AResetIsAnError) {
  const absl::Status status =
      FetchFrom([](RawConnection* connection) {
        connection->Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        connection->Reset();
      }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpClientTest, EndlessHeadersAreAnError) {
  const absl::Status status = FetchFrom([](RawConnection* connection) {
                                connection->Send("HTTP/1.1 200 OK\r\n");
                                const std::string line = "X-A: " + std::string(1000, 'x') + "\r\n";
                                while (connection->Send(line)) {
                                }
                              }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpClientTest, BodiesBeyondTheLimitAreCutOffEarly) {
  size_t num_sent = 0;
  FetchRequest request;
  request.max_body_bytes = 1u << 20;
  const absl::Status status = FetchFrom(
                                  [&](RawConnection* connection) {
                                    connection->Send("HTTP/1.1 200 OK\r\n\r\n");
                                    const std::string piece(1u << 20, 'x');
                                    while (num_sent < 100 && connection->Send(piece)) ++num_sent;
                                  },
                                  request)
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(base::Message(status), "body size limit exceeded");
  EXPECT_LT(num_sent, 100u);
}

TEST_F(HttpClientTest, TheLimitIsOfTheDecodedBody) {
  // 64 MB of zeros, some 64 KB on the wire.
  std::string bomb(200'000, '\0');
  {
    const std::string zeros(1u << 20, '\0');
    z_stream zlib{};
    deflateInit2(&zlib, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    zlib.next_out = reinterpret_cast<Bytef*>(bomb.data());
    zlib.avail_out = static_cast<uInt>(bomb.size());
    for (int i = 0; i < 64; ++i) {
      zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
      zlib.avail_in = static_cast<uInt>(zeros.size());
      deflate(&zlib, i == 63 ? Z_FINISH : Z_NO_FLUSH);
    }
    bomb.resize(zlib.total_out);
    deflateEnd(&zlib);
  }
  const std::string url = Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->set_allow_compression(false);
    writer->Send(200, {{"Content-Encoding", "gzip"}}, bomb);
  });
  FetchRequest request;
  request.url = url;
  request.max_body_bytes = 10u << 20;
  EXPECT_EQ(client_->FetchNow(request, nullptr).status().code(),
            absl::StatusCode::kResourceExhausted);
  request.max_body_bytes = 65u << 20;
  EXPECT_EQ(client_->FetchNow(request, nullptr)->body.size(), 64u << 20);
  request.max_body_bytes = 64u << 20;
  EXPECT_EQ(client_->FetchNow(request, nullptr).status().code(),
            absl::StatusCode::kResourceExhausted);
  request.decode_gzip = false;
  const FetchResponse raw = client_->FetchNow(request, nullptr).value();
  EXPECT_EQ(raw.body, bomb);
  EXPECT_EQ(FindHeader(raw.headers, "Content-Encoding"), "gzip");
}

TEST_F(HttpClientTest, ABodyThatEndsWithinItsCompressionIsNoBody) {
  std::string bytes;
  Compressor compressor(ContentEncoding::kGzip);
  compressor.Append("metric_a 1\nmetric_b 2\n", &bytes);
  compressor.Finish(&bytes);
  bytes.resize(bytes.size() - 8);  // All of the text, without the checksum.
  const std::string url = Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->set_allow_compression(false);
    writer->Send(200, {{"Content-Encoding", "gzip"}}, bytes);
  });
  EXPECT_EQ(base::Message(Get(url).status()), "unexpected EOF");
}

TEST_F(HttpClientTest, OtherEncodingsThanGzipAreLeftAsTheyAre) {
  const std::string url = Serve([](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->set_allow_compression(false);
    writer->Send(200, {{"Content-Encoding", "br"}}, "metric 1\n");
  });
  EXPECT_EQ(Get(url)->body, "metric 1\n");
}

TEST_F(HttpClientTest, CompressedBodiesAreDecoded) {
  const std::string body(10'000, 'x');
  const std::string url =
      Serve([&](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
        EXPECT_THAT(FindHeader(request.headers, "Accept-Encoding"), HasSubstr("gzip"));
        writer->Send(200, {}, body);
      });
  const FetchResponse response = Get(url).value();
  EXPECT_EQ(response.body, body);
  EXPECT_EQ(FindHeader(response.headers, "Content-Encoding"), "");
  EXPECT_EQ(FindHeader(response.headers, "Content-Length"), "");
}

TEST_F(HttpClientTest, RedirectsAreFollowedOrHandedOver) {
  const std::string url =
      Serve([](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
        if (request.path == "/end") return writer->Send(200, {{"X-End", "1"}}, "end");
        writer->Send(
            302, {{"Location", request.path == "/loop" ? "/loop" : "/end"}, {"X-Way", "1"}}, "way");
      });
  const FetchResponse followed = Get(url + "/start").value();
  EXPECT_EQ(followed.body, "end");
  EXPECT_EQ(FindHeader(followed.headers, "X-Way"), "");
  HttpClientOptions options;
  options.follow_redirects = false;
  const FetchResponse handed =
      Get(url + "/start", std::make_shared<HttpClientOptions>(options)).value();
  EXPECT_EQ(handed.status, 302);
  EXPECT_EQ(handed.body, "way");
  EXPECT_EQ(base::Message(Get(url + "/loop").status()),
            base::StrCat("Get \"", url, "/loop\": stopped after 10 redirects"));
}

TEST_F(HttpClientTest, BadRequestsNeverLeave) {
  const auto message = [&](const std::string& url) {
    const absl::Status status = Get(url).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << url;
    return std::string(base::Message(status));
  };
  EXPECT_EQ(message("ftp://h/x"), "Get \"ftp://h/x\": unsupported protocol scheme \"ftp\"");
  EXPECT_EQ(message("nonsense"), "Get \"nonsense\": unsupported protocol scheme \"\"");
  EXPECT_EQ(message("http://h:x/"), "Get \"http://h:x/\": invalid port \":x\" after host");
  EXPECT_EQ(message("http:///x"), "Get \"http:///x\": http: no Host in request URL");
  EXPECT_THAT(message("http://h/a b"), HasSubstr("invalid control character"));
  FetchRequest request;
  request.url = "http://127.0.0.1:1/";
  request.headers = {{"X", "a\r\nEvil: 1"}};
  EXPECT_EQ(client_->FetchNow(request, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
  request.headers = {};
  request.method = "G T";
  EXPECT_EQ(client_->FetchNow(request, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(HttpClientTest, UnixSocketsAreDialled) {
  const std::string path = base::StrCat(testing::TempDir(), "/narthex_socket_", ::getpid());
  FetchRequest request;
  request.url = "http://localhost/u";
  request.unix_socket = path;
  EXPECT_EQ(base::Message(client_->FetchNow(request, nullptr).status()),
            base::StrCat("Get \"http://localhost/u\": dial unix ", path,
                         ": connect: no such file or directory"));
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  std::thread server([&] {
    RawConnection connection(::accept(listener, nullptr, nullptr));
    EXPECT_THAT(connection.ReadThrough("\r\n\r\n"),
                StartsWith("GET /u HTTP/1.1\r\nHost: localhost\r\n"));
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nunix");
  });
  EXPECT_EQ(client_->FetchNow(request, nullptr)->body, "unix");
  server.join();
  ::close(listener);
  std::filesystem::remove(path);
}

TEST_F(HttpClientTest, ProxiesAreUsedButForTheirExceptions) {
  const std::string proxy =
      Serve([](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
        writer->Send(200, {},
                     base::StrCat("proxied ", FindHeader(request.headers, "Host"), request.path));
      });
  HttpClientOptions options;
  options.proxy_url = proxy;
  EXPECT_EQ(Get("http://far.invalid/x", std::make_shared<HttpClientOptions>(options))->body,
            "proxied far.invalid/x");
  EXPECT_EQ(Get("http://127.0.0.2:1/x", std::make_shared<HttpClientOptions>(options))->body,
            "proxied 127.0.0.2:1/x");
  for (const char* exceptions :
       {"127.0.0.2", "elsewhere"}) {  // Loopback is one once there are any.
    options.no_proxy = exceptions;
    const OptionsPtr shared = std::make_shared<HttpClientOptions>(options);
    EXPECT_EQ(base::Message(Get("http://127.0.0.2:1/x", shared).status()),
              "Get \"http://127.0.0.2:1/x\": dial tcp 127.0.0.2:1: connect: connection refused");
  }
}

TEST_F(HttpClientTest, OneTokenServesManyFetches) {
  std::atomic<int> num_token_requests = 0;
  const std::string url =
      Serve([&](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
        if (request.path == "/token") {
          ++num_token_requests;
          EXPECT_EQ(request.body, "grant_type=client_credentials&scope=a%20b&aud=x%26y");
          EXPECT_EQ(FindHeader(request.headers, "Authorization"), "Basic aWQ6c2VjcmV0");
          return writer->Send(
              200, {}, "{\"access_token\":\"T1\",\"token_type\":\"bearer\",\"expires_in\":3600}");
        }
        writer->Send(200, {}, std::string(FindHeader(request.headers, "Authorization")));
      });
  HttpClientOptions options;
  options.oauth2.client_id = "id";
  options.oauth2.client_secret = "secret";
  options.oauth2.token_url = url + "/token";
  options.oauth2.scopes = {"a", "b"};
  options.oauth2.endpoint_params = {{"aud", "x&y"}};
  const OptionsPtr shared = std::make_shared<HttpClientOptions>(options);
  std::vector<std::promise<std::string>> bodies(20);
  for (auto& body : bodies) {
    FetchRequest request;
    request.url = url + "/data";
    client_->Fetch(request, shared, [&body](absl::StatusOr<FetchResponse> response) {
      body.set_value(response.ok() ? response->body
                                   : std::string(base::Message(response.status())));
    });
  }
  for (auto& body : bodies) EXPECT_EQ(body.get_future().get(), "Bearer T1");
  EXPECT_EQ(num_token_requests, 1);
}

TEST_F(HttpClientTest, ARefusedTokenFailsTheFetch) {
  const std::string url = Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(401, {}, "go away");
  });
  HttpClientOptions options;
  options.oauth2.client_id = "id";
  options.oauth2.token_url = url + "/token";
  const absl::Status status =
      Get(url + "/x", std::make_shared<HttpClientOptions>(options)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(base::Message(status),
            base::StrCat("Get \"", url,
                         "/x\": oauth2: cannot fetch token: 401 Unauthorized\nResponse: go away"));
}

TEST_F(HttpClientTest, ManyFetchesInParallel) {
  const std::string url = Serve(EchoRequest);
  std::mutex mutex;
  int num_right = 0;
  std::vector<std::promise<void>> done(200);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < done.size(); i += 4) {
        FetchRequest request;
        request.url = base::StrCat(url, "/", i);
        client_->Fetch(request, nullptr, [&, i](absl::StatusOr<FetchResponse> response) {
          if (response.ok() && response->body.starts_with(base::StrCat("GET /", i, "\n"))) {
            const std::lock_guard<std::mutex> lock(mutex);
            ++num_right;
          }
          done[i].set_value();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& promise : done) promise.get_future().wait();
  EXPECT_EQ(num_right, 200);
}

TEST_F(HttpClientTest, StopCancelsWhatRunsAndRefusesMore) {
  RawListener listener;
  FetchRequest request;
  request.url = base::StrCat("http://127.0.0.1:", listener.port());
  std::vector<std::promise<absl::StatusCode>> codes(3);
  for (auto& code : codes) {
    client_->Fetch(request, nullptr, [&code](absl::StatusOr<FetchResponse> response) {
      code.set_value(response.status().code());
    });
  }
  client_->Stop();
  for (auto& code : codes) EXPECT_EQ(code.get_future().get(), absl::StatusCode::kCancelled);
  EXPECT_EQ(client_->FetchNow(request, nullptr).status().code(), absl::StatusCode::kCancelled);
  client_->Stop();
}

}  // namespace
}  // namespace narthex::net
