// What als_fused says of itself before it runs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/als/fused/group.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json.hpp"

namespace mf::als {
namespace {

TEST(AlsFusedInfo, AppliedRowsHaveOneWordAFactor) {
  const AlgorithmInfo& info = find_algorithm("als_fused");
  EXPECT_FALSE(info.supports(default_params(info.params), {}).has_value());
  const auto why = info.supports(
      default_params(info.params, {{"precision", "fp16x2"}, {"normal", "applied"}}), {});
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find("fp16x2"), std::string::npos);
}

// The plan cannot see the device: it has room for either kernel's parts of split rows.
TEST(AlsFusedInfo, MemoryHoldsThePartsOfEitherKernel) {
  const AlgorithmInfo& info = find_algorithm("als_fused");
  const ProblemShape shape = {1000, 1000, 100'000'000};
  const auto device = [&](const char* products) {
    return info
        .memory(default_params(info.params, {{"factors", 256}, {"products", products}}), shape)
        .device_bytes;
  };
  EXPECT_GT(device("auto"), device("warp"));
  EXPECT_EQ(device("auto"), device("group"));
}

TEST(GroupLayout, EveryElementHasAPlaceOfItsOwn) {
  std::vector<int> seen(kGroupSlotFloats, 0);
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < (i / 64 + 1) * 64; ++j) ++seen[group_element_at(i, j)];
    ++seen[group_b_at(i)];
  }
  for (const int times : seen) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace mf::als
