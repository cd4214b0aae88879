#include <gtest/gtest.h>

#include "harness/device/device.hpp"

namespace mf {
namespace {

TEST(Device, DescribesTheFirstDevice) {
  std::string why;
  const auto device = find_device(&why);
  if (!device) GTEST_SKIP() << "no CUDA device: " << why;
  EXPECT_FALSE(device->name.empty());
  EXPECT_GE(device->compute_major, 7);
  EXPECT_GT(device->memory_bytes, 0);
  EXPECT_LE(device->free_bytes, device->memory_bytes);
  EXPECT_GT(device->clock_hz, 100'000'000);
}

}  // namespace
}  // namespace mf
