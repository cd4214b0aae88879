// The parameters of ials_fused, resolved, and what `mfbench` must know of it before it runs.
#pragma once

#include <cstdint>

#include "algorithms/als/fused/settings.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {

// How A_u comes into CG: formed; applied, for rows that fit in shared memory; or for each length of
// a row what is estimated to take less time.
enum class FusedNormal { automatic, formed, applied };
inline constexpr Names kFusedNormals{
    std::to_array<Named<FusedNormal>>({{"auto", FusedNormal::automatic},
                                       {"formed", FusedNormal::formed},
                                       {"applied", FusedNormal::applied}})};

struct FusedSettings {
  Common common;
  als::FusedPrecision precision;
  FusedNormal normal;
  std::int64_t split_rows;  // longest run of a row's pairs that one thread block takes
};

FusedSettings read_fused_settings(const Params& params);

AlgorithmInfo fused_info();

}  // namespace mf::ials
