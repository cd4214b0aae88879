// Draws of curand, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

struct curandStateXORWOW;

namespace mf::cu2rec {

// out[i draws + k] = the k-th draw from states[i], for all i < n.
void launch_draws(curandStateXORWOW* states, std::uint32_t* out, int n, int draws,
                  cudaStream_t stream);

}  // namespace mf::cu2rec
