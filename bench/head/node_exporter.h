// Made-up scrapes of many node exporters: label sets and values with the mix of a real one (about
// three fifths constants, a quarter counters, the rest gauges and buckets). Deterministic: value()
// of the same arguments is the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace narthex::bench {

enum class Shape : uint8_t { kConstant, kCpuSeconds, kCounter, kBytes, kBucket, kLoad, kRatio };

struct MadeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // Without instance and job; sorted.
  Shape shape;
};

inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The series of one target: 549.
inline std::vector<MadeSeries> NodeExporterSeries() {
  std::vector<MadeSeries> all;
  const auto add = [&](std::string name, std::vector<std::pair<std::string, std::string>> labels,
                       Shape shape) {
    labels.insert(labels.begin(), {"__name__", std::move(name)});
    all.push_back({std::move(labels), shape});
  };
  const auto number = [](int i) { return std::to_string(i); };
  const char* const modes[] = {"idle",    "iowait", "irq",    "nice",
                               "softirq", "steal",  "system", "user"};
  for (int cpu = 0; cpu < 16; ++cpu) {
    for (const char* const mode : modes) {
      const std::string m = mode;
      const bool active = m != "irq" && m != "nice" && m != "steal";
      add("node_cpu_seconds_total", {{"cpu", number(cpu)}, {"mode", m}},
          active ? Shape::kCpuSeconds : Shape::kConstant);
    }
  }
  for (int disk = 0; disk < 4; ++disk) {
    for (int i = 0; i < 16; ++i) {
      add("node_disk_metric_" + number(i) + "_total", {{"device", "nvme" + number(disk) + "n1"}},
          i < 8 ? Shape::kCounter : Shape::kConstant);
    }
  }
  for (int device = 0; device < 6; ++device) {
    for (int i = 0; i < 20; ++i) {
      add("node_network_metric_" + number(i) + "_total", {{"device", "eth" + number(device)}},
          i < 8 ? Shape::kCounter : Shape::kConstant);
    }
  }
  for (int i = 0; i < 45; ++i) {
    add("node_memory_field_" + number(i) + "_bytes", {}, i < 30 ? Shape::kBytes : Shape::kConstant);
  }
  for (int fs = 0; fs < 6; ++fs) {
    for (int i = 0; i < 8; ++i) {
      add("node_filesystem_metric_" + number(i),
          {{"device", "/dev/sd" + number(fs)},
           {"fstype", "ext4"},
           {"mountpoint", "/mnt/" + number(fs)}},
          i < 2 ? Shape::kBytes : Shape::kConstant);
    }
  }
  for (int i = 0; i < 60; ++i) {
    add("node_vmstat_field_" + number(i), {}, i < 30 ? Shape::kCounter : Shape::kConstant);
  }
  const char* const bounds[] = {"0.005", "0.01", "0.025", "0.05", "0.1", "0.25",
                                "0.5",   "1",    "2.5",   "5",    "10",  "+Inf"};
  for (int handler = 0; handler < 2; ++handler) {
    for (const char* const bound : bounds) {
      add("http_request_duration_seconds_bucket",
          {{"handler", handler == 0 ? "/metrics" : "/"}, {"le", bound}}, Shape::kBucket);
    }
  }
  for (int i = 0; i < 3; ++i) add("node_load" + number(i), {}, Shape::kLoad);
  for (int i = 0; i < 7; ++i) add("node_pressure_ratio_" + number(i), {}, Shape::kRatio);
  for (int i = 0; i < 50; ++i) {
    add("node_info_" + number(i), {{"version", "1." + number(i)}}, Shape::kConstant);
  }
  return all;
}

// Sample number `scrape` of series `series` of `target`, given the one before (0 at first).
inline double NextValue(Shape shape, uint64_t target, uint64_t series, uint64_t scrape,
                        double before) {
  const uint64_t id = Mix(target * 1000 + series);
  const uint64_t roll = Mix(id ^ (scrape * 0x10001));
  const auto hundredths = [](double value) { return std::round(value * 100) / 100; };
  switch (shape) {
    case Shape::kConstant:
      return static_cast<double>(id % 3 == 0 ? 0 : id % 100'000);
    case Shape::kCpuSeconds:
      if (scrape == 0) return static_cast<double>(id % 100'000'000) / 100;
      return hundredths(before + static_cast<double>(roll % 1500) / 100);
    case Shape::kCounter:
      if (scrape == 0) return static_cast<double>(id % 10'000'000'000);
      // A third idle, a third a few a scrape, a third bytes.
      if (id % 3 == 0) return before + static_cast<double>(roll % 16 == 0 ? 1 : 0);
      if (id % 3 == 1) return before + static_cast<double>(roll % 200);
      return before + static_cast<double>(roll % 300'000);
    case Shape::kBytes:
      if (scrape == 0) return static_cast<double>(id % 4'000'000) * 4096;
      return before + 4096.0 * (static_cast<double>(roll % 2001) - 1000);
    case Shape::kBucket:
      return before + static_cast<double>(roll % 4 == 0 ? roll / 4 % 3 : 0);
    case Shape::kLoad:
      return static_cast<double>(roll % 400) / 100;
    case Shape::kRatio:
      return static_cast<double>(roll >> 11) * 0x1p-53;
  }
  return 0;
}

}  // namespace narthex::bench
