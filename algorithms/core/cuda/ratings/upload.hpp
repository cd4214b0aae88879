// Arrays from the host to the device, as they are or rearranged on the way (padded rows, packed
// pairs): threads fill one pinned piece while the other is being copied.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/pinned_ring.hpp"
#include "algorithms/core/pinned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cuda {

// All copies are queued on the stream when a call returns; what they come from may change or end
// then.
class Uploader {
 public:
  Uploader(ThreadTeam& team, cudaStream_t stream) : team_(&team), stream_(stream) {}
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  template <class T>
  DeviceBuffer<T> array(View<const T> from) {
    if (static_cast<std::int64_t>(from.size_bytes()) <= kSmallest) return upload(from, stream_);
    return filled<T>(from.size(), [&](std::int64_t begin, std::int64_t end, T* out) {
      std::copy(from.begin() + begin, from.begin() + end, out);
    });
  }

  // `count` elements as fill(begin, end, out) writes them: out[0] is element `begin`. `fill` is
  // called by the threads of the team.
  template <class T, class Fill>
  DeviceBuffer<T> filled(std::int64_t count, Fill&& fill) {
    DeviceBuffer<T> to(count);
    const auto element = static_cast<std::int64_t>(sizeof(T));
    // Even of a small array one piece is filled while the other is copied.
    const std::int64_t piece =
        std::clamp(count * element / 4, kSmallest, kPinnedPieceBytes) / element;
    PinnedRing& ring = PinnedRing::of_process();
    const auto held = ring.lock();
    for (std::int64_t begin = 0; begin < count; begin += piece) {
      const std::int64_t size = std::min(piece, count - begin);
      T* out = reinterpret_cast<T*>(ring.take(size * element));
      team_->for_chunks(size, kChunk, [&](std::int64_t from, std::int64_t end) {
        fill(begin + from, begin + end, out + from);
      });
      MF_CUDA(cudaMemcpyAsync(to.data() + begin, out, static_cast<std::size_t>(size * element),
                              cudaMemcpyHostToDevice, stream_));
      ring.sent(stream_);
    }
    return to;
  }

  // Rows of `stride` numbers, zero beyond `width`, from packed rows of `width`.
  template <class Real = float>
  DeviceBuffer<Real> rows(View<const float> packed, std::int64_t width, std::int64_t stride) {
    const std::int64_t count = packed.size() / width;
    return filled<Real>(count * stride, [&](std::int64_t begin, std::int64_t end, Real* out) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % stride;
        *out++ = column < width ? static_cast<Real>(packed[i / stride * width + column]) : Real{0};
      }
    });
  }

  // The ratings of the rows (or columns) one after another.
  DeviceBuffer<RowRating> row_ratings(View<const std::int32_t> others, View<const float> values) {
    return filled<RowRating>(others.size(),
                             [&](std::int64_t begin, std::int64_t end, RowRating* out) {
                               for (std::int64_t i = begin; i < end; ++i)
                                 *out++ = {others[i], values[i]};
                             });
  }

  // Of rows in pieces, one after another.
  DeviceBuffer<RowRating> row_ratings(const RowPieces& rows) {
    return filled<RowRating>(rows.count(),
                             [&](std::int64_t begin, std::int64_t end, RowRating* out) {
                               std::int64_t first = 0;  // of the piece
                               for (const RowPieces::Piece& piece : rows.pieces) {
                                 const std::int64_t from = std::max(begin, first);
                                 const std::int64_t to = std::min(end, first + piece.items.size());
                                 for (std::int64_t i = from; i < to; ++i)
                                   *out++ = {piece.items[i - first], piece.values[i - first]};
                                 first += piece.items.size();
                               }
                             });
  }

  // All of them, by user and item.
  DeviceBuffer<Rating> ratings(const Ratings& from) {
    return filled<Rating>(from.nnz(), [&](std::int64_t begin, std::int64_t end, Rating* out) {
      for (std::int64_t i = begin; i < end; ++i) *out++ = from[i];
    });
  }

  ThreadTeam& team() const { return *team_; }
  cudaStream_t stream() const { return stream_; }

 private:
  static constexpr std::int64_t kSmallest = 64 << 10;
  static constexpr std::int64_t kChunk = 1 << 16;  // elements that a thread fills at a time

  ThreadTeam* team_;
  cudaStream_t stream_;
};

}  // namespace mf::cuda
