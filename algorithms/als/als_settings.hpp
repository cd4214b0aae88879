// The parameters of `als`, resolved, and what it needs of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/als/settings.hpp"
#include "base/host_device.hpp"

namespace mf::als {

// How a thread block brings factors from global to shared memory (the paper's figure 3).
enum class Load {
  coalesced,          // a warp reads one row, then the next
  noncoalesced_l1,    // each thread reads a row of its own; L1 gathers the pieces
  noncoalesced_nol1,  // the same past L1
};

enum class AStorage { fp32, fp16 };

struct AlsSettings {
  Common common;
  Solver solver = Solver::cg;
  Load load = Load::noncoalesced_l1;
  AStorage a_storage = AStorage::fp32;
  std::int64_t batch_rows = 0;     // 0: chosen from the free memory
  std::int64_t split_rows = 8192;  // longer rows are cut into parts; 0: never
};

std::vector<ParamSpec> als_params();
AlsSettings read_als_settings(const Params& params);
std::optional<std::string> als_why_unsupported(const Params& params, const ProblemShape& shape);
MemoryNeed als_memory_need(const Params& params, const ProblemShape& shape);

// Floats from one row of X or Theta (or b) to the next: whole 16-byte words.
MF_HD constexpr std::int64_t factor_stride(std::int64_t factors) { return (factors + 3) / 4 * 4; }

// Values from one row of a stored A to the next: whole 16-byte words, zero beyond the factors.
MF_HD constexpr std::int64_t a_pitch(AStorage storage, std::int64_t factors) {
  const std::int64_t word = storage == AStorage::fp32 ? 4 : 8;
  return (factors + word - 1) / word * word;
}

MF_HD constexpr std::int64_t a_values(AStorage storage, std::int64_t factors) {
  return factors * a_pitch(storage, factors);
}

MF_HD constexpr std::int64_t a_bytes(AStorage storage, std::int64_t factors) {
  return a_values(storage, factors) * (storage == AStorage::fp32 ? 4 : 2);
}

}  // namespace mf::als
