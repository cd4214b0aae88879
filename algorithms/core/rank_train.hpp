// The training ratings of a rank, however they were loaded.
#pragma once

#include <memory>

#include "algorithms/core/ranks/ranked.hpp"
#include "datasets/ratings/rating_slice.hpp"

namespace mf {

// Null for one rank.
inline Communicator* group_of(const Context& context) {
  return context.ranks != nullptr ? context.ranks->group : nullptr;
}

// Null for one rank, and if `train` is whole.
inline const RatingSlice* lent_slice(const Context& context) {
  return context.ranks != nullptr ? context.ranks->slice : nullptr;
}

// For a case of several ranks: the harness's slice, or this rank's rows of a whole `train`.
inline std::shared_ptr<const RatingSlice> slice_of_rank(const Ratings& train,
                                                        const Context& context) {
  if (const RatingSlice* slice = lent_slice(context)) return {std::shared_ptr<const void>(), slice};
  return std::make_shared<const RatingSlice>(slice_of(train, *context.ranks->group, *context.team));
}

// Over all ranks.
inline std::int64_t all_ratings(const Ratings& train, const Context& context) {
  const RatingSlice* slice = lent_slice(context);
  return slice != nullptr ? slice->nnz() : train.nnz();
}

// Offsets of all ranks' rows.
inline View<const std::int64_t> all_user_offsets(const Ratings& train, const Context& context) {
  const RatingSlice* slice = lent_slice(context);
  return slice != nullptr ? View<const std::int64_t>(slice->user_offsets) : train.user_offsets();
}

}  // namespace mf
