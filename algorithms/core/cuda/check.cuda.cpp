#include "algorithms/core/cuda/check.hpp"

#include <cstring>

#include "base/error.hpp"

namespace mf::cuda {
namespace {

ErrorKind kind_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return ErrorKind::memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return ErrorKind::unsupported;
    default:
      return ErrorKind::device;
  }
}

// Without the folders of the machine that built it.
const char* base_name(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash == nullptr ? file : slash + 1;
}

}  // namespace

void fail_call(cudaError_t error, const char* call, const char* file, int line) {
  fail(kind_of(error), "{}:{}: {}: {} ({})", base_name(file), line, call, cudaGetErrorString(error),
       cudaGetErrorName(error));
}

}  // namespace mf::cuda
