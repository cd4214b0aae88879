// The types and shapes over which the kernels on stored rows are compiled: the one that suits the
// settings is chosen here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "algorithms/core/storage.hpp"

namespace mf::cuda {

// Returns go.operator()<T>() with the type of the storage.
template <class Go>
auto with_storage_type(Storage storage, Go&& go) {
  switch (storage) {
    case Storage::fp32:
      break;
    case Storage::fp16:
      return go.template operator()<__half>();
    case Storage::bf16:
      return go.template operator()<__nv_bfloat16>();
  }
  return go.template operator()<float>();
}

// How a row lies on lanes, as RowShare (row_words.cuh) has it.
template <int kLanesOfRow, int kWordsOfLane, int kUnitsOfWord>
struct RowShape {
  static constexpr int kLanes = kLanesOfRow;
  static constexpr int kWords = kWordsOfLane;
  static constexpr int kUnits = kUnitsOfWord;
};

// A warp a row, in words of 16 bytes: go(RowShape) for a row of `words` of them. Nothing is
// compiled for rows of more than kMostFactors.
template <class T, std::int64_t kMostFactors, int kWords = 1, class Go>
auto with_wide_row(std::int64_t words, Go&& go) {
  constexpr std::int64_t kMostWords = kMostFactors * static_cast<std::int64_t>(sizeof(T)) / 16;
  if constexpr (kMostWords > 32 * kWords) {
    if (words > 32 * kWords) return with_wide_row<T, kMostFactors, 2 * kWords>(words, go);
  }
  return go(RowShape<32, kWords, 4>{});
}

// A warp a row, in words of 8 bytes while they suffice.
template <class T, std::int64_t kMostFactors, class Go>
auto with_warp_row(std::int64_t words, Go&& go) {
  if (words <= 16) return go(RowShape<32, 1, 2>{});
  return with_wide_row<T, kMostFactors>(words, go);
}

// As many lanes as just hold a row.
template <class T, std::int64_t kMostFactors, class Go>
auto with_group_row(std::int64_t words, Go&& go) {
  if (words <= 4) return go(RowShape<4, 1, 4>{});
  if (words <= 8) return go(RowShape<8, 1, 4>{});
  if (words <= 16) return go(RowShape<16, 1, 4>{});
  return with_wide_row<T, kMostFactors>(words, go);
}

}  // namespace mf::cuda
