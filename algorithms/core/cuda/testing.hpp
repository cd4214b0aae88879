// For tests that need a device: skipped, with the reason, where there is none.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace mf::cuda {

// Empty where a device can be used.
inline const char* why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return "";
  return cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error);
}

}  // namespace mf::cuda

#define MF_REQUIRE_DEVICE()                                            \
  if (*::mf::cuda::why_no_device() != 0) {                             \
    GTEST_SKIP() << "no CUDA device: " << ::mf::cuda::why_no_device(); \
  }                                                                    \
  static_assert(true)
