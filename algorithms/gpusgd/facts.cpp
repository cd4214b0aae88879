#include "algorithms/gpusgd/facts.hpp"

#include "base/json/json.hpp"

namespace mf::gpusgd {
namespace {

// Lane steps with work: a rating, or its f products, f - 1 additions and f elements to update.
std::int64_t busy_lane_steps(const Settings& settings, std::int64_t ratings) {
  return settings.scheme == Scheme::tree ? ratings * (3 * std::int64_t{settings.factors} - 1)
                                         : ratings;
}

}  // namespace

Json facts_of(const Settings& settings, const Cut& cut, const BlockCounts& counts,
              const ProblemShape& shape) {
  const std::int64_t l = cut.blocks;
  const std::int64_t with_cells =
      std::int64_t{ceil_div(static_cast<std::int32_t>(shape.n_users), cut.rows)} *
      ceil_div(static_cast<std::int32_t>(shape.n_items), cut.columns);
  const std::int64_t lanes = counts.steps * settings.threads_per_block;
  const std::int64_t idle = lanes - busy_lane_steps(settings, shape.nnz);
  return {{"blocks", l * l},
          {"block_users", cut.rows},
          {"block_items", cut.columns},
          {"blank_blocks", counts.blank},
          {"padding_blocks", l * l - with_cells},
          {"lane_steps", lanes},
          {"idle_lane_steps", idle},
          {"idle_lane_share",
           lanes == 0 ? 0.0 : static_cast<double>(idle) / static_cast<double>(lanes)},
          {"serial_steps", counts.serial}};
}

}  // namespace mf::gpusgd
