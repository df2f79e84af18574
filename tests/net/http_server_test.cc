#include "narthex/net/http_server.h"

#include <zlib.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "tests/net/raw_connection.h"
#include "tests/support/manual_clock.h"

namespace narthex::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kNowMs = 1'786'960'800'000;  // Mon, 17 Aug 2026 10:00:00 GMT

std::string Inflated(const std::string& bytes) {
  z_stream zlib{};
  inflateInit2(&zlib, 15 + 32);
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char buffer[4096];
    zlib.next_out = reinterpret_cast<Bytef*>(buffer);
    zlib.avail_out = sizeof buffer;
    result = inflate(&zlib, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - zlib.avail_out);
  }
  inflateEnd(&zlib);
  return result == Z_STREAM_END ? out : "not a whole stream";
}

void Echo(const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
  writer->Send(
      200, {{"Content-Type", "text/plain"}},
      base::StrCat(request.method, " ", request.path, "?", request.raw_query, " ", request.body));
}

class HttpServerTest : public testing::Test {
 protected:
  void Serve(HttpHandler handler, HttpServerOptions options = {}) {
    if (options.listen_addresses.empty()) options.listen_addresses = {"127.0.0.1:0"};
    options.clock = &clock_;
    auto server = HttpServer::Listen(options, &workers_, &base::NullLogger());
    ASSERT_TRUE(server.ok()) << base::Message(server.status());
    server_ = *std::move(server);
    server_->Serve(std::move(handler));
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Stop(0);
    workers_.Stop();
  }
  RawConnection Connect() { return RawConnection(server_->ports().at(0)); }
  // The answer to one request on a connection of its own, to its end.
  std::string Exchange(std::string_view bytes) {
    RawConnection connection = Connect();
    connection.Send(bytes);
    return connection.ReadAll();
  }

  support::ManualClock clock_{kNowMs};
  base::ThreadPool workers_{"workers", 4, 64};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersHaveTheDocumentedBytes) {
  Serve(Echo);
  RawConnection connection = Connect();
  connection.Send("GET /a%20b?x=%201 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(connection.ReadAll(),
            "HTTP/1.1 200 OK\r\nDate: Mon, 17 Aug 2026 10:00:00 GMT\r\n"
            "Content-Type: text/plain\r\nVary: Accept-Encoding\r\nContent-Length: 16\r\n"
            "Connection: close\r\n\r\nGET /a b?x=%201 ");
}

TEST_F(HttpServerTest, HandlersSeeTheWholeRequest) {
  std::promise<HttpRequest> seen;
  Serve([&](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
    seen.set_value(request);
    writer->Send(204, {}, "");
  });
  RawConnection connection = Connect();
  connection.Send(
      "POST http://h:1/p HTTP/1.1\r\nHost: h\r\nX-a:  b \r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(connection.Read().status, 204);
  const HttpRequest request = seen.get_future().get();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/p");
  EXPECT_EQ(request.raw_query, "");
  EXPECT_EQ(request.body, "abc");
  EXPECT_EQ(FindHeader(request.headers, "x-A"), "b");
  EXPECT_THAT(request.remote_address, StartsWith("127.0.0.1:"));
}

TEST_F(HttpServerTest, AConnectionIsKeptForManyRequests) {
  Serve(Echo);
  RawConnection connection = Connect();
  for (int i = 0; i < 20; ++i) {
    connection.Send(base::StrCat("GET /", i, " HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_EQ(connection.Read().body, base::StrCat("GET /", i, "? "));
  }
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Serve(Echo);
  RawConnection connection = Connect();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    base::StrAppend(&requests, "POST /", i, " HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
  }
  connection.Send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(connection.Read().body, base::StrCat("POST /", i, "? x"));
}

TEST_F(HttpServerTest, ARequestMayArriveByteByByte) {
  Serve(Echo);
  RawConnection connection = Connect();
  for (const char c : std::string_view("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                                       "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")) {
    connection.Send(std::string(1, c));
  }
  EXPECT_EQ(connection.Read().body, "POST /p? abcde");
}

TEST_F(HttpServerTest, HeadHasTheLengthButNoBody) {
  Serve(Echo);
  RawConnection connection = Connect();
  connection.Send("HEAD /p HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawResponse response = connection.Read(/*is_head=*/true);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "9");
  connection.Send("GET /q HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(connection.Read().body, "GET /q? ");
}

TEST_F(HttpServerTest, OldClientsGetTheEndOfTheConnectionAsTheEndOfTheBody) {
  Serve([](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->Start(200, {});
    writer->Write("a");
    writer->Write("b");
    writer->Finish();
  });
  const std::string answer = Exchange("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n\r\nab"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("chunked")));
}

TEST_F(HttpServerTest, AClientThatExpectsAContinueGetsItBeforeTheBody) {
  Serve(Echo);
  RawConnection connection = Connect();
  connection.Send(
      "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(connection.Read().status, 100);
  connection.Send("ab");
  EXPECT_EQ(connection.Read().body, "POST /p? ab");
  EXPECT_THAT(Exchange("POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 2\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
}

TEST_F(HttpServerTest, StreamsAreChunked) {
  Serve([](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->Start(200, {});
    EXPECT_TRUE(writer->Write("hello"));
    EXPECT_TRUE(writer->Write(""));
    EXPECT_TRUE(writer->Write("world, this is it"));
    writer->Finish();
    EXPECT_EQ(writer->status(), 200);
    EXPECT_EQ(writer->num_body_bytes(), 22u);
  });
  EXPECT_THAT(Exchange("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("\r\n\r\n5\r\nhello\r\n11\r\nworld, this is it\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, BodiesAreCompressedAsTheClientAccepts) {
  const std::string body(5000, 'x');
  Serve([&](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
    if (request.path == "/plain") writer->set_allow_compression(false);
    if (request.path != "/stream") return writer->Send(200, {}, body);
    writer->Start(200, {});
    for (int i = 0; i < 50; ++i) writer->Write(body.substr(0, 100));
    writer->Finish();
  });
  const auto get = [&](std::string_view path, std::string_view accepts) {
    RawConnection connection = Connect();
    connection.Send(base::StrCat("GET ", path, " HTTP/1.1\r\nHost: h\r\nAccept-Encoding: ", accepts,
                                 "\r\n\r\n"));
    return connection.Read();
  };
  for (const char* path : {"/", "/stream"}) {
    SCOPED_TRACE(path);
    const RawResponse gzip = get(path, "br, GZIP;q=0.8, deflate");
    EXPECT_EQ(gzip.headers.at("content-encoding"), "gzip");
    EXPECT_EQ(gzip.headers.at("vary"), "Accept-Encoding");
    EXPECT_LT(gzip.body.size(), 200u);
    EXPECT_EQ(Inflated(gzip.body), body);
    const RawResponse deflate = get(path, "deflate, gzip");
    EXPECT_EQ(deflate.headers.at("content-encoding"), "deflate");
    EXPECT_EQ(Inflated(deflate.body), body);
    EXPECT_EQ(get(path, "gzip;q=0, br").body, body);
  }
  const RawResponse plain = get("/plain", "gzip");
  EXPECT_EQ(plain.body, body);
  EXPECT_EQ(plain.headers.count("vary"), 0u);
}

TEST_F(HttpServerTest, AHeaderValueCannotEndTheHeader) {
  Serve([](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->Send(302, {{"Location", "/x\r\nSet-Cookie: a=b"}}, "");
  });
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawResponse response = connection.Read();
  EXPECT_EQ(response.headers.at("location"), "/x  Set-Cookie: a=b");
  EXPECT_EQ(response.headers.count("set-cookie"), 0u);
}

TEST_F(HttpServerTest, WhatAHandlerThrowsOrForgetsIsAnswered500) {
  Serve([](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
    if (request.path == "/throw") throw std::runtime_error("oops");
    if (request.path == "/half") {
      writer->Start(200, {});
      writer->Write("abc");
    }
  });
  RawConnection connection = Connect();
  connection.Send("GET /throw HTTP/1.1\r\nHost: h\r\n\r\nGET /forget HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(connection.Read().status, 500);
  EXPECT_EQ(connection.Read().status, 500);
  const std::string half = Exchange("GET /half HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(half, HasSubstr("3\r\nabc\r\n"));
  EXPECT_THAT(half, testing::Not(HasSubstr("\r\n0\r\n"))) << "the client must see that it is cut";
}

TEST_F(HttpServerTest, AnswersMayComeLaterFromAnotherThread) {
  std::promise<std::shared_ptr<ResponseWriter>> kept;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    kept.set_value(std::move(writer));
  });
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  kept.get_future().get()->Send(200, {}, "late");
  EXPECT_EQ(connection.Read().body, "late");
}

TEST_F(HttpServerTest, AFullWorkerPoolAnswers503) {
  base::ThreadPool tiny("tiny", 1, 0);
  auto server =
      HttpServer::Listen({.listen_addresses = {"127.0.0.1:0"}}, &tiny, &base::NullLogger());
  ASSERT_TRUE(server.ok());
  (*server)->Serve(Echo);
  RawConnection connection((*server)->ports().at(0));
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(connection.Read().status, 503);
  (*server)->Stop(0);
  tiny.Stop();
}

// ---- Limits and rubbish ----

TEST_F(HttpServerTest, RubbishIsRefused) {
  Serve(Echo);
  const std::pair<std::string, int> kCases[] = {
      {"rubbish\r\n\r\n", 400},
      {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
       400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
  };
  for (const auto& [bytes, status] : kCases) {
    EXPECT_THAT(Exchange(bytes), StartsWith(base::StrCat("HTTP/1.1 ", status, " "))) << bytes;
  }
}

TEST_F(HttpServerTest, RandomBytesNeverHarm) {
  Serve(Echo);
  uint64_t state = 99;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = i % 2 == 0 ? "GET / HTTP/1.1\r\n" : "";
    for (int j = 0; j < i; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bytes.push_back(static_cast<char>(state >> 56));
    }
    RawConnection connection = Connect();
    connection.Send(bytes);
    if (i % 3 == 0) {
      connection.Reset();
    } else {
      connection.ShutdownSend();
      connection.ReadAll();
    }
  }
  EXPECT_THAT(Exchange("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /a? "));
}

TEST_F(HttpServerTest, ARequestCutAtAnyByteGetsNoAnswer) {
  std::atomic<int> num_handled = 0;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    ++num_handled;
    writer->Send(200, {}, "");
  });
  const std::string whole = "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t size = 0; size < whole.size(); ++size) {
    RawConnection connection = Connect();
    connection.Send(whole.substr(0, size));
    connection.ShutdownSend();
    EXPECT_EQ(connection.ReadAll(), "") << size;
  }
  EXPECT_EQ(num_handled, 0);
}

TEST_F(HttpServerTest, HugeHeadersAnswer431) {
  Serve(Echo, {.listen_addresses = {}, .max_header_bytes = 8192});
  EXPECT_THAT(Exchange(base::StrCat("GET / HTTP/1.1\r\nHost: h\r\nX: ", std::string(100'000, 'x'),
                                    "\r\n\r\n")),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Exchange(base::StrCat("GET /", std::string(100'000, 'x'))),
              StartsWith("HTTP/1.1 431 "));
  RawConnection connection = Connect();
  connection.Send(base::StrCat("GET /", std::string(7000, 'x'), " HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(connection.Read().status, 200);
}

TEST_F(HttpServerTest, HugeBodiesAnswer413) {
  Serve(Echo, {.listen_addresses = {}, .max_body_bytes = 1000});
  EXPECT_THAT(Exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      Exchange(
          "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n"),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      Exchange(base::StrCat("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
                            "400\r\n", std::string(1024, 'x'), "\r\n0\r\n\r\n")),
      StartsWith("HTTP/1.1 413 "));
  RawConnection connection = Connect();
  connection.Send(base::StrCat("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n",
                               std::string(1000, 'x')));
  EXPECT_EQ(connection.Read().status, 200);
}

TEST_F(HttpServerTest, SlowRequestsAnswer408AndIdleConnectionsJustEnd) {
  Serve(Echo, {.listen_addresses = {}, .read_timeout_ms = 30});
  EXPECT_EQ(Exchange(""), "");
  EXPECT_THAT(Exchange("GET / HT"), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(Exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"),
              StartsWith("HTTP/1.1 408 "));
}

// ---- Clients that go away or are slow ----

TEST_F(HttpServerTest, HandlersHearOfAClientThatLeft) {
  std::promise<std::shared_ptr<ResponseWriter>> kept;
  std::promise<void> gone;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    EXPECT_FALSE(writer->client_gone());
    writer->OnClientGone([&] { gone.set_value(); });
    kept.set_value(std::move(writer));
  });
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::shared_ptr<ResponseWriter> writer = kept.get_future().get();
  connection.Reset();
  gone.get_future().wait();
  EXPECT_TRUE(writer->client_gone());
  bool called_at_once = false;
  writer->OnClientGone([&] { called_at_once = true; });
  EXPECT_TRUE(called_at_once);
  writer->Start(200, {});
  EXPECT_FALSE(writer->Write("x"));
  writer->Finish();
}

TEST_F(HttpServerTest, AClientThatOnlyEndedItsSideStillGetsItsAnswer) {
  std::promise<void> gone;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->OnClientGone([&] { gone.set_value(); });
    gone.get_future().wait();
    writer->Start(200, {});
    EXPECT_TRUE(writer->Write("still here"));
    writer->Finish();
  });
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  connection.ShutdownSend();
  EXPECT_EQ(connection.Read().body, "still here");
  EXPECT_EQ(connection.ReadAll(), "");
}

TEST_F(HttpServerTest, NobodyHearsOfAClientThatLeavesAfterItsAnswer) {
  std::atomic<bool> was_called = false;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    writer->OnClientGone([&] { was_called = true; });
    writer->Send(200, {}, "x");
  });
  {
    RawConnection connection = Connect();
    connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(connection.Read().body, "x");
  }
  server_->Stop(1000);
  EXPECT_FALSE(was_called);
}

TEST_F(HttpServerTest, AWriterWaitsForASlowClientWithBoundedMemory) {
  constexpr size_t kPieceBytes = 64u << 10;
  constexpr int kNumPieces = 1000;
  std::atomic<int> num_written = 0;
  Serve(
      [&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
        writer->Start(200, {});
        const std::string piece(kPieceBytes, 'x');
        for (int i = 0; i < kNumPieces && writer->Write(piece); ++i) ++num_written;
        writer->Finish();
      },
      {.listen_addresses = {}, .max_queued_bytes = 1u << 20, .stall_timeout_ms = 60'000});
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  connection.ReadThrough("\r\n\r\n");
  // As long as nobody reads, the count comes to rest far below the end.
  int before = -1;
  while (before != num_written) {
    before = num_written;
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();
  }
  EXPECT_LT(num_written, kNumPieces / 2);
  std::string rest;
  while (!rest.ends_with("0\r\n\r\n")) {
    rest = connection.ReadThrough("\r\n");
    if (rest == "0\r\n") break;
  }
  EXPECT_EQ(num_written, kNumPieces);
}

TEST_F(HttpServerTest, AClientThatNeverReadsIsDropped) {
  std::promise<bool> last_write;
  Serve(
      [&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
        writer->Start(200, {});
        bool is_ok = true;
        const std::string piece(1u << 20, 'x');
        for (int i = 0; i < 200 && is_ok; ++i) is_ok = writer->Write(piece);
        last_write.set_value(is_ok);
      },
      {.listen_addresses = {}, .write_timeout_ms = 50});
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_FALSE(last_write.get_future().get());
}

TEST_F(HttpServerTest, AClientThatStallsLosesItsAnswerOnceTheBudgetIsUsedUp) {
  std::promise<bool> last_write;
  Serve(
      [&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
        writer->Start(200, {});
        bool is_ok = true;
        const std::string piece(1u << 20, 'x');
        for (int i = 0; i < 200 && is_ok; ++i) is_ok = writer->Write(piece);
        last_write.set_value(is_ok);
      },
      {.listen_addresses = {}, .max_queued_bytes = 1u << 20, .stall_timeout_ms = 50});
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_FALSE(last_write.get_future().get());
}

TEST_F(HttpServerTest, ClientsThatDoNotReadHoldNoHandlerWithinTheBudget) {
  Serve([](const HttpRequest& request, std::shared_ptr<ResponseWriter> writer) {
    writer->Start(200, {});
    const std::string piece(1u << 20, 'x');
    for (int i = 0; i < 8 && request.path == "/large"; ++i) writer->Write(piece);
    writer->Finish();
  });
  std::vector<RawConnection> idle;
  for (int i = 0; i < 8; ++i) {  // Twice the workers.
    idle.push_back(Connect());
    idle.back().Send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  EXPECT_THAT(Exchange("GET /small HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, NoReadTimeoutMeansNone) {
  Serve(Echo, {.listen_addresses = {}, .read_timeout_ms = 0});
  RawConnection connection = Connect();
  connection.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(connection.Read().body, "GET /a? ");
}

TEST_F(HttpServerTest, APortThatIsNoneIsRefused) {
  for (const std::string address : {"127.0.0.1:99999", "127.0.0.1:65536"}) {
    const auto server =
        HttpServer::Listen({.listen_addresses = {address}}, &workers_, &base::NullLogger());
    EXPECT_THAT(std::string(base::Message(server.status())), EndsWith(": invalid port"));
  }
}

// ---- The server as a whole ----

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitWait) {
  Serve(Echo, {.listen_addresses = {}, .max_connections = 2});
  auto first = std::make_unique<RawConnection>(Connect());
  RawConnection second = Connect();
  for (RawConnection* connection : {first.get(), &second}) {
    connection->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(connection->Read().status, 200);
  }
  RawConnection third = Connect();
  third.Send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  first.reset();
  EXPECT_EQ(third.Read().body, "GET /b? ");
}

TEST_F(HttpServerTest, ManyConnectionsInParallel) {
  Serve(Echo, {.listen_addresses = {}, .num_io_threads = 2});
  std::vector<std::thread> clients;
  std::atomic<int> num_right = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      std::vector<RawConnection> connections;
      for (int j = 0; j < 5; ++j) connections.push_back(Connect());
      for (int round = 0; round < 10; ++round) {
        for (RawConnection& connection : connections) {
          connection.Send(base::StrCat("GET /", i, "/", round, " HTTP/1.1\r\nHost: h\r\n\r\n"));
        }
        for (RawConnection& connection : connections) {
          const RawResponse response = connection.Read();
          // 40 requests at a time fit the pool's queue.
          num_right += response.body == base::StrCat("GET /", i, "/", round, "? ") ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(num_right, 400);
}

TEST_F(HttpServerTest, ListensOnIpv6AndOnSeveralAddresses) {
  Serve(Echo, {.listen_addresses = {"[::1]:0", "127.0.0.1:0", "localhost:0", ":0"}});
  ASSERT_EQ(server_->ports().size(), 4u);
  RawConnection v6(server_->ports()[0], /*ipv6=*/true);
  v6.Send("GET /6 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(v6.Read().body, "GET /6? ");
  for (const size_t i : {1, 3}) {
    RawConnection v4(server_->ports()[i]);
    v4.Send("GET /4 HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(v4.Read().body, "GET /4? ");
  }
}

TEST_F(HttpServerTest, APortInUseIsNamed) {
  Serve(Echo);
  const std::string address = base::StrCat("127.0.0.1:", server_->ports()[0]);
  const auto second =
      HttpServer::Listen({.listen_addresses = {address}}, &workers_, &base::NullLogger());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(base::Message(second.status()),
            base::StrCat("listen tcp ", address, ": bind: address already in use"));
  for (const char* bad : {"nonsense", "127.0.0.1:http!", "300.0.0.1:1"}) {
    EXPECT_FALSE(
        HttpServer::Listen({.listen_addresses = {bad}}, &workers_, &base::NullLogger()).ok());
  }
}

TEST_F(HttpServerTest, StopLetsRunningAnswersFinish) {
  std::promise<void> started;
  std::promise<void> gate;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    started.set_value();
    gate.get_future().wait();
    writer->Send(200, {}, "done");
  });
  RawConnection idle = Connect();
  RawConnection busy = Connect();
  busy.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  started.get_future().wait();
  std::thread stopper([&] { server_->Stop(60'000); });
  EXPECT_EQ(idle.ReadAll(), "");
  gate.set_value();
  EXPECT_EQ(busy.Read().body, "done");
  stopper.join();
  EXPECT_EQ(busy.ReadAll(), "");
  EXPECT_FALSE(RawConnection(server_->ports()[0]).connected());
  server_->Stop(0);
}

TEST_F(HttpServerTest, StopEndsWhatOutlivesTheGrace) {
  std::promise<std::shared_ptr<ResponseWriter>> kept;
  Serve([&](const HttpRequest&, std::shared_ptr<ResponseWriter> writer) {
    kept.set_value(std::move(writer));
  });
  RawConnection connection = Connect();
  connection.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  std::shared_ptr<ResponseWriter> writer = kept.get_future().get();
  std::promise<void> gone;
  writer->OnClientGone([&] { gone.set_value(); });
  server_->Stop(1);
  gone.get_future().wait();
  server_.reset();
  writer->Start(200, {});
  EXPECT_FALSE(writer->Write("x")) << "the writer outlives the server";
}

}  // namespace
}  // namespace narthex::net
