// Tests of several devices: their ranks are threads, a device each.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/ranks/nccl_library.hpp"
#include "base/ranks/communicator.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/rank_threads.hpp"

namespace mf::cuda {

inline int count_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// Runs `body` in `count` threads, each with a device; what fails in one of them fails the test, and
// too few devices skip it. `all_end`: false where ranks are to end within it.
inline void in_ranks(int count, const std::function<void(Communicator&)>& body,
                     bool all_end = true) {
  if (count_devices() < count) {
    GTEST_SKIP() << "needs " << count << " CUDA devices, found " << count_devices();
  }
  set_nccl_defaults();
  const auto errors = test::in_rank_threads(count, [&](Communicator& ranks) {
    MF_CUDA(cudaSetDevice(ranks.rank()));
    body(ranks);
    if (all_end) ranks.barrier();
  });
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    EXPECT_EQ(errors[rank], "") << "of rank " << rank;
  }
}

}  // namespace mf::cuda
