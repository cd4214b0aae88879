// The parameters of ials_fused, resolved, and facts of it known before it runs.
#pragma once

#include <cstdint>

#include "algorithms/als/fused/settings.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {

struct FusedSettings {
  Common common;
  als::FusedPrecision precision;
  als::FusedNormal normal;
  std::int64_t split_rows;  // longest run of a row's pairs that one thread block takes
  Streaming streaming = {};
};

FusedSettings read_fused_settings(const Params& params);

AlgorithmInfo fused_info();

StreamingNeed fused_need(const FusedSettings& settings, const ProblemShape& shape);

}  // namespace mf::ials
