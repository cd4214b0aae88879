// Settings that the algorithms of this room, iALS++, share, and facts known before they run.
#pragma once

#include <cstdint>

#include "algorithms/ials/settings.hpp"

namespace mf::ials {

// Columns of a block of ials_pp_cpu, at most `factors`.
std::int64_t read_block_size(const Params& params);

// For an iteration, as NOTES.md derives it. `filled`: users and items with at least one of the
// pairs.
Work pp_work(const Common& common, std::int64_t block_size, std::int64_t pairs,
             std::int64_t filled);

AlgorithmInfo pp_cpu_info();

// The parameters of `ials_pp`, resolved, and its description.
struct IalsPpSettings {
  Common common;
  std::int32_t block_size;  // coordinates solved together
  std::int64_t split_rows;  // longer rows are cut into parts; 0: never

  std::int32_t blocks() const { return (common.factors + block_size - 1) / block_size; }
};

AlgorithmInfo ials_pp_info();
IalsPpSettings read_ials_pp_settings(const Params& params);

}  // namespace mf::ials
