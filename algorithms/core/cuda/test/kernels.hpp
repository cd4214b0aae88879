// The kernels of the tests, in a separate source: sources with GoogleTest and the model go to the
// host compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/random.hpp"

namespace mf::cuda {

// x[i] += 1 for all i < n.
void launch_add_one(int* x, int n, cudaStream_t stream);

// out[2 i] = pick(random_bits(seed, i, iteration), 12345) and out[2 i + 1] = permutation(i), for
// all i < n.
void launch_draws(std::uint64_t seed, std::int64_t iteration, std::int64_t* out, std::int32_t n,
                  Permutation permutation, cudaStream_t stream);

}  // namespace mf::cuda
