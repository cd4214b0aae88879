#include "algorithms/core/tile_product.hpp"

#include <cstring>

#include "base/host/isa.hpp"

namespace mf {
namespace {

// Vectors of the length of a register: a longer one is kept in memory. kRows x kVectors sums, which
// are enough to hide the time that each takes, fit.
template <int kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void multiply(const TileProduct of) {
  using Lanes [[gnu::vector_size(kBytes)]] = float;
  constexpr int kWide = kBytes / sizeof(float);
  static_assert(kTileRows % kRows == 0 && kPanelLanes % (kVectors * kWide) == 0);
  for (int column = 0; column < of.columns; column += kVectors * kWide) {
    const float* panel = of.panels + column / kPanelLanes * of.depth * kPanelLanes;
    const float* b = panel + column % kPanelLanes;
    for (int row = 0; row < of.rows; row += kRows) {
      const float* a = of.a + row * of.a_row;
      Lanes sum[kRows][kVectors] = {};
      for (std::int64_t k = 0; k < of.depth; ++k) {
        Lanes one[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          std::memcpy(&one[v], b + k * kPanelLanes + v * kWide, kBytes);
        }
        for (int r = 0; r < kRows; ++r) {
          for (int v = 0; v < kVectors; ++v) sum[r][v] += a[r * of.a_row + k * of.a_step] * one[v];
        }
      }
      for (int r = 0; r < kRows; ++r) {
        float* c = of.c + (row + r) * of.c_row + column;
        for (int v = 0; v < kVectors; ++v) std::memcpy(c + v * kWide, &sum[r][v], kBytes);
      }
    }
  }
}

void multiply_plain(const TileProduct of) { multiply<16, 4, 2>(of); }
#ifdef __x86_64__
#define MF_TARGET(isa) __attribute__((target(isa)))
MF_TARGET("avx2,fma") void multiply_avx2(const TileProduct of) { multiply<32, 6, 2>(of); }
MF_TARGET("avx512f") void multiply_avx512(const TileProduct of) { multiply<64, 12, 2>(of); }
#endif

}  // namespace

TileMultiply choose_tile_multiply() {
#ifdef __x86_64__
  if (has(Isa::avx512)) return multiply_avx512;
  if (has(Isa::avx2)) return multiply_avx2;
#endif
  return multiply_plain;
}

}  // namespace mf
