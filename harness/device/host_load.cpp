#include "harness/device/host_load.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <utility>

#include "base/host/control_groups.hpp"
#include "base/host/system_files.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// Seconds of a "cpu" line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
struct CpuTimes {
  double busy_s = 0;
  double steal_s = 0;
};

std::optional<CpuTimes> cpu_times(std::span<const std::string_view> fields) {
  static const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  constexpr std::size_t kFewest = 5;  // older kernels have no more
  if (fields.size() < kFewest || !number_in<double>(fields[kFewest - 1])) return std::nullopt;
  const auto ticks = [&](std::size_t i) {
    return i < fields.size() ? number_in<double>(fields[i]).value_or(0) : 0;
  };
  return CpuTimes{(ticks(0) + ticks(1) + ticks(2) + ticks(5) + ticks(6)) * tick_s,
                  ticks(7) * tick_s};
}

// {"nr_throttled": 3, ...}
std::map<std::string, double, std::less<>> keyed_numbers(const std::string& path) {
  std::map<std::string, double, std::less<>> found;
  for_system_lines(path, [&](std::string_view line) {
    const auto words = words_in(line);
    if (words.size() < 2) return;
    if (const auto value = number_in<double>(words[1])) found[std::string(words[0])] = *value;
  });
  return found;
}

template <class T>
std::optional<T> difference(const std::optional<T>& before, const std::optional<T>& after) {
  if (!before || !after) return std::nullopt;
  return std::max(*after - *before, T{0});
}

}  // namespace

OwnUse& OwnUse::operator+=(const OwnUse& other) {
  cpu_s += other.cpu_s;
  voluntary += other.voluntary;
  involuntary += other.involuntary;
  return *this;
}

OwnUse OwnUse::operator-(const OwnUse& before) const {
  return {cpu_s - before.cpu_s, voluntary - before.voluntary, involuntary - before.involuntary};
}

OwnUse own_use() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_nvcsw, usage.ru_nivcsw};
}

HostProbe::HostProbe(std::vector<int> usable, std::string root)
    : usable_(std::move(usable)), root_(std::move(root)) {
  const auto note = [](std::vector<std::string>& files, const std::string& path) {
    std::error_code error;
    if (fs::exists(path, error)) files.push_back(path);
  };
  for (const auto& group : control_groups("cpu", root_)) {
    note(quotas_, root_ + group.folder + "/cpu.stat");
  }
  for (const int cpu : usable_) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu{}/", root_, cpu);
    note(clocks_, folder + "cpufreq/scaling_cur_freq");
    note(core_heat_, folder + "thermal_throttle/core_throttle_count");
    note(package_heat_, folder + "thermal_throttle/package_throttle_count");
  }
}

HostCounters HostProbe::read(const OwnUse& own) const {
  using Seconds = std::chrono::duration<double>;
  HostCounters now;
  now.at_s = Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  now.own = own;
  read_waits(now);  // at once: waits while the rest is read belong to the next span
  read_stat(now);
  read_quota(now);
  read_cpus(now);
  now.load = number_in<double>(system_text(root_ + "/proc/loadavg"));
  return now;
}

void HostProbe::read_stat(HostCounters& into) const {
  const std::string text = system_text(root_ + "/proc/stat");
  CpuTimes usable;
  for (const auto line : lines_in(text)) {
    if (!line.starts_with("cpu")) break;
    const auto words = words_in(line);
    const bool whole = words[0] == "cpu";
    const auto cpu = number_in<int>(words[0].substr(3));
    const auto times = cpu_times(std::span(words).subspan(1));
    if (!times || (!whole && !cpu)) continue;
    if (whole) {
      into.busy_s = times->busy_s;
      continue;
    }
    ++into.machine_cpus;
    if (std::find(usable_.begin(), usable_.end(), *cpu) == usable_.end()) continue;
    usable.busy_s += times->busy_s;
    usable.steal_s += times->steal_s;
  }
  if (into.machine_cpus == 0) return;
  into.usable_busy_s = usable.busy_s;
  into.usable_steal_s = usable.steal_s;
}

void HostProbe::read_waits(HostCounters& into) const {
  std::error_code ignored;  // a thread that ends meanwhile
  for (const auto& task : fs::directory_iterator(root_ + "/proc/self/task", ignored)) {
    const std::string text = system_text(task.path() / "schedstat");
    const auto words = words_in(text);  // nanoseconds on a CPU and waiting for one, turns
    if (words.size() < 3) continue;
    const auto waited_ns = number_in<double>(words[1]);
    const auto turns = number_in<std::int64_t>(words[2]);
    const int thread = std::atoi(task.path().filename().c_str());
    if (waited_ns && turns) into.waits[thread] = {1e-9 * *waited_ns, *turns};
  }
}

// A quota stands with one of the groups above us: the one that held us longest.
void HostProbe::read_quota(HostCounters& into) const {
  for (const auto& file : quotas_) {
    const auto numbers = keyed_numbers(file);
    const auto periods = numbers.find("nr_throttled");
    if (periods == numbers.end()) continue;
    const auto v2 = numbers.find("throttled_usec");
    const auto v1 = numbers.find("throttled_time");
    const double seconds = v2 != numbers.end()   ? 1e-6 * v2->second
                           : v1 != numbers.end() ? 1e-9 * v1->second
                                                 : 0;
    if (into.throttled_s && seconds <= *into.throttled_s) continue;
    into.throttled_s = seconds;
    into.throttled_periods = static_cast<std::int64_t>(periods->second);
  }
}

void HostProbe::read_cpus(HostCounters& into) const {
  std::optional<std::int64_t> cores, packages;
  for (const auto& file : clocks_) {
    if (const auto khz = number_in<double>(system_text(file))) into.clocks_hz.push_back(1e3 * *khz);
  }
  for (const auto& file : core_heat_) {
    if (const auto count = number_in<std::int64_t>(system_text(file))) {
      cores = cores.value_or(0) + *count;
    }
  }
  for (const auto& file : package_heat_) {  // each CPU of a package counts the same
    if (const auto count = number_in<std::int64_t>(system_text(file))) {
      packages = std::max(packages.value_or(0), *count);
    }
  }
  if (cores || packages) into.heat_slowdowns = cores.value_or(0) + packages.value_or(0);
}

std::optional<double> HostLoad::wait_s() const {
  if (waits.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& one : waits) sum += one.wait_s;
  return sum;
}

std::optional<double> HostLoad::longest_wait_s() const {
  if (waits.empty()) return std::nullopt;
  double longest = 0;
  for (const auto& one : waits) longest = std::max(longest, one.wait_s);
  return longest;
}

std::optional<double> HostLoad::cpu_share() const {
  const double possible = clock_s * threads;
  return possible > 0 ? std::optional(own.cpu_s / possible) : std::nullopt;
}

HostLoad host_load(const HostCounters& before, const HostCounters& after, int usable_cpus,
                   int threads) {
  HostLoad load;
  load.span_s = load.clock_s = after.at_s - before.at_s;
  load.own = after.own - before.own;
  load.threads = threads;
  load.machine_cpus = after.machine_cpus;
  load.usable_cpus = usable_cpus;
  if (load.span_s > 0) {
    load.own_cpus = load.own.cpu_s / load.span_s;
    const auto others = [&](const std::optional<double>& busy) -> std::optional<double> {
      if (!busy) return std::nullopt;
      return std::max(*busy - load.own.cpu_s, 0.0) / load.span_s;
    };
    load.others_cpus = others(difference(before.busy_s, after.busy_s));
    load.others_usable_cpus = others(difference(before.usable_busy_s, after.usable_busy_s));
  }
  const auto busy = difference(before.usable_busy_s, after.usable_busy_s);
  const auto steal = difference(before.usable_steal_s, after.usable_steal_s);
  if (busy && steal && *busy + *steal > 0) load.steal_share = *steal / (*busy + *steal);
  for (const auto& [thread, now] : after.waits) {
    const auto begun = before.waits.find(thread);
    const ThreadWait then = begun == before.waits.end() ? ThreadWait() : begun->second;
    load.waits.push_back({now.wait_s - then.wait_s, now.turns - then.turns});
  }
  load.throttled_s = difference(before.throttled_s, after.throttled_s);
  load.throttled_periods = difference(before.throttled_periods, after.throttled_periods);
  load.heat_slowdowns = difference(before.heat_slowdowns, after.heat_slowdowns);
  load.load_begin = before.load;
  load.load_end = after.load;
  load.clocks_hz = after.clocks_hz;
  return load;
}

}  // namespace mf
