// How als_fused cuts the rows of a half-step into tasks for thread blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "base/view.hpp"

namespace mf::als {

struct FusedPlan {
  std::vector<FusedTask> tasks;  // the longest first; also rows without ratings
  std::int32_t slots = 0;        // of all split rows
};

// offsets: rows + 1. A row of more than `longest` ratings is split.
FusedPlan plan_fused(View<const std::int64_t> offsets, std::int64_t longest);

}  // namespace mf::als
