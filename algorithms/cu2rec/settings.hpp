// The parameters of the cu2rec family, resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"

namespace mf::cu2rec {

// What becomes of the item side where several users drew the same item in one iteration.
enum class ItemRule {
  atomic,        // sgd_atomic: every gradient is added
  last_writer,   // ebltg: every user writes the whole row, the last one stays
  first_writer,  // ebgtg: who finds the item unclaimed claims it and writes; the others do not
};
enum class Buffering { swap, in_place };
enum class Mapping { thread, warp };
enum class Generator { curand, counter };

struct Settings {
  std::int32_t factors = 50;
  Regularizers reg;
  std::int64_t stride = 0;
  Buffering buffering = Buffering::swap;
  Mapping mapping = Mapping::thread;
  Generator generator = Generator::curand;
  int threads_per_block = 32;
  int users_per_warp = 0;  // 0: by the number of users
  bool graph = true;
};

// Longest row of mapping `warp`: its elements stay in the registers of 32 lanes.
constexpr std::int64_t kMaxWarpFactors = 1024;
// Largest block of mapping `warp`: its threads take up to 128 registers.
constexpr int kMaxWarpThreads = 512;

std::vector<ParamSpec> family_params(Buffering default_buffering);
Settings read_settings(const Params& params);

// For AlgorithmInfo.
std::optional<std::string> why_unsupported(const Params& params, const ProblemShape& shape);
MemoryNeed memory_need(const Params& params, const ProblemShape& shape);

// Floats from one row of P or Q to the next: whole 16-byte words.
constexpr std::int64_t row_stride(std::int64_t factors) { return (factors + 3) / 4 * 4; }

// Compulsory work of an iteration; README.md derives it.
Work iteration_work(const Settings& settings, const Ratings& train);

}  // namespace mf::cu2rec
