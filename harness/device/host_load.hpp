// Other load of the machine while a case worked: counters of the system before and after, and their
// differences. None needs privileges; counters that a system lacks are absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mf {

// For all threads of this process, since it began.
struct OwnUse {
  double cpu_s = 0;
  std::int64_t voluntary = 0;    // switches: the thread waited for something
  std::int64_t involuntary = 0;  // it was put aside for another

  OwnUse& operator+=(const OwnUse& other);
  OwnUse operator-(const OwnUse& before) const;
};
OwnUse own_use();

// For a thread: how long it had work and no CPU, and how often it was put on one.
struct ThreadWait {
  double wait_s = 0;
  std::int64_t turns = 0;
  bool operator==(const ThreadWait&) const = default;
};

struct HostCounters {
  double at_s = 0;  // of the steady clock
  OwnUse own;
  std::map<int, ThreadWait> waits;  // by thread; empty: not told
  int machine_cpus = 0;
  std::optional<double> busy_s;         // CPU seconds of the machine, by whomever
  std::optional<double> usable_busy_s;  // of the CPUs that we may use
  std::optional<double> usable_steal_s;
  std::optional<double> throttled_s;  // by the CPU quota of our group
  std::optional<std::int64_t> throttled_periods;
  std::optional<std::int64_t> heat_slowdowns;
  std::optional<double> load;     // the system's mean of runnable threads over a minute
  std::vector<double> clocks_hz;  // of the CPUs that we may use; empty: not told
};

// Knows the files that this machine has, of which each case reads all four times. `root` stands
// before /proc and /sys; tests have trees of their own.
class HostProbe {
 public:
  explicit HostProbe(std::vector<int> usable, std::string root = "");
  HostCounters read(const OwnUse& own = own_use()) const;
  int usable_cpus() const { return static_cast<int>(usable_.size()); }

 private:
  void read_stat(HostCounters& into) const;
  void read_waits(HostCounters& into) const;
  void read_quota(HostCounters& into) const;
  void read_cpus(HostCounters& into) const;

  std::vector<int> usable_;
  std::string root_;
  std::vector<std::string> quotas_;  // of the groups that have one
  std::vector<std::string> clocks_;  // of the usable CPUs
  std::vector<std::string> core_heat_, package_heat_;
};

// A stretch of a case. `own`, over `clock_s`, may be of a part of it: the epochs only.
struct HostLoad {
  double span_s = 0;
  double clock_s = 0;
  OwnUse own;
  int threads = 1;  // that the case computes with
  int machine_cpus = 0;
  int usable_cpus = 0;
  double own_cpus = 0;                       // that we kept busy over the span, as a mean
  std::optional<double> others_cpus;         // that others did, of the machine
  std::optional<double> others_usable_cpus;  // the same of CPUs that we may use
  std::vector<ThreadWait> waits;             // of each thread; empty: not told
  std::optional<double> steal_share;         // of the time that the usable CPUs had work
  std::optional<double> throttled_s;
  std::optional<std::int64_t> throttled_periods;
  std::optional<std::int64_t> heat_slowdowns;
  std::optional<double> load_begin, load_end;
  std::vector<double> clocks_hz;  // at its end

  std::optional<double> wait_s() const;          // over all threads
  std::optional<double> longest_wait_s() const;  // of one, from the system

  // For `threads` that compute all the time it is 1; empty for a clock that stood still.
  std::optional<double> cpu_share() const;
};

// From `before` to `after`; `own` and `clock_s` cover the whole span.
HostLoad host_load(const HostCounters& before, const HostCounters& after, int usable_cpus,
                   int threads);

}  // namespace mf
