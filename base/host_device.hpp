// MF_HD marks functions that kernels use and that tests call on the host: one source for both.
#pragma once

#ifdef __CUDACC__
#define MF_HD __host__ __device__ __forceinline__
#else
#define MF_HD inline
#endif
