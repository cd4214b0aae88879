// For tests that need a device: skipped without one, with the reason; and what they compare.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/aligned.hpp"

namespace mf::cuda {

// Empty where a device can be used.
inline const char* why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return "";
  return cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error);
}

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

#define MF_REQUIRE_DEVICE()                                            \
  if (*::mf::cuda::why_no_device() != 0) {                             \
    GTEST_SKIP() << "no CUDA device: " << ::mf::cuda::why_no_device(); \
  }                                                                    \
  static_assert(true)
