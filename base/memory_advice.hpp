// Advice for a lack of memory.
#pragma once

namespace mf {

inline constexpr const char* kAskForLess =
    "use a smaller data set, or fewer `factors` if the algorithm has them";

}  // namespace mf
