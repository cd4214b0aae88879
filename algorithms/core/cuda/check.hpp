// Every CUDA call is checked in place.
#pragma once

#include <cuda_runtime_api.h>

namespace mf::cuda {

// Throws Error naming the call, file, line and CUDA's own reason: memory for a failed allocation,
// unsupported without a usable device, device for the rest.
[[noreturn]] void fail_call(cudaError_t error, const char* call, const char* file, int line);

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) fail_call(error, call, file, line);
}

}  // namespace mf::cuda

#define MF_CUDA(call) ::mf::cuda::check((call), #call, __FILE__, __LINE__)
// After a kernel launch: a bad configuration is reported here, errors while it runs by the next
// call that synchronises.
#define MF_CUDA_LAUNCHED(kernel) ::mf::cuda::check(cudaGetLastError(), kernel, __FILE__, __LINE__)
