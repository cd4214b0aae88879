// For tests that need a device: a program with this header skips all of its tests without one, and
// says why.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/aligned.hpp"

namespace mf::cuda {

// Empty if a device can be used.
inline const char* why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return "";
  return cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error);
}

// ctest knows a skipped test by the word in brackets.
struct RequireDevice : ::testing::Environment {
  void SetUp() override {
    if (*why_no_device() == 0) return;
    GTEST_SKIP() << "[  SKIPPED ] no CUDA device: " << why_no_device();
  }
};
inline ::testing::Environment* const kRequireDevice =
    ::testing::AddGlobalTestEnvironment(new RequireDevice);

// Every number finite, and none further from the host's than `tolerance`. Host: a vector of floats
// or doubles.
template <class Host>
void expect_near(const AlignedVector<float>& device, const Host& host, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(device.size(), host.size()) << what;
  double worst = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double difference = std::abs(static_cast<double>(device[i]) - host[i]);
    ASSERT_TRUE(std::isfinite(difference)) << what;
    worst = std::max(worst, difference);
  }
  EXPECT_LE(worst, tolerance) << what;
}

}  // namespace mf::cuda
