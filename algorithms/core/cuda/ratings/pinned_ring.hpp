// The pinned memory that uploads to a device go through (of_device). Pinning is slow (.5 s a GB on
// one H200 host), so it is done once, on demand, and the memory is kept.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/pinned.hpp"

namespace mf::cuda {

class PinnedRing {
  struct Slot {
    PinnedBuffer<std::byte> memory{static_cast<std::size_t>(kPinnedPieceBytes)};
    Event copied;
    std::mutex opening;
    // Of the current upload: pieces opened for filling here, pieces sent from here, and filled
    // parts of the last.
    std::atomic<std::int64_t> opened{0}, sent{0}, filled{0};
  };

 public:
  // Makes the pieces that `bytes` need, kPinnedPieces at most.
  void reserve(std::int64_t bytes);

  // One upload, which has the ring for itself. Threads fill its pieces part by part while others
  // are copied, and wait for each other only if the ring is full.
  class Upload {
   public:
    // `bytes` in all, in so many pieces.
    Upload(PinnedRing& ring, std::int64_t bytes, std::int64_t pieces);
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // The memory of `piece`, once no copy reads its old contents. Pieces are begun in order.
    std::byte* memory(std::int64_t piece);
    // One of its `parts` is filled: true for the last of them, whose thread sends the piece.
    bool is_filled(std::int64_t piece, std::int64_t parts);
    // The copy from it is queued.
    void sent(std::int64_t piece, cudaStream_t stream);
    // A piece will not be sent: waiters for its place go on and send meaningless bytes.
    void give_up();

   private:
    std::int64_t place(std::int64_t piece) const { return ring_.next_ + piece; }
    std::int64_t slots() const { return std::ssize(ring_.slots_); }
    Slot& slot(std::int64_t piece) { return ring_.slots_[place(piece) % slots()]; }

    PinnedRing& ring_;
    const std::unique_lock<std::mutex> held_;
    const std::int64_t pieces_;
  };

 private:
  void grow_to(std::int64_t slots);

  std::mutex mutex_;
  std::deque<Slot> slots_;
  std::int64_t next_ = 0;  // slot of the next upload's first piece
};

}  // namespace mf::cuda
