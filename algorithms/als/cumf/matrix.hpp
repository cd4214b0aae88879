// How the matrices A_u are formed and stored. Light: kernels include it.
#pragma once

#include <cstdint>

#include "algorithms/core/rows.hpp"

namespace mf::als {

// How a thread block brings factors from global to shared memory (the paper's figure 3).
enum class Load {
  coalesced,          // a warp reads one row, then the next
  noncoalesced_l1,    // each thread reads its own row; L1 gathers the pieces
  noncoalesced_nol1,  // the same past L1
};

enum class AStorage { fp32, fp16 };

MF_HD constexpr std::int64_t a_value_bytes(AStorage storage) {
  return storage == AStorage::fp32 ? 4 : 2;
}

// Values from one row of a stored A to the next; zero beyond the factors.
MF_HD constexpr std::int64_t a_pitch(AStorage storage, std::int64_t factors) {
  return row_stride(factors, a_value_bytes(storage));
}

MF_HD constexpr std::int64_t a_values(AStorage storage, std::int64_t factors) {
  return factors * a_pitch(storage, factors);
}

MF_HD constexpr std::int64_t a_bytes(AStorage storage, std::int64_t factors) {
  return a_values(storage, factors) * a_value_bytes(storage);
}

}  // namespace mf::als
