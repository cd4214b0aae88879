#pragma once

#include "algorithms/als/fused/group_layout.hpp"

namespace mf::als::test {

// The place of element (i, j) of A in a slot, j in no later block of 64 than i.
constexpr int group_element_at(int i, int j) {
  const int block = i / 64;
  const int group = block == 0 || block == 3 ? 0 : 1;
  const int first = block == group_upper(group) ? 0 : group_upper_sums(group);
  const int number = first + j / 16 * 8 + j % 2 + i % 16 / 8 * 2 + j % 16 / 8 * 4;
  const int thread = group * 128 + i / 16 % 4 * 32 + i % 8 * 4 + j % 8 / 2;
  return number * kGroupThreads + thread;
}

}  // namespace mf::als::test
