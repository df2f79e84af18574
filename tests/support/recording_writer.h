// A ResponseWriter that keeps what it is given.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "narthex/net/http_server.h"

namespace narthex::testing {

class RecordingWriter final : public net::ResponseWriter {
 public:
  void Send(int status, net::HeaderList headers, std::string body) override {
    Start(status, std::move(headers));
    Write(body);
    Finish();
  }
  void Start(int status, net::HeaderList headers) override {
    status_ = status;
    headers_ = std::move(headers);
  }
  bool Write(std::string_view piece) override {
    body_.append(piece);
    return true;
  }
  void Finish() override { finished_ = true; }
  bool client_gone() const override { return false; }
  void OnClientGone(std::function<void()>) override {}
  void set_allow_compression(bool) override {}
  int status() const override { return status_; }
  uint64_t num_body_bytes() const override { return body_.size(); }

  const std::string& body() const { return body_; }
  std::string_view Header(std::string_view name) const { return net::FindHeader(headers_, name); }
  bool finished() const { return finished_; }

 private:
  int status_ = 0;
  net::HeaderList headers_;
  std::string body_;
  bool finished_ = false;
};

}  // namespace narthex::testing
