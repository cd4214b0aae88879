#include "algorithms/core/cuda/memory.hpp"

#include <atomic>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf::cuda {
namespace {

std::atomic<std::int64_t> allocated{0};
std::atomic<std::int64_t> peak{0};

void count(std::int64_t bytes) {
  const std::int64_t now = allocated.fetch_add(bytes) + bytes;
  std::int64_t seen = peak.load();
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
}

}  // namespace

std::int64_t allocated_bytes() { return allocated.load(); }
std::int64_t peak_allocated_bytes() { return peak.load(); }
void reset_peak_allocated_bytes() { peak.store(allocated.load()); }

void* allocate_device(std::size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t error = cudaMalloc(&pointer, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: the next launch must not report it
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    fail(
        ErrorKind::memory,
        "needs {} more on the device, {} of {} are free; lower `factors` or use a smaller data set",
        format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(free)),
        format_bytes(static_cast<double>(total)));
  }
  MF_CUDA(error);
  count(static_cast<std::int64_t>(bytes));
  return pointer;
}

void free_device(void* pointer, std::size_t bytes) noexcept {
  cudaFree(pointer);
  count(-static_cast<std::int64_t>(bytes));
}

}  // namespace mf::cuda
