#include "harness/device/environment.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>

#include "base/host/system_files.hpp"
#include "base/json/json.hpp"
#include "base/threads.hpp"
#include "harness/device/device.hpp"
#include "harness/device/host_name.hpp"
#include "harness/device/host_speed.hpp"
#include "harness/device/nvml.hpp"
#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

// The value of the first line "key<spaces>: value" or "key: value kB" of a /proc file.
std::string proc_value(const char* file, const std::string& key) {
  const std::string text = system_text(file);
  for (const auto line : lines_in(text)) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string_view::npos ? "" : std::string(line.substr(start));
  }
  return "";
}

std::int64_t proc_bytes(const char* file, const std::string& key) {
  const std::string text = proc_value(file, key);
  return text.empty() ? 0 : std::stoll(text) * 1024;
}

std::string simd_name() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  return "sse2";
#else
  return "scalar";
#endif
}

Json device_json() {
  Json json = {{"gpu", nullptr},
               {"driver", nullptr},
               {"cuda_driver", nullptr},
               {"cuda", nullptr},
               {"device_memory_bytes", nullptr},
               {"sm_clock_hz", nullptr},
               {"power_limit_w", nullptr}};
  const auto device = find_device();
  if (!device) return json;
  json["gpu"] = device->name;
  json["cuda_driver"] = device->cuda_driver;
  json["cuda"] = device->runtime;
  json["device_memory_bytes"] = device->memory_bytes;
  json["sm_clock_hz"] = device->clock_hz;
  if (const auto nvml = open_nvml(device->pci_bus_id)) {
    if (const auto version = nvml->driver_version()) json["driver"] = *version;
    if (const auto watts = nvml->power_limit_w()) json["power_limit_w"] = *watts;
  }
  return json;
}

}  // namespace

void reset_peak_memory() {
  std::ofstream out("/proc/self/clear_refs");
  out << "5";
}

std::int64_t peak_memory_bytes() {
  const std::int64_t peak = proc_bytes("/proc/self/status", "VmHWM");
  if (peak > 0) return peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::string utc_now() {
  return utc_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

std::string utc_text(std::int64_t seconds_since_1970) {
  const std::time_t now = seconds_since_1970;
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// Facts that do not change while the program runs.
static Json machine_json() {
  utsname system{};
  uname(&system);
  const std::string cpu = proc_value("/proc/cpuinfo", "model name");
  Json json = {{"mfbench", build_info::version},
               {"git_sha", build_info::git_sha},
               {"git_dirty", build_info::git_dirty},
               {"compiler", build_info::compiler},
               {"flags", build_info::flags},
               {"build_type", build_info::build_type},
               {"host", host_name()},
               {"process", process_name()},
               {"cpu", cpu.empty() ? "unknown" : cpu},
               {"cores", hardware_threads()},
               {"simd", simd_name()},
               {"memory_bytes", proc_bytes("/proc/meminfo", "MemTotal")},
               {"os", std::string(system.sysname) + " " + system.release}};
  json.update(device_json());
  return json;
}

static Json& speed_of_process() {
  static Json speed;
  return speed;
}

void note_host_speed() {
  if (speed_of_process().is_null()) speed_of_process() = to_json(measure_host_speed());
}

Json environment_json(const std::string& command_line) {
  // Asked for once: the first question to the device makes its context.
  static const Json machine = machine_json();
  Json json = machine;
  json["host_speed"] = speed_of_process();
  json["command_line"] = command_line;
  json["started_at"] = utc_now();
  return json;
}

}  // namespace mf
