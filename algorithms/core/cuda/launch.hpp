// Shapes of launches.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "algorithms/core/cuda/check.hpp"

namespace mf::cuda {

// Blocks that together take `count` units of work, `of_block` each; none for none. A kernel that
// strides over its work may be given fewer: `most`.
inline unsigned blocks_for(std::int64_t count, std::int64_t of_block,
                           std::int64_t most = std::int64_t{1} << 30) {
  return static_cast<unsigned>(std::min((count + of_block - 1) / of_block, most));
}

// Threads of a block for work on `lanes` lanes: whole warps, at least one.
inline int whole_warps(std::int64_t lanes, int most) {
  return static_cast<int>(std::clamp<std::int64_t>(lanes / 32 * 32, 32, most));
}

// The calling thread's.
inline int current_device() {
  int device = 0;
  MF_CUDA(cudaGetDevice(&device));
  return device;
}

// A T of the calling thread's device, which the first caller makes. Never freed: CUDA may have
// ended before static objects do.
template <class T>
T& of_device() {
  struct Place {
    std::once_flag made;
    T* object = nullptr;
  };
  static std::mutex mutex;
  static auto* const places = new std::map<int, Place>;
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));  // what frees memory does not throw
  std::unique_lock lock(mutex);
  Place& place = (*places)[device];
  lock.unlock();
  std::call_once(place.made, [&] { place.object = new T; });
  return *place.object;
}

inline int multiprocessors() {
  int count = 0;
  MF_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, current_device()));
  return count;
}

// Blocks of `threads` that the device holds at once; at least one a multiprocessor. `shared_bytes`
// is each block's dynamic shared memory.
template <class Kernel>
std::int64_t resident_blocks(Kernel kernel, int threads, std::size_t shared_bytes = 0) {
  int blocks = 0;
  MF_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
  return std::int64_t{std::max(1, blocks)} * multiprocessors();
}

}  // namespace mf::cuda
