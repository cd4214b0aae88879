#include "harness/run/epoch_groups.hpp"

#include <algorithm>

#include "harness/run/data/shared_cases.hpp"

namespace mf {

std::int64_t group_by_time(const EpochGroup& last) {
  if (last.count == 0) return 1;
  const double wanted = kGroupSeconds * static_cast<double>(last.count) / last.seconds;
  const std::int64_t most = last.count * kGroupGrowth;
  // Also if seconds is 0 and `wanted` is infinite.
  if (!(wanted < static_cast<double>(most))) return most;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
}

std::int64_t epochs_to_multiple(std::int64_t first, std::int64_t every) {
  return every - (first - 1) % every;
}

std::int64_t group_size(const Case& item, const Schedule& schedule, const EpochGroup& last,
                        std::int64_t first, const std::optional<ProfileWindow>& profile) {
  const bool repeats = repeats_epochs(item);
  if (is_sampler(item) || (!needs_device(item) && !repeats)) return 1;
  std::int64_t size =
      std::min({repeats ? item.stop.epochs : group_by_time(last),
                epochs_to_multiple(first, item.evaluate.every), item.stop.epochs - first + 1});
  if (profile && first <= profile->warmup) size = std::min(size, profile->warmup - first + 1);
  return epochs_at_one_rate(schedule, first, size);
}

std::int64_t epochs_at_one_rate(const Schedule& schedule, std::int64_t first, std::int64_t limit) {
  if (schedule.constant_between_evaluations()) return limit;
  const double rate = schedule.rate(first);
  std::int64_t count = 1;
  while (count < limit && schedule.rate(first + count) == rate) ++count;
  return count;
}

}  // namespace mf
