// The pinned memory of the host that uploads go through: two pieces, one filled while the other is
// copied. For AlgorithmInfo::memory, so here and not beside the uploads, which need CUDA.
#pragma once

#include <cstdint>

namespace mf {

inline constexpr std::int64_t kPinnedPieceBytes = std::int64_t{16} << 20;
inline constexpr double kPinnedBytes = 2.0 * kPinnedPieceBytes;  // at most

}  // namespace mf
