// The parameters of als_fused, resolved.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "algorithms/als/settings.hpp"

namespace mf::als {

inline constexpr Names kFusedPrecisions{std::to_array<Named<FusedPrecision>>(
    {{"fp16", FusedPrecision::fp16}, {"fp16x2", FusedPrecision::fp16x2}})};

struct FusedSettings {
  Common common;
  FusedPrecision precision;
  std::int64_t split_rows;  // longest run of a row's ratings that one thread block takes
};

std::vector<ParamSpec> fused_params();
FusedSettings read_fused_settings(const Params& params);
MemoryNeed fused_memory_need(const Params& params, const ProblemShape& shape);

}  // namespace mf::als
