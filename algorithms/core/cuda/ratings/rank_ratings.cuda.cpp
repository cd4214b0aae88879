#include "algorithms/core/cuda/ratings/rank_ratings.hpp"

#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/ratings/join_columns.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/sort_limits.hpp"

namespace mf::cuda {
namespace {

template <class T>
std::int64_t bytes_of(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T));
}

// Starts of each rank's columns among the sorted ratings of each rank.
class Begins {
 public:
  Begins(const AlignedVector<std::int64_t>& own_offsets, const RowShards& items,
         Communicator& ranks)
      : ranks_(ranks.size()), all_(std::int64_t{ranks_} * (ranks_ + 1)) {
    PartOffsets parts;
    for (int rank = 0; rank <= ranks_; ++rank) parts.push_back(std::int64_t{rank} * (ranks_ + 1));
    for (int to = 0; to < ranks_; ++to) at(ranks.rank(), to) = own_offsets[items.own(to).begin];
    at(ranks.rank(), ranks_) = own_offsets.back();
    ranks.all_gather(std::span(all_), parts);
  }

  std::int64_t first(int of, int in_columns_of) const {
    return all_[std::int64_t{of} * (ranks_ + 1) + in_columns_of];
  }
  std::int64_t count(int of, int in_columns_of) const {
    return first(of, in_columns_of + 1) - first(of, in_columns_of);
  }

 private:
  std::int64_t& at(int of, int in_columns_of) {
    return all_[std::int64_t{of} * (ranks_ + 1) + in_columns_of];
  }

  int ranks_;
  std::vector<std::int64_t> all_;
};

// The columns of this rank as each rank has sorted its ratings of them. Their offsets count from
// the first of all columns of that rank.
struct Pieces {
  std::int64_t columns = 0;
  DeviceBuffer<std::int64_t> offsets;     // columns + 1 of each rank
  DeviceBuffer<RowRating> received;       // of the other ranks
  std::vector<const RowRating*> ratings;  // of each rank
  std::vector<std::int64_t> counts;       // of each rank

  Pieces(std::int64_t of_columns, int ranks, std::int64_t to_receive)
      : columns(of_columns), offsets(ranks * (of_columns + 1)), received(to_receive) {}

  std::int64_t* offsets_of(int rank) { return offsets.data() + rank * (columns + 1); }
  RatingsOfRows of(int rank) { return {offsets_of(rank), ratings[rank], columns, counts[rank]}; }
};

// Queued; this rank's own piece stays in `sorted`.
Pieces exchange_pieces(DeviceColumns& sorted, const RowShards& items, const Begins& begins,
                       DeviceCommunicator& devices, cudaStream_t stream) {
  const int rank = devices.rank();
  std::int64_t to_receive = 0;
  for (int other = 0; other < devices.size(); ++other) {
    if (other != rank) to_receive += begins.count(other, rank);
  }
  const RowRange own = items.own(rank);
  Pieces pieces(own.size(), devices.size(), to_receive);
  std::vector<DevicePiece> offsets_out, offsets_in, ratings_out, ratings_in;
  RowRating* next = pieces.received.data();
  for (int other = 0; other < devices.size(); ++other) {
    const std::int64_t offset_bytes = bytes_of<std::int64_t>(own.size() + 1);
    const std::int64_t count = begins.count(other, rank);
    pieces.counts.push_back(count);
    if (other == rank) {
      MF_CUDA(cudaMemcpyAsync(pieces.offsets_of(rank), sorted.offsets.data() + own.begin,
                              static_cast<std::size_t>(offset_bytes), cudaMemcpyDeviceToDevice,
                              stream));
      pieces.ratings.push_back(sorted.ratings.data() + begins.first(rank, rank));
      continue;
    }
    const RowRange theirs = items.own(other);
    offsets_out.push_back(
        {other, sorted.offsets.data() + theirs.begin, bytes_of<std::int64_t>(theirs.size() + 1)});
    ratings_out.push_back({other, sorted.ratings.data() + begins.first(rank, other),
                           bytes_of<RowRating>(begins.count(rank, other))});
    offsets_in.push_back({other, pieces.offsets_of(other), offset_bytes});
    ratings_in.push_back({other, next, bytes_of<RowRating>(count)});
    pieces.ratings.push_back(next);
    next += count;
  }
  devices.exchange(offsets_out, offsets_in, stream);
  devices.exchange(ratings_out, ratings_in, stream);
  return pieces;
}

}  // namespace

RankRatings::RankRatings(const Ratings& train, const Context& context, const ShardRule& cut_users,
                         const ShardRule& cut_items, DeviceCommunicator& devices)
    : devices_(&devices),
      phases_(context.phases),
      n_items_(train.n_items()),
      nnz_(all_ratings(train, context)) {
  {
    const PhaseScope phase(context.phases, "cut_rows");
    users_ = cut_users(all_user_offsets(train, context));
  }
  upload(train, context);
  if (const RatingSlice* const slice = lent_slice(context)) {
    item_offsets_ = slice->item_offsets;
  } else {
    count_all_items(context.stream);
  }
  const PhaseScope phase(context.phases, "cut_rows");
  items_ = cut_items(View<const std::int64_t>(item_offsets_));
}

// The rows of this rank's users: of a whole `train` they are at hand.
RowPieces RankRatings::own_pieces(const Ratings& train, const Context& context) const {
  if (const RatingSlice* slice = lent_slice(context)) {
    PartOffsets cuts = {0};
    for (int rank = 0; rank < devices_->size(); ++rank) cuts.push_back(users_.own(rank).end);
    return exchange_rows(*slice, cuts, *context.ranks->group);
  }
  const std::int64_t first = train.user_offsets()[own_users().begin];
  const std::int64_t last = train.user_offsets()[own_users().end];
  RowPieces rows;
  rows.pieces = {{train.items().part(first, last), train.values().part(first, last)}};
  return rows;
}

void RankRatings::upload(const Ratings& train, const Context& context) {
  const PhaseScope phase(context.phases, "transfer");
  const RowRange own = own_users();
  const View<const std::int64_t> offsets = all_user_offsets(train, context);
  const std::int64_t first = offsets[own.begin];
  const std::int64_t last = offsets[own.end];
  const RowPieces rows = [&] {
    const PhaseScope moved(context.phases, "move_rows");
    return own_pieces(train, context);
  }();
  Uploader uploader(*context.team, context.stream);
  user_offsets_ = uploader.filled<std::int64_t>(
      own.size() + 1, [&](std::int64_t begin, std::int64_t end, std::int64_t* out) {
        for (std::int64_t row = begin; row < end; ++row) *out++ = offsets[own.begin + row] - first;
      });
  ratings_ = uploader.row_ratings(rows, train);
  own_rows_ = {user_offsets_.data(), ratings_.data(), own.size(), last - first};
}

void RankRatings::count_all_items(cudaStream_t stream) {
  DeviceBuffer<std::int64_t> counts(n_items_);
  count_items(own_rows_, counts.data(), n_items_, stream);
  devices_->all_sum(counts.data(), n_items_, stream);
  devices_->wait(stream);
  item_offsets_.assign(std::int64_t{n_items_} + 1, 0);
  download(View<std::int64_t>(item_offsets_).part(1, n_items_ + 1), counts.data(), stream);
  for (std::int64_t item = 0; item < n_items_; ++item)
    item_offsets_[item + 1] += item_offsets_[item];
}

RatingsOfRows RankRatings::columns(cudaStream_t stream) {
  if (own_columns_.offsets != nullptr) return own_columns_;
  const PhaseScope phase(phases_, "columns");
  const RowRange own = own_items();
  DeviceColumns sorted = make_columns(own_rows_, n_items_, kSortAtOnce, stream);
  AlignedVector<std::int64_t> sorted_offsets(std::int64_t{n_items_} + 1);
  download(View<std::int64_t>(sorted_offsets), sorted.offsets.data(), stream);
  const Begins begins(sorted_offsets, items_, devices_->host());

  Pieces pieces = exchange_pieces(sorted, items_, begins, *devices_, stream);
  devices_->wait(stream);

  AlignedVector<std::int64_t> own_offsets;
  for (std::int64_t item = own.begin; item <= own.end; ++item) {
    own_offsets.push_back(item_offsets_[item] - item_offsets_[own.begin]);
  }
  column_offsets_ = mf::cuda::upload(View<const std::int64_t>(own_offsets), stream);
  auto next = mf::cuda::upload(View<const std::int64_t>(own_offsets), stream);
  columns_ = DeviceBuffer<RowRating>(own_offsets.back());
  for (int of = 0; of < devices_->size(); ++of) {
    shift_offsets(pieces.offsets_of(of), own.size() + 1, -begins.first(of, devices_->rank()),
                  stream);
    append_columns(pieces.of(of), users_.own(of).begin, next.data(), columns_.data(), stream);
  }
  MF_CUDA(cudaStreamSynchronize(stream));  // the pieces end
  own_columns_ = {column_offsets_.data(), columns_.data(), own.size(), own_offsets.back()};
  return own_columns_;
}

}  // namespace mf::cuda
