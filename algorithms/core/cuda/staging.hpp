// Uploads of what the host has to rearrange first (padded rows, packed pairs): threads fill one
// pinned piece while the other is being copied.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/threads.hpp"

namespace mf::cuda {

class Staging {
 public:
  // `largest` is the size of the largest upload to come: pinned memory is slow to get, so that a
  // small data set takes little of it.
  explicit Staging(std::size_t largest_bytes) : Staging(Piece{piece_bytes(largest_bytes)}) {}

  // to[i] for i in [0, to.size()), as fill(begin, end, out) writes them: out[0] is element `begin`.
  // `fill` is called by the threads of the team, each time for at most `chunk` elements.
  // All copies are queued when it returns.
  template <class T, class Fill>
  void upload(DeviceBuffer<T>& to, ThreadTeam& team, cudaStream_t stream, Fill&& fill,
              std::int64_t chunk = 1 << 16) {
    const auto count = static_cast<std::int64_t>(to.size());
    const auto piece = static_cast<std::int64_t>(pieces_[0].size() / sizeof(T));
    for (std::int64_t begin = 0; begin < count; begin += piece) {
      const std::int64_t size = std::min(piece, count - begin);
      T* out = reinterpret_cast<T*>(free_piece());
      team.for_chunks(size, chunk, [&](std::int64_t from, std::int64_t end) {
        fill(begin + from, begin + end, out + from);
      });
      MF_CUDA(cudaMemcpyAsync(to.data() + begin, out, static_cast<std::size_t>(size) * sizeof(T),
                              cudaMemcpyHostToDevice, stream));
      copied_[turn_].record(stream);
      turn_ = 1 - turn_;
    }
  }

  // The stream may still be copying from the pinned pieces.
  ~Staging() {
    for (const Event& event : copied_) cudaEventSynchronize(event.get());
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

 private:
  struct Piece {
    std::size_t bytes;
  };
  explicit Staging(Piece piece)
      : pieces_{PinnedBuffer<std::byte>(piece.bytes), PinnedBuffer<std::byte>(piece.bytes)} {}

  static std::size_t piece_bytes(std::size_t largest) {
    constexpr std::size_t kSmallest = std::size_t{64} << 10;
    constexpr std::size_t kLargest = std::size_t{16} << 20;
    return std::clamp(largest / 4, kSmallest, kLargest);
  }

  std::byte* free_piece() {
    copied_[turn_].synchronize();  // returns at once where nothing was recorded yet
    return pieces_[turn_].data();
  }

  PinnedBuffer<std::byte> pieces_[2];
  Event copied_[2];
  int turn_ = 0;
};

// Rows of `stride` floats, zero beyond `width`, from packed rows of `width`.
inline void upload_rows(Staging& staging, DeviceBuffer<float>& to, const float* packed,
                        std::int64_t width, std::int64_t stride, ThreadTeam& team,
                        cudaStream_t stream) {
  staging.upload(to, team, stream, [&](std::int64_t begin, std::int64_t end, float* out) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % stride;
      *out++ = column < width ? packed[i / stride * width + column] : 0.0F;
    }
  });
}

}  // namespace mf::cuda
