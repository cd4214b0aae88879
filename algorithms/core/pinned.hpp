// The pinned memory of the host that uploads go through: pieces that threads fill while others are
// copied.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mf {

// All of them stay in the cache of a host while they are filled and read.
inline constexpr std::int64_t kPinnedPieceBytes = std::int64_t{4} << 20;
inline constexpr int kPinnedPieces = 16;

// The number of pieces that `bytes` fill; one is filled while another is copied.
constexpr std::int64_t pinned_pieces(std::int64_t bytes) {
  return std::clamp<std::int64_t>((bytes + kPinnedPieceBytes - 1) / kPinnedPieceBytes, 2,
                                  kPinnedPieces);
}

}  // namespace mf
