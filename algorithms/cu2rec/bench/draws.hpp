// One draw a user, from curand's states or counted.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

struct curandStateXORWOW;

namespace mf::cu2rec {

void launch_curand_draws(curandStateXORWOW* states, std::uint32_t* out, int n, cudaStream_t stream);
void launch_counter_draws(std::uint64_t seed, std::int64_t iteration, std::uint32_t* out, int n,
                          cudaStream_t stream);

}  // namespace mf::cu2rec
