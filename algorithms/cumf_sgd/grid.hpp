// The wavefront's cuts of the matrix: the same on host and device. Light: kernels include it.
#pragma once

#include <cstdint>

#include "algorithms/core/random.hpp"
#include "base/host_device.hpp"

namespace mf::cumf_sgd {

// The part of a row (a user's band, an item's column) of `parts`: rows in order, cut when the
// ratings so far pass a multiple of nnz / parts. `before`: the ratings of the rows before it. nnz *
// parts is below 2^63.
MF_HD std::int64_t part_of_row(std::int64_t before, std::int64_t parts, std::int64_t nnz) {
  const std::int64_t part = nnz == 0 ? 0 : before * parts / nnz;
  return part < parts ? part : parts - 1;
}

// The order in which the ratings of each block come.
inline Permutation grid_order(std::int64_t nnz, std::uint64_t seed) {
  constexpr std::uint64_t kBlockSalt = 0x77617665ULL;
  return Permutation::of(nnz, seed ^ kBlockSalt);
}

}  // namespace mf::cumf_sgd
