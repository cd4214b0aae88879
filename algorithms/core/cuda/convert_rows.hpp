// Rows between fp32 and the other types of storage, on the device.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace mf::cuda {

// to[row * to_stride + k] = from[row * from_stride + k] for k < factors, rounded to nearest; zero
// for k in [factors, to_stride). T is float, double, __half or __nv_bfloat16. Queued on the stream.
template <class T>
void rows_from_fp32(const float* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                    std::int64_t rows, std::int32_t factors, cudaStream_t stream);

// The other way round; exact but for double, which is rounded. Only k < factors is written.
template <class T>
void rows_to_fp32(const T* from, std::int64_t from_stride, float* to, std::int64_t to_stride,
                  std::int64_t rows, std::int32_t factors, cudaStream_t stream);

}  // namespace mf::cuda
