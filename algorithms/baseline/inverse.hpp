// The inverse of a symmetric positive definite matrix, in place and by many threads.
#pragma once

#include <cstdint>
#include <functional>

#include "base/aligned.hpp"
#include "base/threads.hpp"

namespace mf::baseline {

// Rows and columns that are swept at once.
inline constexpr std::int64_t kBlock = 192;

// A square matrix in fp32, row after row, its size filled up to whole blocks; elements beyond n are
// the identity's.
class BlockMatrix {
 public:
  BlockMatrix() = default;
  explicit BlockMatrix(std::int64_t n);  // not initialized

  static std::int64_t padded(std::int64_t n) { return (n + kBlock - 1) / kBlock * kBlock; }

  std::int64_t stride() const { return stride_; }
  std::int64_t blocks() const { return stride_ / kBlock; }
  float* row(std::int64_t i) { return values_.data() + i * stride_; }
  const float* row(std::int64_t i) const { return values_.data() + i * stride_; }
  void clear_row(std::int64_t i);  // to zeros, or beyond n to the identity's

 private:
  std::int64_t n_ = 0;
  std::int64_t stride_ = 0;
  AlignedVector<float> values_;
};

// A becomes -A^-1; only the lower triangle is read and written, but for blocks on the diagonal. By
// the sweep operator (J. Goodnight, "A Tutorial on the SWEEP Operator", The American Statistician
// 33(3), 1979), a block at a time: with K the block, D = A_KK^-1 and W = A_.K,
//
//   A_ij -= W_i D W_j^T     A_iK = W_i D     A_KK = -D          for all i, j other than K
//
// n^3 operations, as many as a Cholesky factor and its inverse take. The same for any number of
// threads. `stop`, if not empty, is asked before each block: true ends it, half done. Returns false
// if a block is not positive definite.
bool sweep_all(BlockMatrix& a, ThreadTeam& team, const std::function<bool()>& stop = {});

}  // namespace mf::baseline
