// The parameters of `als`, resolved, and what it needs of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/als/settings.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::als {

// How a thread block brings factors from global to shared memory (the paper's figure 3).
enum class Load {
  coalesced,          // a warp reads one row, then the next
  noncoalesced_l1,    // each thread reads a row of its own; L1 gathers the pieces
  noncoalesced_nol1,  // the same past L1
};

inline constexpr Names kLoads{
    std::to_array<Named<Load>>({{"coalesced", Load::coalesced},
                                {"noncoalesced_l1", Load::noncoalesced_l1},
                                {"noncoalesced_nol1", Load::noncoalesced_nol1}})};

enum class AStorage { fp32, fp16 };
inline constexpr Names kAStorages{
    std::to_array<Named<AStorage>>({{"fp32", AStorage::fp32}, {"fp16", AStorage::fp16}})};

struct AlsSettings {
  Common common;
  Solver solver;
  Load load;
  AStorage a_storage;
  std::int64_t batch_rows;  // 0: chosen from the free memory
  std::int64_t split_rows;  // longer rows are cut into parts; 0: never
};

std::vector<ParamSpec> als_params();
AlsSettings read_als_settings(const Params& params);
std::optional<std::string> als_why_unsupported(const Params& params, const ProblemShape& shape);
MemoryNeed als_memory_need(const Params& params, const ProblemShape& shape);

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
