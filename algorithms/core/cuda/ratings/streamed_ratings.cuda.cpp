#include "algorithms/core/cuda/ratings/streamed_ratings.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/core/cuda/ratings/unpack.hpp"
#include "base/host/huge_pages.hpp"
#include "base/json/json.hpp"

namespace mf::cuda {

PinnedPages::PinnedPages(View<const std::uint64_t> words) {
  if (words.size_bytes() < kLargeArray) return;
  void* const first = const_cast<std::uint64_t*>(words.data());
  MF_CUDA(cudaHostRegister(first, words.size_bytes(), cudaHostRegisterDefault));
  pinned_ = first;
}

PinnedPages::~PinnedPages() {
  if (pinned_ != nullptr) cudaHostUnregister(pinned_);
}

StreamedRatings::StreamedRatings(const Ratings& train, const PieceRule& rule, ThreadTeam& team,
                                 cudaStream_t stream)
    : n_users_(train.n_users()),
      n_items_(train.n_items()),
      nnz_(train.nnz()),
      users_{pack_rows(train, team)},
      items_{pack_columns(train, team)} {
  const int bits = std::max(users_.order.packed->form.bits(), items_.order.packed->form.bits());
  const std::int64_t longest = std::max(users_.order.longest_row(), items_.order.longest_row());
  const std::int64_t most = piece_ratings(
      rule, {nnz_, longest, static_cast<double>(sizeof(RowRating)) + kSlots * bits / 8.0});
  std::int64_t ratings = 0, words = 0;
  for (Side* side : {&users_, &items_}) {
    side->offsets = upload(View<const std::int64_t>(side->order.offsets), stream);
    side->order.cut(most);
    for (std::int64_t number = 0; number < side->order.pieces(); ++number) {
      const PackedPiece piece = side->order.piece(number);
      ratings = std::max(ratings, piece.count);
      words = std::max(words, piece.n_words);
    }
  }
  ratings_ = DeviceBuffer<RowRating>(ratings);
  // Kernels read pairs of words, and one behind the last.
  for (Slot& slot : slots_) slot.words = DeviceBuffer<std::uint64_t>(words + 2);
}

Json StreamedRatings::facts() const {
  return {{"memory", "streamed"},
          {"user_pieces", users_.order.pieces()},
          {"item_pieces", items_.order.pieces()},
          {"streamed_bytes", users_.order.packed->bytes() + items_.order.packed->bytes()},
          {"ring_bytes", ratings_.bytes() + kSlots * slots_[0].words.bytes()}};
}

StreamedRatings::Piece StreamedRatings::bring(RowsOf which, std::int64_t number,
                                              cudaStream_t stream) {
  const PackedOrder& order = side(which).order;
  const PackedPiece piece = order.piece(number);
  if (piece.count > 0) {
    Slot& slot = slots_[brought_++ % kSlots];
    MF_CUDA(cudaStreamWaitEvent(copies_.get(), slot.unpacked.get(), 0));
    MF_CUDA(cudaMemcpyAsync(slot.words.data(), piece.words,
                            static_cast<std::size_t>(piece.n_words) * sizeof(std::uint64_t),
                            cudaMemcpyHostToDevice, copies_.get()));
    slot.copied.record(copies_.get());
    MF_CUDA(cudaStreamWaitEvent(stream, slot.copied.get(), 0));
    unpack_ratings(order.packed->form, order.packed->table, slot.words.data(), piece.skip,
                   piece.skip + piece.count, ratings_.data(), stream);
    slot.unpacked.record(stream);
  }
  RatingsOfRows rows{side(which).offsets.data() + piece.first_row, ratings_.data() - piece.first,
                     piece.rows, piece.count, piece.first};
  return {number, piece.first_row, rows, ratings_.data()};
}

std::shared_ptr<StreamedRatings> stream_ratings(const Ratings& train, const PieceRule& rule,
                                                const Context& context) {
  const PhaseScope phase(context.phases, "sides");
  return std::make_shared<StreamedRatings>(train, rule, *context.team, context.stream);
}

}  // namespace mf::cuda
