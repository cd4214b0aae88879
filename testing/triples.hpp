// Small matrices for tests, from triples.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::test {

// From a normal distribution around 0.
inline std::vector<double> normals(Rng& rng, std::int32_t count, double deviation) {
  std::vector<double> numbers;
  for (std::int32_t k = 0; k < count; ++k) numbers.push_back(deviation * rng.normal());
  return numbers;
}

// The triples are ordered by user, then item; rows and columns may be empty.
inline Ratings ratings_of(std::int32_t users, std::int32_t items, const std::vector<Rating>& list) {
  Ratings::Arrays a;
  a.user_offsets.assign(static_cast<std::size_t>(users) + 1, 0);
  for (const Rating& r : list) {
    a.users.push_back(r.user);
    a.items.push_back(r.item);
    a.values.push_back(r.value);
    ++a.user_offsets[r.user + 1];
  }
  for (std::int32_t u = 0; u < users; ++u) {
    a.user_offsets[u + 1] += a.user_offsets[u];
  }
  for (std::int32_t u = 0; u < users; ++u) a.user_ids.push_back(u);
  for (std::int32_t i = 0; i < items; ++i) a.item_ids.push_back(i);
  return Ratings(std::move(a));
}

}  // namespace mf::test
