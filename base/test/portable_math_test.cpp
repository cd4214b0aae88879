#include "base/portable_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace mf {
namespace {

TEST(PortableMath, LogAgreesWithCmath) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    const double expected = std::log(x);
    EXPECT_NEAR(portable::log(x), expected, 1e-14 * std::abs(expected) + 1e-15) << x;
  }
  for (double x = 0.5; x < 2; x += 1e-3) EXPECT_NEAR(portable::log(x), std::log(x), 1e-15) << x;
  EXPECT_EQ(portable::log(1), 0);
}

TEST(PortableMath, CosOfTurnsAgreesWithCmath) {
  for (double v = 0; v < 1; v += 1.0 / 65539) {
    EXPECT_NEAR(portable::cos_of_turns(v), std::cos(2 * std::numbers::pi * v), 1e-15) << v;
  }
  EXPECT_EQ(portable::cos_of_turns(0), 1);
  EXPECT_EQ(portable::cos_of_turns(0.25), 0);
  EXPECT_EQ(portable::cos_of_turns(0.5), -1);
  EXPECT_EQ(portable::cos_of_turns(0.75), 0);
  EXPECT_NEAR(portable::cos_of_turns(std::nextafter(1.0, 0.0)), 1, 1e-15);
}

TEST(PortableMath, ExpAgreesWithCmath) {
  for (double x = -600; x < 600; x += 0.7183) {
    EXPECT_NEAR(portable::exp(x) / std::exp(x), 1, 1e-13) << x;
  }
  EXPECT_EQ(portable::exp(0), 1);
}

TEST(PortableMath, NormalQuantileInvertsTheDistribution) {
  const auto distribution = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  for (double z = -7.5; z <= 5.5; z += 0.01)
    EXPECT_NEAR(portable::normal_quantile(distribution(z)), z, 1e-8 * (1 + std::abs(z))) << z;
  EXPECT_EQ(portable::normal_quantile(0.5), 0);
}

}  // namespace
}  // namespace mf
