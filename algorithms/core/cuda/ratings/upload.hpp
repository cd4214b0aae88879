// Arrays from the host to the device, unchanged or rearranged on the way (padded rows, packed
// pairs): threads fill pieces of pinned memory while others are being copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/pinned_ring.hpp"
#include "algorithms/core/cuda/ratings/unpack.hpp"
#include "algorithms/core/pinned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::cuda {

// All copies are queued on the stream when a call returns; their sources may change or end then.
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
    const std::int64_t piece = bytes_at_once(count * element) / element;
    in_pieces<T>(
        count, piece, [](std::int64_t size) { return size; }, fill,
        [&](const T* from, std::int64_t begin, std::int64_t size) {
          MF_CUDA(cudaMemcpyAsync(to.data() + begin, from, static_cast<std::size_t>(size * element),
                                  cudaMemcpyHostToDevice, stream_));
        });
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

  // Rows in pieces, one after another. Pieces in the memory of `own` go in their packed form
  // (Ratings::packed); all others are packed on the way.
  DeviceBuffer<RowRating> row_ratings(const RowPieces& rows, const Ratings& own) {
    DeviceBuffer<RowRating> to(rows.count());
    RatingPacker packer(own.n_items());
    for (const auto& piece : rows.pieces) {
      if (place_in_packed(own, piece) < 0) packer.look_at(piece.values, *team_);
    }
    RowRating* next = to.data();
    for (const auto& piece : rows.pieces) {
      const std::int64_t place = place_in_packed(own, piece);
      place < 0 ? send(packer, piece, next) : send(*own.packed(), place, piece.values.size(), next);
      next += piece.values.size();
    }
    return to;
  }

  // All of them, by user and item. Users come from the rows, as their column may not be made.
  DeviceBuffer<Rating> ratings(const Ratings& from) {
    const auto offsets = from.user_offsets();
    return filled<Rating>(from.nnz(), [&](std::int64_t begin, std::int64_t end, Rating* out) {
      const auto* row_end = std::upper_bound(offsets.begin(), offsets.end(), begin);
      for (std::int64_t i = begin; i < end; ++i) {
        while (*row_end <= i) ++row_end;
        const auto user = static_cast<std::int32_t>(row_end - offsets.begin() - 1);
        *out++ = {user, from.items()[i], from.values()[i]};
      }
    });
  }

  ThreadTeam& team() const { return *team_; }
  cudaStream_t stream() const { return stream_; }

 private:
  static constexpr std::int64_t kSmallest = 64 << 10;
  static constexpr std::int64_t kChunk = 1 << 16;  // elements that a thread fills at a time

  // Some pieces are filled while others are copied; but each is a launch.
  static std::int64_t bytes_at_once(std::int64_t all) {
    return std::clamp(all / 8, kPinnedPieceBytes / 4, kPinnedPieceBytes);
  }

  // Fills `piece` elements at a time, which lie in words_of(piece) of T, and sends them by
  // send(words, begin, count), in any order.
  template <class T, class WordsOf, class Fill, class Send>
  void in_pieces(std::int64_t count, std::int64_t piece, const WordsOf& words_of, const Fill& fill,
                 const Send& send) {
    const std::int64_t pieces = (count + piece - 1) / piece;
    const std::int64_t parts = (piece + kChunk - 1) / kChunk;  // of each piece but the last
    const int device = current_device();
    PinnedRing::Upload ring(of_device<PinnedRing>(),
                            words_of(count) * static_cast<std::int64_t>(sizeof(T)), pieces);
    const auto fill_part = [&](std::int64_t part) {
      const std::int64_t number = part / parts, begin = number * piece;
      const std::int64_t size = std::min(piece, count - begin), from = part % parts * kChunk;
      // To ask about a copy, too: a thread that has chosen no device would start device 0 for it.
      MF_CUDA(cudaSetDevice(device));
      T* out = reinterpret_cast<T*>(ring.memory(number));
      fill(begin + from, begin + std::min(from + kChunk, size), out + words_of(from));
      if (!ring.is_filled(number, (size + kChunk - 1) / kChunk)) return;
      send(out, begin, size);
      ring.sent(number, stream_);
    };
    const std::int64_t last = count - (pieces - 1) * piece;
    team_->for_chunks((pieces - 1) * parts + (last + kChunk - 1) / kChunk, 1,
                      [&](std::int64_t part, std::int64_t) {
                        try {
                          fill_part(part);
                        } catch (...) {
                          ring.give_up();
                          throw;
                        }
                      });
  }

  // The start of a piece among the packed ratings; -1: it is not one of them.
  static std::int64_t place_in_packed(const Ratings& own, const RowPieces::Piece& piece) {
    const auto all = own.items();
    const std::less<> before;
    const bool within = own.packed() != nullptr && !before(piece.items.data(), all.data()) &&
                        !before(all.data() + all.size(), piece.items.data() + piece.items.size());
    return within ? piece.items.data() - all.data() : -1;
  }

  void send(const PackedRatings& packed, std::int64_t first, std::int64_t count, RowRating* to) {
    const std::int64_t skipped = first % kPackedBlock;  // of the block in which they begin
    const std::uint64_t* from = packed.words.data() + packed.form.words(first - skipped);
    unpack(
        packed.form, packed.table, skipped, count,
        [&](std::int64_t begin, std::int64_t end, std::uint64_t* words) {
          std::copy(from + packed.form.words(begin), from + packed.form.words(end), words);
        },
        to);
  }

  void send(const RatingPacker& packer, const RowPieces::Piece& piece, RowRating* to) {
    unpack(
        packer.form(), packer.table(), 0, piece.values.size(),
        [&](std::int64_t begin, std::int64_t end, std::uint64_t* words) {
          packer.pack(piece.items.data() + begin, piece.values.data() + begin, end - begin, words);
        },
        to);
  }

  // `count` packed ratings behind `skipped` ones, as fill(begin, end, words) writes them all:
  // `begin` is a block's. The device reads them in the pinned memory.
  template <class Fill>
  void unpack(const PackedForm& form, View<const float> table, std::int64_t skipped,
              std::int64_t count, const Fill& fill, RowRating* to) {
    const std::int64_t all = skipped + count;
    const std::int64_t bytes = bytes_at_once(form.words(all) * std::int64_t{sizeof(std::uint64_t)});
    const std::int64_t piece =
        std::max(kChunk, bytes * 8 / std::max(1, form.bits()) / kChunk * kChunk);
    in_pieces<std::uint64_t>(
        all, piece, [&](std::int64_t size) { return form.words(size); }, fill,
        [&](const std::uint64_t* words, std::int64_t begin, std::int64_t size) {
          const std::int64_t skip = begin == 0 ? skipped : 0;
          unpack_ratings(form, table, words, skip, size, to + (begin + skip - skipped), stream_);
        });
  }

  ThreadTeam* team_;
  cudaStream_t stream_;
};

}  // namespace mf::cuda
