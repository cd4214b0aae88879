#include "algorithms/als/fused/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mf::als {
namespace {

TEST(FusedScale, IsOneForRatingsThatTheKernelTakes) {
  for (const float largest : {0.0F, 1e-20F, 5.0F, 512.0F}) EXPECT_EQ(scale_for(largest).k, 0);
}

TEST(FusedScale, LeavesAtMost32AndNoFewerBitsThanItMust) {
  for (const float largest :
       {513.0F, 1024.0F, 70000.0F, 1e12F, std::numeric_limits<float>::max()}) {
    const FusedScale scale = scale_for(largest);
    const double left = largest * rating_scale(scale);
    EXPECT_LE(left, 32.0) << largest;
    EXPECT_GT(left, 8.0) << largest;
    EXPECT_EQ(factor_scale(scale) * factor_scale(scale), rating_scale(scale));
    EXPECT_EQ(rating_scale(scale) * factor_scale(scale), residual_scale(scale));
    int exponent = 0;
    EXPECT_EQ(std::frexp(factor_scale(scale), &exponent), 0.5);  // a power of two
  }
}

}  // namespace
}  // namespace mf::als
