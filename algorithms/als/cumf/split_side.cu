// 8 bytes of a rating read and 8 written.
#include "algorithms/als/cumf/split_side.hpp"

#include <utility>

#include "algorithms/als/residual.cuh"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/walk_rows.cuh"
#include "algorithms/core/sort_limits.hpp"

namespace mf::als {
namespace {

template <bool kOfUsers>
struct Split : cuda::RowVisitor {
  DeviceResidual center;
  std::int32_t* others;
  float* values;

  __device__ void operator()(std::int64_t row, std::int64_t i, RowRating rating) {
    others[i] = rating.other;
    values[i] = residual_of<kOfUsers>(center, row, rating);
  }
};

struct SplitRatings {
  const std::int32_t* others;
  float* values;
  __device__ std::int32_t other(std::int64_t i) const { return others[i]; }
  __device__ void add(std::int64_t i, float change) { values[i] += change; }
};

}  // namespace

void change_bias(const std::int32_t* others, float* values, std::int64_t nnz, const float* old_bias,
                 const float* bias, cudaStream_t stream) {
  change_ratings(SplitRatings{others, values}, nnz, old_bias, bias, stream);
}

SplitSide split_side(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                     cudaStream_t stream) {
  SplitSide made{cuda::DeviceBuffer<std::int32_t>(rows.nnz), cuda::DeviceBuffer<float>(rows.nnz),
                 rows.offsets, rows.rows, 0};
  constexpr const char* kName = "als split_side";
  std::int32_t* others = made.others.data();
  float* values = made.values.data();
  if (of_users) {
    cuda::walk_ratings(rows, Split<true>{{}, center, others, values}, kName, stream);
  } else {
    cuda::walk_ratings(rows, Split<false>{{}, center, others, values}, kName, stream);
  }
  return made;
}

SplitSides split_sides(cuda::DeviceRatings& ratings, const DeviceResidual& center,
                       cudaStream_t stream) {
  SplitSides made;
  made.items = split_side(ratings.columns(stream), false, center, stream);
  ratings.release_columns();
  made.users = split_side(ratings.rows(), true, center, stream);
  ratings.release_rows();
  return made;
}

SplitSides split_sides(cuda::RankRatings& ratings, const DeviceResidual& center,
                       cudaStream_t stream) {
  const std::int64_t first_user = ratings.own_users().begin;
  const std::int64_t first_item = ratings.own_items().begin;
  SplitSides made;
  made.items = split_side(ratings.columns(stream), false, center.from(0, first_item), stream);
  made.items.first_row = first_item;
  ratings.release_columns();
  made.users = split_side(ratings.rows(), true, center.from(first_user, 0), stream);
  made.users.first_row = first_user;
  ratings.release_rows();
  return made;
}

namespace {

// `rows` turned round: their others become rows. Its offsets are moved to `offsets`.
SplitSide turned(const cuda::RatingsOfRows& rows, std::int64_t others, bool to_users,
                 const DeviceResidual& center, cuda::DeviceBuffer<std::int64_t>& offsets,
                 cudaStream_t stream) {
  cuda::DeviceColumns columns = cuda::make_columns(rows, others, kSortAtOnce, stream);
  offsets = std::move(columns.offsets);
  SplitSide made = split_side({offsets.data(), columns.ratings.data(), others, rows.nnz}, to_users,
                              center, stream);
  MF_CUDA(cudaStreamSynchronize(stream));  // the columns end
  return made;
}

}  // namespace

ReducedSides reduced_sides(cuda::RankRatings& ratings, std::int64_t n_users,
                           const DeviceResidual& center, cudaStream_t stream) {
  const auto n_items = ratings.item_offsets().size() - 1;
  const cuda::RatingsOfRows columns = ratings.columns(stream);
  ReducedSides made;
  made.sides.items = turned(ratings.rows(), n_items, false,
                            center.from(ratings.own_users().begin, 0), made.item_offsets, stream);
  ratings.release_rows();
  made.sides.users = turned(columns, n_users, true, center.from(0, ratings.own_items().begin),
                            made.user_offsets, stream);
  ratings.release_columns();
  return made;
}

}  // namespace mf::als
