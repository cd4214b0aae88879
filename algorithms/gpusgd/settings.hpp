// The parameters of gpusgd and newgpusgd, resolved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"

namespace mf::gpusgd {

enum class Scheme {
  grouped,  // gpusgd: square blocks; ratings that share no row or column together, a thread each
  tree,     // newgpusgd: ratings one after another, a thread a factor, p.q by a tree
};
enum class Precision { fp32, fp64 };
enum class Order { sorted, shuffled };

const char* scheme_name(Scheme scheme);  // as typed in a spec

struct Settings {
  std::int32_t factors = 16;
  ModelKind model = ModelKind::plain;
  Regularizers reg;
  std::int32_t blocks = 64;  // l: the matrix is cut into l x l
  Precision precision = Precision::fp32;
  Order order = Order::sorted;  // tree
  int threads_per_block = 256;  // tree: factors, rounded up to warps

  bool biased() const { return model == ModelKind::biased; }
};

// Largest l: the table of blocks has l * l entries of 8 bytes, here 512 MiB.
constexpr std::int64_t kMaxBlocks = 8192;
// Scheme::tree: a thread a factor, and a thread block has at most 1024.
constexpr std::int64_t kMaxTreeFactors = 1024;

std::vector<ParamSpec> family_params(Scheme scheme);
Settings read_settings(Scheme scheme, const Params& params);

MemoryNeed memory_need(Scheme scheme, const Params& params, const ProblemShape& shape);

// Elements from one row of P or Q to the next: whole 16-byte words.
constexpr std::int64_t row_stride(std::int64_t factors, std::size_t element_bytes) {
  const auto word = static_cast<std::int64_t>(16 / element_bytes);
  return (factors + word - 1) / word * word;
}

// Compulsory work of an epoch; README.md derives it.
Work epoch_work(const Settings& settings, const Ratings& train);

}  // namespace mf::gpusgd
