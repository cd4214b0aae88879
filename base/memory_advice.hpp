// What to do where memory does not suffice.
#pragma once

namespace mf {

inline constexpr const char* kAskForLess =
    "use a smaller data set, or fewer `factors` where the algorithm has them";

}  // namespace mf
