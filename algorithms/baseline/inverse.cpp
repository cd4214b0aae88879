#include "algorithms/baseline/inverse.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>

#include "algorithms/core/tile_product.hpp"
#include "base/clones.hpp"

namespace mf::baseline {
namespace {

constexpr std::int64_t kArea = kBlock * kBlock;
static_assert(kBlock % kPanelLanes == 0 && kBlock % kTileRows == 0);

template <class Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Block = Eigen::Map<RowMajor<float>, Eigen::Unaligned, Eigen::OuterStride<>>;

const TileMultiply kMultiply = choose_tile_multiply();

// C -= A B^T of blocks: rows of A are kBlock apart, rows of C `stride`; B is packed.
MF_CLONES void subtract_product(const float* a, const float* b, float* c, std::int64_t stride) {
  float product[kTileRows * kBlock];
  for (std::int64_t i = 0; i < kBlock; i += kTileRows) {
    kMultiply({a + i * kBlock, kBlock, 1, b, kBlock, kTileRows, kBlock, product, kBlock});
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      float* to = c + (i + r) * stride;
      for (std::int64_t j = 0; j < kBlock; ++j) to[j] -= product[r * kBlock + j];
    }
  }
}

// Rows of B, kBlock apart, as panels: of kPanelLanes rows element k side by side.
void pack(const float* b, float* packed) {
  for (std::int64_t row = 0; row < kBlock; ++row) {
    float* to = packed + row / kPanelLanes * kBlock * kPanelLanes + row % kPanelLanes;
    for (std::int64_t k = 0; k < kBlock; ++k) to[k * kPanelLanes] = b[row * kBlock + k];
  }
}

// One sweep after another, with the buffers of all.
class Sweeper {
 public:
  Sweeper(BlockMatrix& a, ThreadTeam& team)
      : a_(a), team_(team), packed_(a.blocks() * kArea), scaled_(a.blocks() * kArea) {}

  bool sweep(std::int64_t pivot) {
    if (!invert(pivot)) return false;
    team_.for_each(a_.blocks(), 1, [&](std::int64_t i) { scale(i, pivot); });
    team_.for_each(a_.blocks(), 1, [&](std::int64_t at) {
      const std::int64_t i = a_.blocks() - 1 - at;  // the long rows first
      for (std::int64_t j = 0; j <= i; ++j) update(i, j, pivot);
    });
    return true;
  }

 private:
  Block block(std::int64_t i, std::int64_t j) {
    return {a_.row(i * kBlock) + j * kBlock, kBlock, kBlock, Eigen::OuterStride<>(a_.stride())};
  }
  Block scaled(std::int64_t i) {
    return {scaled_.data() + i * kArea, kBlock, kBlock, Eigen::OuterStride<>(kBlock)};
  }

  // -D, packed: D is symmetric.
  bool invert(std::int64_t pivot) {
    const RowMajor<double> d = block(pivot, pivot).cast<double>();
    const Eigen::LLT<RowMajor<double>> factored(d);
    if (factored.info() != Eigen::Success) return false;
    const RowMajor<double> inverse = factored.solve(RowMajor<double>::Identity(kBlock, kBlock));
    minus_d_ = ((inverse + inverse.transpose()) / -2).cast<float>();
    packed_d_.resize(kArea);
    pack(minus_d_.data(), packed_d_.data());
    return true;
  }

  // W_i, packed, and W_i D.
  void scale(std::int64_t i, std::int64_t pivot) {
    RowMajor<float> w;
    if (i > pivot) {
      w = block(i, pivot);
    } else {
      w = block(pivot, i).transpose();
    }
    pack(w.data(), packed_.data() + i * kArea);
    scaled(i).setZero();
    subtract_product(w.data(), packed_d_.data(), scaled(i).data(), kBlock);
  }

  void update(std::int64_t i, std::int64_t j, std::int64_t pivot) {
    if (i == pivot && j == pivot) {
      block(i, j) = minus_d_;
    } else if (i == pivot) {
      block(i, j) = scaled(j).transpose();
    } else if (j == pivot) {
      block(i, j) = scaled(i);
    } else {
      subtract_product(scaled(i).data(), packed_.data() + j * kArea, block(i, j).data(),
                       a_.stride());
    }
  }

  BlockMatrix& a_;
  ThreadTeam& team_;
  RowMajor<float> minus_d_;
  AlignedVector<float> packed_d_;
  AlignedVector<float> packed_, scaled_;  // of all blocks: W, and W D
};

}  // namespace

BlockMatrix::BlockMatrix(std::int64_t n) : n_(n), stride_(padded(n)), values_(stride_ * stride_) {}

void BlockMatrix::clear_row(std::int64_t i) {
  std::fill_n(row(i), stride_, 0.0F);
  if (i >= n_) row(i)[i] = 1;
}

bool sweep_all(BlockMatrix& a, ThreadTeam& team, const std::function<bool()>& stop) {
  Sweeper sweeper(a, team);
  for (std::int64_t pivot = 0; pivot < a.blocks(); ++pivot) {
    if (stop && stop()) return true;
    if (!sweeper.sweep(pivot)) return false;
  }
  return true;
}

}  // namespace mf::baseline
