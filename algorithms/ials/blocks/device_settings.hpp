// The parameters of `ials_pp`, resolved, and its description.
#pragma once

#include <cstdint>

#include "algorithms/ials/settings.hpp"

namespace mf::ials {

struct IalsPpSettings {
  Common common;
  std::int32_t block_size;  // coordinates solved together
  std::int64_t split_rows;  // longer rows are cut into parts; 0: never

  std::int32_t blocks() const { return (common.factors + block_size - 1) / block_size; }
};

AlgorithmInfo ials_pp_info();
IalsPpSettings read_ials_pp_settings(const Params& params);

}  // namespace mf::ials
