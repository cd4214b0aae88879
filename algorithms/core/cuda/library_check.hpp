// Calls of cuBLAS and cuSOLVER, checked in place.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "base/error.hpp"

namespace mf::cuda {

inline void check_library(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::device,
       "cuBLAS: {} failed: {}", call, cublasGetStatusString(status));
}

inline void check_library(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  fail(status == CUSOLVER_STATUS_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::device,
       "cuSOLVER: {} failed with status {}", call, static_cast<int>(status));
}

}  // namespace mf::cuda

#define MF_LIBRARY(call) ::mf::cuda::check_library((call), #call)
