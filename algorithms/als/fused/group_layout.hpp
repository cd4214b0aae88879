// The layout of a task's sums from the kernel of warpgroups (group.hpp). Shared by host and kernel.
#pragma once

#include "base/host_device.hpp"

namespace mf::als {

// Block rows of 16 that it is made for.
constexpr int kGroupTiles = 16;

// A task's sums over the 256 threads, thread `t` having number n at n * 256 + t. Warpgroup t / 128
// has two of the four block rows of 64: 0 and 3, or 1 and 2, each from column 0 to its own 64 x 64
// block on the diagonal, first the upper block row's numbers, then the lower one's.
constexpr int kGroupThreads = 256;
constexpr int kGroupSums = 160;  // of a thread: 32 + 128 or 64 + 96
MF_HD constexpr int group_upper(int group) { return group; }
MF_HD constexpr int group_lower(int group) { return 3 - group; }
MF_HD constexpr int group_upper_sums(int group) { return 32 * (group + 1); }
// A thread leaves these and its factor's b in the scratch memory.
constexpr int kGroupSlotFloats = (kGroupSums + 1) * kGroupThreads;

// The place of b's element i in a slot.
MF_HD constexpr int group_b_at(int i) { return kGroupSums * kGroupThreads + i; }

}  // namespace mf::als
