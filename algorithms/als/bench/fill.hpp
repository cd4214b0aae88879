// Numbers for matrix products.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mf::als {

// to[i] in [0, 1), for all i < count.
void launch_fill(float* to, std::int64_t count, cudaStream_t stream);

}  // namespace mf::als
