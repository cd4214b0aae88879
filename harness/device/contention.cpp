#include "harness/device/contention.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace mf {
namespace {

using Words = std::vector<std::string>;

void add_waits(Words& words, const HostLoad& load, int cpus, const ContentionLimits& limits) {
  if (load.threads > cpus) return;
  double waited = 0;
  for (const auto& one : load.waits) {
    waited = std::max(waited, one.wait_s - limits.wake_s * static_cast<double>(one.turns));
  }
  if (waited < limits.least_wait_s || waited < limits.wait_share * load.span_s) return;
  words.push_back(fmt::format("a thread waited {} of {} for a CPU", format_seconds(waited),
                              format_seconds(load.span_s)));
}

void add_others(Words& words, const HostLoad& load, const ContentionLimits& limits) {
  if (!load.others_usable_cpus || load.span_s < limits.shortest_span_s) return;
  const double others = *load.others_usable_cpus;
  const double cpus = load.usable_cpus;
  const bool full = load.own_cpus + others >= limits.full_share * cpus;
  const double share = full ? limits.others_share_when_full : limits.others_share;
  if (others < share * cpus) return;
  words.push_back(
      fmt::format("other programs kept {:.1f} of {} CPUs busy", others, load.usable_cpus));
}

void add_system(Words& words, const HostLoad& load, const ContentionLimits& limits) {
  if (load.span_s >= limits.shortest_span_s && load.steal_share &&
      *load.steal_share >= limits.steal_share) {
    words.push_back(
        fmt::format("the hypervisor took {:.0f} % of the CPUs' time", 100 * *load.steal_share));
  }
  if (load.throttled_s && *load.throttled_s >= limits.least_wait_s &&
      *load.throttled_s >= limits.throttled_share * load.span_s) {
    words.push_back("the group's CPU quota held it for " + format_seconds(*load.throttled_s));
  }
  if (load.heat_slowdowns && *load.heat_slowdowns > 0 &&
      static_cast<double>(*load.heat_slowdowns) >= limits.heat_per_s * load.span_s) {
    words.push_back(fmt::format("CPUs slowed down for heat {} times", *load.heat_slowdowns));
  }
}

// Over all stretches; empty if they are unknown.
Reasons over(const Stretches& stretches, int cpus) {
  Reasons all;
  for (const auto& [name, load] : stretches) {
    const Reasons own = host_contention(load, cpus);
    if (!own) continue;
    if (!all) all.emplace();
    for (const auto& words : *own) all->push_back(name + ": " + words);
  }
  return all;
}

}  // namespace

Reasons host_contention(const HostLoad& load, int cpus, const ContentionLimits& limits) {
  if (load.waits.empty() && !load.others_usable_cpus) return std::nullopt;
  Words words;
  add_waits(words, load, cpus, limits);
  add_others(words, load, limits);
  add_system(words, load, limits);
  return words;
}

Reasons device_contention(const DeviceLoad& load, const ContentionLimits& limits) {
  if (!load.others && load.readings == 0) return std::nullopt;
  Words words;
  if (load.others && !load.others->empty()) {
    const auto& others = *load.others;
    double used = 0;
    bool told = true;
    for (const auto& one : others) {
      told = told && one.sm_share.has_value();
      used += one.sm_share.value_or(0);
    }
    const std::string processes =
        others.size() == 1 ? "1 other process" : fmt::format("{} other processes", others.size());
    if (used >= limits.other_sm_share) {
      words.push_back(
          fmt::format("{} used the GPU for {:.0f} % of the time", processes, 100 * used));
    } else if (!told) {
      words.push_back(processes + " on the GPU; the driver does not say how busy");
    }
  }
  for (std::size_t k = 0; k < kSlowdowns.size(); ++k) {
    if (!kSlowdowns[k].disturbs || load.readings == 0) continue;
    const double share = static_cast<double>(load.slowed[k]) / static_cast<double>(load.readings);
    if (share < limits.slowdown_share) continue;
    words.push_back(fmt::format("the GPU was slowed down ({}) for {:.0f} % of the time",
                                kSlowdowns[k].name, 100 * share));
  }
  return words;
}

Contention contention_of(const Stretches& host, int cpus, const std::optional<DeviceLoad>& device,
                         bool on_device) {
  if (!on_device) return {over(host, cpus), std::nullopt};
  Reasons times;
  if (device) times = device_contention(*device);
  return {times, over(host, cpus)};
}

}  // namespace mf
