#include "harness/device/environment.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/hash.hpp"
#include "base/host/process_id.hpp"
#include "base/host/system_files.hpp"
#include "base/json/json.hpp"
#include "base/threads.hpp"
#include "harness/device/device.hpp"
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

const Clock::time_point kBeforeMain = Clock::now();

// ---- names ----

constexpr std::size_t kDigits = 12;

std::string machine_id() {
  const std::string id = system_text("/etc/machine-id");
  return id.empty() ? boot_id() : id;
}

// The lines of the driver's files that name a board, in an order of their own.
std::string gpu_ids() {
  std::vector<std::string> ids;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    for_system_lines((gpu.path() / "information").string(), [&](std::string_view line) {
      if (line.starts_with("GPU UUID")) ids.emplace_back(line);
    });
  }
  std::sort(ids.begin(), ids.end());
  std::string all;
  for (const auto& id : ids) all += id;
  return all;
}

// The words of the prefix keep the hash apart from others' hashes of the same id.
std::string named(const std::string& kind, const std::string& secret) {
  return kind + "-" + sha256("mfbench " + kind + "\n" + secret).substr(0, kDigits);
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

std::string host_name() { return named("host", machine_id() + "\n" + gpu_ids()); }

std::string process_name() {
  const ProcessId own = own_process();
  return named("process", host_name() + own.boot + std::to_string(own.pid) + " " + own.begin);
}

Clock::time_point process_start() {
  const double ticks = std::strtod(own_process().begin.c_str(), nullptr);
  timespec up{};
  if (ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0) return kBeforeMain;
  const double age = static_cast<double>(up.tv_sec) + 1e-9 * static_cast<double>(up.tv_nsec) -
                     ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> since(age);
  return std::min(kBeforeMain, Clock::now() - std::chrono::duration_cast<Clock::duration>(since));
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
