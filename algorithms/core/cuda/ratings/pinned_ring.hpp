// The pinned memory of the process that uploads go through. Pinning is slow (.5 s a GB on one H200
// host), so that it is made once, piece by piece as it is needed, and kept.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/pinned.hpp"

namespace mf::cuda {

class PinnedRing {
 public:
  static PinnedRing& of_process();

  // One upload at a time has it.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // `bytes`, at most a piece, that no copy reads any more: to be filled, copied on the stream
  // and sent().
  std::byte* take(std::int64_t bytes);
  // The copy from what was taken last is queued.
  void sent(cudaStream_t stream);

  // Makes the pieces that so many bytes need, all at most.
  void reserve(std::int64_t bytes);

 private:
  struct Piece {
    PinnedBuffer<std::byte> memory;
    Event copied;
    cudaStream_t stream = nullptr;  // of the last copy
  };
  Piece make_piece();
  void next_piece();

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::size_t now_ = 0;
  std::int64_t filled_ = 0;  // bytes of the piece at hand
};

}  // namespace mf::cuda
