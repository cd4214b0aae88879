#include "algorithms/core/cuda/ratings/device_ratings.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/sort_limits.hpp"

namespace mf::cuda {

DeviceRatings::DeviceRatings(const Ratings& from, ThreadTeam& team, cudaStream_t stream)
    : n_users_(from.n_users()), n_items_(from.n_items()), nnz_(from.nnz()) {
  Uploader uploader(team, stream);
  user_offsets_ = uploader.array(from.user_offsets());
  RowPieces all;
  all.pieces = {{from.items(), from.values()}};
  ratings_ = uploader.row_ratings(all, from);
}

RatingsOfRows DeviceRatings::rows() const {
  return {user_offsets_.data(), ratings_.data(), n_users_, nnz_};
}

template <class Make>
void DeviceRatings::make_view(ViewCost& cost, cudaStream_t stream, Make&& make) {
  cost.asked = true;
  if (cost.made) return;
  using Clock = std::chrono::steady_clock;
  if (kept_) MF_CUDA(cudaStreamSynchronize(stream));
  const auto start = Clock::now();
  make();
  if (kept_) MF_CUDA(cudaStreamSynchronize(stream));
  cost.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  cost.made = true;  // not if making it has thrown: the next case tries again
}

RatingsOfRows DeviceRatings::columns(cudaStream_t stream) {
  make_view(columns_cost_, stream, [&] {
    DeviceColumns made = make_columns(rows(), n_items_, kSortAtOnce, stream);
    item_offsets_ = std::move(made.offsets);
    columns_ = std::move(made.ratings);
  });
  return {item_offsets_.data(), columns_.data(), n_items_, nnz_};
}

const std::int64_t* DeviceRatings::item_counts(cudaStream_t stream) {
  make_view(counts_cost_, stream, [&] {
    item_counts_ = DeviceBuffer<std::int64_t>(n_items_);
    if (item_offsets_.empty()) {
      count_items(rows(), item_counts_.data(), n_items_, stream);
    } else {
      count_rows(item_offsets_.data(), item_counts_.data(), n_items_, stream);
    }
  });
  return item_counts_.data();
}

std::int64_t DeviceRatings::rating_users(cudaStream_t stream) {
  if (!rating_users_) rating_users_ = count_rated_rows(user_offsets_.data(), n_users_, stream);
  return *rating_users_;
}

std::int64_t DeviceRatings::rated_items(cudaStream_t stream) {
  if (!rated_items_) rated_items_ = count_positive(item_counts(stream), n_items_, stream);
  return *rated_items_;
}

void DeviceRatings::release_rows() {
  if (!kept_) ratings_.reset();
}

void DeviceRatings::release_columns() {
  if (kept_) return;
  columns_.reset();  // their offsets stay, for the counts
  columns_cost_.made = false;
}

std::shared_ptr<DeviceRatings> ratings_on_device(const Ratings& train, const Context& context) {
  if (context.ratings == nullptr) {
    const PhaseScope phase(context.phases, "transfer");
    return std::make_shared<DeviceRatings>(train, *context.team, context.stream);
  }
  const DeviceRatings& lent = *context.ratings;
  if (lent.n_users() != train.n_users() || lent.n_items() != train.n_items() ||
      lent.nnz() != train.nnz()) {
    throw std::logic_error("the ratings on the device are not those of the case");
  }
  return {context.ratings, [](DeviceRatings*) {}};
}

}  // namespace mf::cuda
