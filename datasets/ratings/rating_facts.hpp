// Facts of a training part that many ask for, found in one go by all threads: its level, who has
// ratings, how many each item has. Made once for a split and lent to all its cases.
//
// Work: three passes over the values or the items and one over the offsets; memory-bound, 12 bytes
// a rating in all. The same numbers for any number of threads: partial sums cover fixed chunks and
// are added in order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct RatingFacts {
  double mean = 0;       // of the values; 0 without ratings
  double deviation = 0;  // standard, about the mean, of all ratings: divided by their number
  // One byte a user or item: has it a rating?
  std::vector<std::uint8_t> known_user;
  std::vector<std::uint8_t> known_item;
  // n + 1 offsets of the column view (Csc); item i has item_offsets[i + 1] - item_offsets[i]
  // ratings.
  AlignedVector<std::int64_t> item_offsets;
  std::int64_t rating_users = 0;  // users with a rating
  std::int64_t rated_items = 0;   // items with a rating
};

RatingFacts facts_of(const Ratings& ratings, ThreadTeam& team);
RatingFacts facts_of(const Ratings& ratings, int threads);
// For the ratings of all ranks: the same numbers to the last bit. All ranks together.
RatingFacts facts_of(const RatingSlice& slice, Communicator& ranks, ThreadTeam& team);

// For the values, as in RatingFacts, if nothing else is asked for.
struct MeanAndDeviation {
  double mean = 0;
  double deviation = 0;
};
MeanAndDeviation mean_and_deviation(const Ratings& ratings, ThreadTeam& team);

// Ratings with a value above 0, which implicit feedback calls observed, of each user and item.
struct ObservedCounts {
  AlignedVector<std::int64_t> of_user;
  AlignedVector<std::int64_t> of_item;
};
ObservedCounts count_observed(const Ratings& ratings, ThreadTeam& team);

}  // namespace mf
