// Kernels and launches of the tests, in a source of their own: the tests themselves go to the host
// compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "harness/evaluate/prediction.hpp"

namespace mf {

// Keeps the device busy.
void launch_spin(std::uint64_t nanoseconds, cudaStream_t stream);

// sum_errors<block> of evaluate/device/reduction.cuh, for the powers of 2 from 32 to 1024;
// `partial` has reduction_blocks(block) elements.
int reduction_blocks(int block);
void launch_sum_errors(int block, const float* errors, std::int64_t count, LossSums* partial,
                       cudaStream_t stream);

}  // namespace mf
