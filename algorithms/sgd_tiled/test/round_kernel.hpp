// Rounding to narrow rows, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mf::sgd_tiled {

// out[i]: x[i] twice, as bf16 or fp16; a Rounder's draws one after another.
void launch_round(const float* x, std::uint32_t* out, int n, bool stochastic, bool bf16,
                  cudaStream_t stream);

}  // namespace mf::sgd_tiled
