// Settings that the algorithms of this room, iALS++, share, and facts known before they run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/ials/settings.hpp"

namespace mf::ials {

// block_size (64): columns of a block. Multiples of 16, so that blocks begin on cache lines.
ParamSpec block_size_param();
std::int64_t read_block_size(const Params& params);  // at most `factors`
std::optional<std::string> why_no_blocks(const Params& params, const ProblemShape& shape);

// For an iteration, as NOTES.md derives it. `filled`: users and items with at least one of the
// pairs.
Work pp_work(const Common& common, std::int64_t block_size, std::int64_t pairs,
             std::int64_t filled);

AlgorithmInfo pp_cpu_info();

}  // namespace mf::ials
