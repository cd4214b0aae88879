// What is counted on an arrangement. A step is what all threads of a thread block do at once: the
// products, a round of the tree or the update of a rating (tree), or up to as many ratings of a
// group as there are threads (grouped). A lane step is one thread's part in it.
#include <algorithm>
#include <atomic>

#include "algorithms/gpusgd/partition.hpp"
#include "base/json.hpp"

namespace mf::gpusgd {
namespace {

std::int64_t steps_of_block(const Settings& settings, const Arrangement& arrangement,
                            std::int64_t slot) {
  const auto& [partition, groups] = arrangement;
  if (settings.scheme == Scheme::tree) {
    return partition.size(slot) * (2 + tree_rounds(settings.factors));
  }
  const std::int64_t threads = settings.threads_per_block;
  std::int64_t steps = 0;
  for (std::int64_t g = groups.first[slot]; g < groups.first[slot + 1]; ++g) {
    steps += (groups.begins[g + 1] - groups.begins[g] + threads - 1) / threads;
  }
  return steps;
}

// Lane steps with work: a rating, or its f products, f - 1 additions and f elements to update.
std::int64_t busy_lane_steps(const Settings& settings, std::int64_t ratings) {
  return settings.scheme == Scheme::tree ? ratings * (3 * std::int64_t{settings.factors} - 1)
                                         : ratings;
}

}  // namespace

Json facts_of(const Settings& settings, const Arrangement& arrangement, const Ratings& train,
              ThreadTeam& team) {
  const Partition& partition = arrangement.partition;
  const Cut& cut = partition.cut;
  const std::int64_t l = cut.blocks;
  std::atomic<std::int64_t> blank{0}, steps{0}, serial{0};
  team.for_chunks(l, 1, [&](std::int64_t tag, std::int64_t) {
    std::int64_t empty = 0, sum = 0, longest = 0;
    for (std::int64_t slot = tag * l; slot < (tag + 1) * l; ++slot) {
      const std::int64_t own = steps_of_block(settings, arrangement, slot);
      empty += own == 0;
      sum += own;
      longest = std::max(longest, own);
    }
    blank += empty;
    steps += sum;
    serial += longest;
  });
  const std::int64_t with_cells =
      std::int64_t{ceil_div(train.n_users(), cut.rows)} * ceil_div(train.n_items(), cut.columns);
  const std::int64_t lanes = steps * settings.threads_per_block;
  const std::int64_t idle = lanes - busy_lane_steps(settings, train.nnz());
  return {{"blocks", l * l},
          {"block_users", cut.rows},
          {"block_items", cut.columns},
          {"blank_blocks", blank.load()},
          {"padding_blocks", l * l - with_cells},
          {"lane_steps", lanes},
          {"idle_lane_steps", idle},
          {"idle_lane_share",
           lanes == 0 ? 0.0 : static_cast<double>(idle) / static_cast<double>(lanes)},
          {"serial_steps", serial.load()}};
}

}  // namespace mf::gpusgd
