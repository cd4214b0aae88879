// The parameters of gpusgd and newgpusgd, resolved.
#pragma once

#include <cstdint>

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::gpusgd {

enum class Scheme {
  grouped,  // square blocks; ratings that share no row or column together, a thread each
  tree,     // ratings one after another, a thread a factor, p.q by a tree
};
inline constexpr Names kSchemes{
    std::to_array<Named<Scheme>>({{"gpusgd", Scheme::grouped}, {"newgpusgd", Scheme::tree}})};

enum class Precision { fp32, fp64 };
inline constexpr Names kPrecisions{
    std::to_array<Named<Precision>>({{"fp32", Precision::fp32}, {"fp64", Precision::fp64}})};

struct Settings {
  Scheme scheme;
  std::int32_t factors;
  Regularizers reg;
  std::int32_t blocks;  // l: the matrix is cut into l x l
  Precision precision;
  int threads_per_block;  // tree: factors, rounded up to warps

  int element_bytes() const { return precision == Precision::fp64 ? 8 : 4; }
};

Settings read_settings(Scheme scheme, const Params& params);

// Compulsory work of an epoch; README.md derives it.
Work epoch_work(const Settings& settings, const RatedShape& rated);

}  // namespace mf::gpusgd
