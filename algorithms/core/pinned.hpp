// The pinned memory of the host that uploads go through: pieces that threads fill while others are
// copied. For AlgorithmInfo::memory, so here and not beside the uploads, which need CUDA.
#pragma once

#include <cstdint>

namespace mf {

inline constexpr std::int64_t kPinnedPieceBytes = std::int64_t{16} << 20;
inline constexpr int kPinnedPieces = 8;
inline constexpr double kPinnedBytes = double{kPinnedPieces} * kPinnedPieceBytes;  // at most

}  // namespace mf
