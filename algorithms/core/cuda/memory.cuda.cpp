#include "algorithms/core/cuda/memory.hpp"

#include <atomic>
#include <limits>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/error.hpp"
#include "base/memory_advice.hpp"
#include "base/text.hpp"

namespace mf::cuda {
namespace {

// The pool of the device, told to keep its memory; null if the device or the driver has none.
cudaMemPool_t open_pool() {
  int device = 0;
  int supported = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (supported == 0) return nullptr;
  cudaMemPool_t pool = nullptr;
  MF_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  MF_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  return pool;
}

struct DeviceMemory {
  std::atomic<std::int64_t> allocated{0}, peak{0};
  const cudaMemPool_t pool = open_pool();
  Stream stream;  // allocates and frees memory for any stream; it has no other work
};

DeviceMemory& here() { return of_device<DeviceMemory>(); }

cudaMemPool_t pool() { return here().pool; }
cudaStream_t own_stream() { return here().stream.get(); }

void count(std::int64_t bytes) {
  std::atomic<std::int64_t>& peak = here().peak;
  const std::int64_t now = here().allocated.fetch_add(bytes) + bytes;
  std::int64_t seen = peak.load();
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
}

// Returns the pool's unused memory to the driver, which serves libraries; later it comes again in
// one piece.
void trim() noexcept {
  cudaDeviceSynchronize();
  if (pool() != nullptr) cudaMemPoolTrimTo(pool(), 0);
}

// Bytes it keeps for later allocations.
std::int64_t unused_of_pool() {
  if (pool() == nullptr) return 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  MF_CUDA(cudaMemPoolGetAttribute(pool(), cudaMemPoolAttrReservedMemCurrent, &reserved));
  MF_CUDA(cudaMemPoolGetAttribute(pool(), cudaMemPoolAttrUsedMemCurrent, &used));
  return static_cast<std::int64_t>(reserved - used);
}

cudaError_t try_allocate(void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (pool() == nullptr) return cudaMalloc(pointer, bytes);
  const cudaError_t error = cudaMallocAsync(pointer, bytes, stream);
  if (error != cudaErrorMemoryAllocation) return error;
  cudaGetLastError();  // not sticky: the next launch must not report it
  trim();
  return cudaMallocAsync(pointer, bytes, stream);
}

[[noreturn]] void fail_out_of_memory(std::size_t bytes) {
  cudaGetLastError();
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  fail(ErrorKind::memory, "needs {} more on the device, {} of {} are free; {}",
       format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(free)),
       format_bytes(static_cast<double>(total)), kAskForLess);
}

}  // namespace

std::int64_t allocated_bytes() { return here().allocated; }
std::int64_t peak_allocated_bytes() { return here().peak; }
void reset_peak_allocated_bytes() { here().peak = here().allocated.load(); }

void* allocate_on(std::size_t bytes, cudaStream_t stream) {
  void* pointer = nullptr;
  const cudaError_t error = try_allocate(&pointer, bytes, stream);
  if (error == cudaErrorMemoryAllocation) fail_out_of_memory(bytes);
  MF_CUDA(error);
  count(static_cast<std::int64_t>(bytes));
  return pointer;
}

void free_on(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept {
  if (pool() == nullptr) {
    cudaFree(pointer);
  } else {
    cudaFreeAsync(pointer, stream);
  }
  count(-static_cast<std::int64_t>(bytes));
}

void* allocate_device(std::size_t bytes) {
  void* pointer = allocate_on(bytes, own_stream());
  // Memory freed on another stream is available once that stream gets there.
  MF_CUDA(cudaStreamSynchronize(own_stream()));
  return pointer;
}

void free_device(void* pointer, std::size_t bytes) noexcept {
  cudaDeviceSynchronize();
  free_on(pointer, bytes, own_stream());
}

void reserve(std::int64_t bytes) {
  const std::int64_t wanted = bytes - unused_of_pool();
  if (pool() == nullptr || wanted <= 0) return;
  void* pointer = nullptr;
  if (cudaMallocAsync(&pointer, static_cast<std::size_t>(wanted), own_stream()) == cudaSuccess) {
    MF_CUDA(cudaFreeAsync(pointer, own_stream()));
    MF_CUDA(cudaStreamSynchronize(own_stream()));  // from here on any stream can have it
  } else {
    cudaGetLastError();  // later requests fail if they need it
  }
}

std::int64_t available_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  MF_CUDA(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free) + unused_of_pool();
}

}  // namespace mf::cuda
