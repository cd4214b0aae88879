// A real set enlarged to published sizes by its own structure, as Belletti et al. 2019 ("Scalable
// Realistic Recommendation Datasets through Fractal Expansions") do: a Kronecker product of a small
// matrix, reduced from the real one, with the real one. Every user and item stands as often as
// there are blocks; each block keeps a part of the real set's pairs. Values are drawn anew, see the
// README of `datasets`.
#pragma once

#include <cstdint>

#include "datasets/ratings/dataset.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf {

struct Expansion {
  std::int64_t users = 1;  // how many of each user
  std::int64_t items = 1;  // and of each item
  std::uint64_t seed = 1;
};

inline constexpr std::int64_t kMaxExpansion = 100'000;  // of users, and of items

// Users, items and ratings of the expansion of a set of this shape, without making it. Ratings of a
// user grow as the seventh root of the items: 1.26 times as many for five times the items. Throws
// Error(usage) if there would be more blocks than users or items, or if an index would overflow.
Shape expanded_shape(const Shape& base, const Expansion& how);

// The same bytes for any number of threads. Nothing but the result grows with its ratings; the
// base, which must have a rating, takes 20 bytes more for each of its ratings. Warns if its median
// user has fewer than ten.
Dataset make_expansion(const Dataset& base, const Expansion& how, int threads);

}  // namespace mf
