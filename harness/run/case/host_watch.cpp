#include "harness/run/case/host_watch.hpp"

#include <algorithm>
#include <utility>

namespace mf {
namespace {

// One a process: neither its CPUs nor the machine's files change.
const HostProbe& probe() {
  static const HostProbe found(usable_cpus());
  return found;
}

}  // namespace

HostWatch::HostWatch(Ranges& ranges, std::function<HostCounters()> read,
                     std::function<double()> others_cpu_s)
    : ranges_(ranges), read_(std::move(read)), others_cpu_s_(std::move(others_cpu_s)) {}

OwnUse HostWatch::use_of_case() const {
  OwnUse use = own_use();
  use.cpu_s += others_cpu_s_();
  return use;
}

HostCounters HostWatch::read() {
  const PhaseScope range(&ranges_, kWatchRange);
  return read_ ? read_() : probe().read(use_of_case());
}

HostLoad HostWatch::end(const OwnUse& of_ranks, ThreadTeam& team) {
  const HostLoad load = since_begin(of_ranks, team);
  const PhaseScope range(&ranges_, kWatchRange);
  cpus_ = hardware_threads();
  return load;
}

HostLoad HostWatch::since_begin(const OwnUse& of_ranks, ThreadTeam& team) {
  HostCounters now = read();
  now.own += of_ranks;
  const int known = probe().usable_cpus();
  const int usable = now.machine_cpus > 0 ? std::min(known, now.machine_cpus) : known;
  return host_load(begun_, now, usable, team.size());
}

void HostWatch::watch_group(const std::function<void()>& run) {
  const OwnUse before = use_of_case();
  run();
  epochs_use_ += use_of_case() - before;
}

HostLoad HostWatch::end_training(const OwnUse& of_ranks, ThreadTeam& team, double train_s) {
  trains_ = false;
  HostLoad load = since_begin(of_ranks, team);
  load.own = epochs_use_;
  load.clock_s = train_s;
  return load;
}

Contention HostWatch::contention(const CaseMeasures& measures, bool on_device) const {
  Stretches stretches;
  if (measures.prepare_host_load) stretches.emplace_back("prepare", *measures.prepare_host_load);
  if (measures.train_host_load) stretches.emplace_back("training", *measures.train_host_load);
  return contention_of(stretches, cpus_, measures.device_load, on_device);
}

}  // namespace mf
