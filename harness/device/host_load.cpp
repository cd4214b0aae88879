#include "harness/device/host_load.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/host/control_groups.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// The first number of a file.
template <class Number>
std::optional<Number> number_in(const std::string& path) {
  std::ifstream in(path);
  Number value{};
  if (!(in >> value)) return std::nullopt;
  return value;
}

// Seconds of a "cpu" line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
struct CpuTimes {
  double busy_s = 0;
  double steal_s = 0;
};

std::optional<CpuTimes> cpu_times(std::istringstream& fields) {
  static const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  double user, nice, system, idle, iowait, irq = 0, softirq = 0, steal = 0;
  if (!(fields >> user >> nice >> system >> idle >> iowait)) return std::nullopt;
  fields >> irq >> softirq >> steal;  // kernels from before have fewer
  return CpuTimes{(user + nice + system + irq + softirq) * tick_s, steal * tick_s};
}

// {"nr_throttled": 3, ...}
std::map<std::string, double> keyed_numbers(const std::string& path) {
  std::ifstream in(path);
  std::map<std::string, double> found;
  std::string key;
  double value = 0;
  while (in >> key >> value) found[key] = value;
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

HostProbe::HostProbe(std::vector<int> usable, std::string root, std::function<OwnUse()> own)
    : usable_(std::move(usable)), root_(std::move(root)), own_(std::move(own)) {}

HostCounters HostProbe::read() const {
  using Seconds = std::chrono::duration<double>;
  HostCounters now;
  now.at_s = Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  now.own = own_();
  read_waits(now);  // at once: what is waited while the rest is read belongs to the span after this
  read_stat(now);
  read_quota(now);
  read_cpus(now);
  now.load = number_in<double>(root_ + "/proc/loadavg");
  return now;
}

void HostProbe::read_stat(HostCounters& into) const {
  std::ifstream in(root_ + "/proc/stat");
  CpuTimes usable;
  for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
    std::istringstream fields(line.substr(3));
    const bool whole = line[3] == ' ';
    int cpu = -1;
    if (!whole && !(fields >> cpu)) continue;
    const auto times = cpu_times(fields);
    if (!times) continue;
    if (whole) {
      into.busy_s = times->busy_s;
      continue;
    }
    ++into.machine_cpus;
    if (std::find(usable_.begin(), usable_.end(), cpu) == usable_.end()) continue;
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
    std::ifstream in(task.path() / "schedstat");
    double ran_ns = 0;
    double waited_ns = 0;
    std::int64_t turns = 0;
    const int thread = std::atoi(task.path().filename().c_str());
    if (in >> ran_ns >> waited_ns >> turns) into.waits[thread] = {1e-9 * waited_ns, turns};
  }
}

// A quota stands with one of the groups above us: the one that held us longest.
void HostProbe::read_quota(HostCounters& into) const {
  for (const auto& group : control_groups("cpu", root_)) {
    const auto numbers = keyed_numbers(root_ + group.folder + "/cpu.stat");
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
  for (const int cpu : usable_) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu{}/", root_, cpu);
    if (const auto khz = number_in<double>(folder + "cpufreq/scaling_cur_freq")) {
      into.clocks_hz.push_back(1e3 * *khz);
    }
    const std::string heat = folder + "thermal_throttle/";
    if (const auto count = number_in<std::int64_t>(heat + "core_throttle_count")) {
      cores = cores.value_or(0) + *count;
    }
    if (const auto count = number_in<std::int64_t>(heat + "package_throttle_count")) {
      packages = std::max(packages.value_or(0), *count);  // each CPU of a package counts the same
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
