#include "server/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace narthex::server {
namespace {

// The number after "Name:" in /proc/self/status.
uint64_t StatusField(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (std::string_view(line).substr(0, name.size()) == name) {
      return std::strtoull(line.c_str() + name.size(), nullptr, 10);
    }
  }
  return 0;
}

double CpuSeconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double OpenFds() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  double count = -1;  // Without the descriptor of this very listing.
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(directory);
  return count;
}

double Limit(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return 0;
  return static_cast<double>(limit.rlim_cur);
}

// Sum over all interfaces but loopback of a column of /proc/net/dev (0 received, 8 sent).
double NetworkBytes(int column) {
  std::ifstream file("/proc/self/net/dev");
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.find("lo:") != std::string::npos) continue;
    std::istringstream fields(line.substr(colon + 1));
    double value = 0;
    for (int i = 0; i <= column && fields >> value; ++i) {
    }
    sum += value;
  }
  return sum;
}

}  // namespace

uint64_t ResidentBytes() { return StatusField("VmRSS:") * 1024; }
uint64_t NumThreads() { return StatusField("Threads:"); }

void AddProcessMetrics(base::Registry* registry, int64_t start_time_ms) {
  registry->AddCounterFunction("process_cpu_seconds_total",
                               "Total user and system CPU time spent in seconds.", CpuSeconds);
  registry->AddGaugeFunction("process_open_fds", "Number of open file descriptors.", OpenFds);
  registry->AddGaugeFunction("process_max_fds", "Maximum number of open file descriptors.",
                             [] { return Limit(RLIMIT_NOFILE); });
  registry->AddGaugeFunction("process_virtual_memory_bytes", "Virtual memory size in bytes.",
                             [] { return static_cast<double>(StatusField("VmSize:") * 1024); });
  registry->AddGaugeFunction("process_virtual_memory_max_bytes",
                             "Maximum amount of virtual memory available in bytes.",
                             [] { return Limit(RLIMIT_AS); });
  registry->AddGaugeFunction("process_resident_memory_bytes", "Resident memory size in bytes.",
                             [] { return static_cast<double>(ResidentBytes()); });
  registry
      ->AddGauge("process_start_time_seconds",
                 "Start time of the process since unix epoch in seconds.")
      ->Set(static_cast<double>(start_time_ms) / 1000);
  registry->AddCounterFunction("process_network_receive_bytes_total",
                               "Number of bytes received by the process over the network.",
                               [] { return NetworkBytes(0); });
  registry->AddCounterFunction("process_network_transmit_bytes_total",
                               "Number of bytes sent by the process over the network.",
                               [] { return NetworkBytes(8); });
}

}  // namespace narthex::server
