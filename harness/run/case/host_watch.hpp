// Watches the machine's other load while a case is prepared and trained.
#pragma once

#include <functional>

#include "base/threads.hpp"
#include "harness/device/contention.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {

class HostWatch {
 public:
  // `read`, if not empty, replaces the machine's counters; `others_cpu_s` is the CPU time of
  // processes started by the algorithm: their work belongs to the case, too.
  HostWatch(Ranges& ranges, std::function<HostCounters()> read,
            std::function<double()> others_cpu_s);

  void begin() { begun_ = read(); }
  // Since begin(). The other ranks' work on this machine belongs to the case, too.
  HostLoad end(const OwnUse& of_ranks, ThreadTeam& team);

  void begin_training() {
    begin();
    trains_ = true;
  }
  bool trains() const { return trains_; }
  // A group of epochs, which `run` does.
  void watch_group(const std::function<void()>& run);
  HostLoad end_training(const OwnUse& of_ranks, ThreadTeam& team, double train_s);

  // By the measures of the case.
  Contention contention(const CaseMeasures& measures, bool on_device) const;

 private:
  HostCounters read();
  OwnUse use_of_case() const;
  HostLoad since_begin(const OwnUse& of_ranks, ThreadTeam& team);

  Ranges& ranges_;
  const std::function<HostCounters()> read_;
  const std::function<double()> others_cpu_s_;
  HostCounters begun_;
  OwnUse epochs_use_;  // within epochs
  bool trains_ = false;
  int cpus_ = 1;  // that the threads of the case may run on at once
};

}  // namespace mf
