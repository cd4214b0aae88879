// R for a device that cannot hold it: both orders stay packed in the memory of the host, pinned,
// and come in pieces of whole rows, in order, through a ring of buffers.
//
// A piece is copied on a stream of its own while the piece before it is unpacked and solved. The
// floor of a pass over one order is the time that its bytes take on the bus:
//
//   nnz (bits of an index of the other side + bits of a value) / 8      bytes of a pass
//
// A value has the bits of its number, or 32 if there are more than 256 values. A rating of Netflix
// has 18 bits by user and 22 by item, so both passes send 494 MB: 9.1 ms at 54 GB/s.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "algorithms/core/streaming/packed_order.hpp"
#include "algorithms/core/streaming/streaming.hpp"
#include "base/error.hpp"
#include "base/json/json_fwd.hpp"

namespace mf::cuda {

// Page-locks an array for as long as this lives. A small one, which may share its pages with
// another, stays as it is: copies from it are only slower.
class PinnedPages {
 public:
  explicit PinnedPages(View<const std::uint64_t> words);
  ~PinnedPages();
  PinnedPages(const PinnedPages&) = delete;
  PinnedPages& operator=(const PinnedPages&) = delete;

 private:
  void* pinned_ = nullptr;
};

class StreamedRatings {
 public:
  // Packs both orders, cuts them as piece_ratings() says, and allocates the ring. `train` must
  // outlive it. Throws Error(memory) if the longest row does not fit in the ring.
  StreamedRatings(const Ratings& train, const PieceRule& rule, ThreadTeam& team,
                  cudaStream_t stream);

  std::int32_t n_users() const { return n_users_; }
  std::int32_t n_items() const { return n_items_; }
  std::int64_t nnz() const { return nnz_; }
  // Pieces of each order, bytes of a pass over both, and of the ring, for the result's header.
  Json facts() const;

  // As DeviceRatings has them, but only with offsets.
  RatingsOfRows rows() const { return {users_.offsets.data(), nullptr, n_users_, nnz_}; }
  RatingsOfRows columns(cudaStream_t) const {
    return {items_.offsets.data(), nullptr, n_items_, nnz_};
  }
  void release_rows() {}
  void release_columns() {}
  // The pieces as parts of one rank.
  RowShards shards(RowsOf which) const { return {{side(which).order.cuts}}; }

  struct Piece {
    std::int64_t number = 0;
    std::int64_t first_row = 0;
    RatingsOfRows rows;
    RowRating* memory = nullptr;  // of rating rows.first; kernels may overwrite the piece
  };
  // Calls use(piece) for all of them in order. What it queues on the stream finds the ratings
  // there, and must not read them after use() of the next. The host does not wait.
  template <class Use>
  void for_pieces(RowsOf which, cudaStream_t stream, const Use& use) {
    for (std::int64_t number = 0; number < side(which).order.pieces(); ++number) {
      use(bring(which, number, stream));
    }
  }

 private:
  static constexpr int kSlots = 3;  // one is unpacked, one is copied, one evens out the two
  struct Side {
    PackedOrder order;
    PinnedPages pinned{order.packed->words};
    DeviceBuffer<std::int64_t> offsets = {};
  };
  struct Slot {
    DeviceBuffer<std::uint64_t> words;
    Event copied, unpacked;
  };
  const Side& side(RowsOf which) const { return which == RowsOf::users ? users_ : items_; }
  Piece bring(RowsOf which, std::int64_t number, cudaStream_t stream);

  std::int32_t n_users_, n_items_;
  std::int64_t nnz_;
  Side users_, items_;
  DeviceBuffer<RowRating> ratings_;  // of one piece
  Slot slots_[kSlots];
  std::int64_t brought_ = 0;
  Stream copies_;
};

// Packs them in the phase "sides".
std::shared_ptr<StreamedRatings> stream_ratings(const Ratings& train, const PieceRule& rule,
                                                const Context& context);

// Calls resident(), or streamed(rule) if the case is to stream, or if resident() has failed for
// want of memory and it may.
template <class Resident, class Streamed>
void resident_or_streamed(const Streaming& streaming, const StreamingNeed& need,
                          const Resident& resident, const Streamed& streamed) {
  if (tries_resident(streaming, need)) {
    try {
      return resident();
    } catch (const Error& error) {
      const bool may = streaming.memory == RatingMemory::automatic && !need.why_not_streamed;
      if (!may || error.kind() != ErrorKind::memory) throw;
    }
  }
  constexpr double kShare = 0.9;  // the rest is for the evaluation and for libraries
  const double limit = streaming.device_bytes > 0 ? streaming.device_bytes
                                                  : kShare * static_cast<double>(available_bytes());
  streamed(PieceRule{streaming.piece, limit - need.fixed, need.beside});
}

}  // namespace mf::cuda
