// How ials_fused cuts the rows of a half-step into tasks for thread blocks.
#pragma once

#include <cstdint>

#include "algorithms/als/fused/plan.hpp"

namespace mf::ials {

// As als_fused does, but a row is shrunk by the same however many pairs it has: the row_count of a
// task is 1, or 0 of a row without pairs.
als::FusedPlan plan_side(View<const std::int64_t> offsets, std::int64_t longest);

}  // namespace mf::ials
