// How many epochs are queued on a device before the host waits for them. Waiting after each would
// cost more than a short epoch.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/experiment/profile.hpp"
#include "harness/experiment/schedule.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/meaning/epoch_times.hpp"

namespace mf {

inline constexpr double kGroupSeconds = 0.1;  // a group takes about this long at most
inline constexpr std::int64_t kGroupGrowth = 8;

// Size of the next group by the time of the last: 1 at first, at most kGroupGrowth times the last.
std::int64_t group_by_time(const EpochGroup& last);

// Epochs from `first` to the next that ends at a multiple of `every`, itself included.
std::int64_t epochs_to_multiple(std::int64_t first, std::int64_t every);

// Epochs from `first` on that run as one group, after `last`: it passes no evaluation, change of
// the rate, last epoch, or start of the profile. 1 on the CPU and for a sampler, whose draws are
// evaluated one by one; all epochs that cost as much again.
std::int64_t group_size(const Case& item, const Schedule& schedule, const EpochGroup& last,
                        std::int64_t first, const std::optional<ProfileWindow>& profile);

// Epochs from `first` on at one learning rate, `limit` at most.
std::int64_t epochs_at_one_rate(const Schedule& schedule, std::int64_t first, std::int64_t limit);

}  // namespace mf
