// The training ratings of a rank, however they were loaded.
#pragma once

#include <memory>

#include "algorithms/core/algorithm.hpp"
#include "datasets/ratings/rating_slice.hpp"

namespace mf {

// Of a case of several ranks: what the harness lends, or the rows of this rank of a whole `train`.
inline std::shared_ptr<const RatingSlice> slice_of_rank(const Ratings& train,
                                                        const Context& context) {
  if (context.slice != nullptr) return {std::shared_ptr<const void>(), context.slice};
  return std::make_shared<const RatingSlice>(slice_of(train, *context.ranks, *context.team));
}

// Over all ranks.
inline std::int64_t all_ratings(const Ratings& train, const Context& context) {
  return context.slice != nullptr ? context.slice->nnz() : train.nnz();
}

// Where the rows of all ranks begin.
inline View<const std::int64_t> all_user_offsets(const Ratings& train, const Context& context) {
  return context.slice != nullptr ? View<const std::int64_t>(context.slice->user_offsets)
                                  : train.user_offsets();
}

}  // namespace mf
