// The real Prometheus, started on a data directory to say what it finds there. Needs `curl`.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "narthex/base/strings.h"

extern char** environ;

namespace narthex::disk {

inline int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd, generic, size), 0);
  EXPECT_EQ(::getsockname(fd, generic, &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

inline std::string Get(const std::string& url) {
  FILE* const pipe = ::popen(base::StrCat("curl -g -s -m 5 '", url, "'").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string answer;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) answer.append(buffer, got);
  ::pclose(pipe);
  return answer;
}

class PeerPrometheus {
 public:
  PeerPrometheus(const std::string& program, const std::string& data) : port_(FreePort()) {
    const std::string config = data + "/empty.yml";
    std::fclose(std::fopen(config.c_str(), "w"));
    std::vector<std::string> words = {program,
                                      "--config.file=" + config,
                                      "--storage.tsdb.path=" + data,
                                      "--storage.tsdb.retention.time=100y",
                                      "--log.level=warn",
                                      base::StrCat("--web.listen-address=127.0.0.1:", port_)};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments.data(), environ),
              0);
  }
  ~PeerPrometheus() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  bool WaitUntilReady() const {
    for (int i = 0; i < 300; ++i) {
      if (Get(base::StrCat("http://127.0.0.1:", port_, "/-/ready")).find("Ready") !=
          std::string::npos) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  // The answer to an instant query.
  std::string Query(const std::string& query, int64_t time_ms) const {
    return Get(base::StrCat("http://127.0.0.1:", port_, "/api/v1/query?time=", time_ms / 1000,
                            "&query=", query));
  }
  // Its own metrics.
  std::string Metrics() const { return Get(base::StrCat("http://127.0.0.1:", port_, "/metrics")); }

 private:
  const int port_;
  pid_t pid_ = 0;
};

}  // namespace narthex::disk
