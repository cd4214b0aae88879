// Small matrices for tests, from triples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::test {

// The labels label(0), label(1), ... of so many ratings.
template <class Label>
AlignedVector<std::uint8_t> labels_by(std::int64_t count, const Label& label) {
  AlignedVector<std::uint8_t> labels(count);
  for (std::int64_t k = 0; k < count; ++k) labels[k] = static_cast<std::uint8_t>(label(k));
  return labels;
}

// From a normal distribution around 0.
inline std::vector<double> normals(Rng& rng, std::int32_t count, double deviation) {
  std::vector<double> numbers;
  for (std::int32_t k = 0; k < count; ++k) numbers.push_back(deviation * rng.normal());
  return numbers;
}

// The ids of a side: first, first + step, ...
struct Ids {
  std::int32_t first = 0, step = 1;
};

// The triples are ordered by user, then item; rows and columns may be empty.
inline Ratings ratings_of(std::int32_t users, std::int32_t items, const std::vector<Rating>& list,
                          Ids of_users = {}, Ids of_items = {}) {
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
  for (std::int32_t u = 0; u < users; ++u) a.user_ids.push_back(of_users.first + of_users.step * u);
  for (std::int32_t i = 0; i < items; ++i) a.item_ids.push_back(of_items.first + of_items.step * i);
  return Ratings(std::move(a));
}

// A planted model of rank 3 around 3.5, its factors and the noise of these standard deviations;
// every pair with probability `density`, but user 1 and item 2 rate and are rated fully (long
// rows), while user 0 and item 1 have no ratings.
inline Ratings planted(std::int32_t users, std::int32_t items, double density, std::uint64_t seed,
                       double deviation, double noise) {
  Rng rng(seed);
  const auto p = normals(rng, users * 3, deviation);
  const auto q = normals(rng, items * 3, deviation);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const bool full = u == 1 || i == 2;
      if (i == 1 || (!full && rng.uniform() >= density)) continue;
      double value = 3.5 + noise * rng.normal();
      for (std::int64_t k = 0; k < 3; ++k) value += p[u * 3 + k] * q[i * 3 + k];
      list.push_back({u, i, static_cast<float>(value)});
    }
  }
  return ratings_of(users, items, list);
}

// A copy, to change it or to outlive the ratings.
inline Ratings::Arrays arrays_of(const Ratings& r) {
  Ratings::Arrays a;
  const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(r.users(), a.users);
  copy(r.items(), a.items);
  copy(r.values(), a.values);
  copy(r.user_offsets(), a.user_offsets);
  copy(r.user_ids(), a.user_ids);
  copy(r.item_ids(), a.item_ids);
  return a;
}

using Triple = std::tuple<std::int32_t, std::int32_t, float>;

inline std::vector<Triple> triples(const Ratings& ratings) {
  std::vector<Triple> all;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    all.emplace_back(ratings[k].user, ratings[k].item, ratings[k].value);
  }
  return all;
}

// Starts of rows of these lengths, and the end of the last.
inline std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

// Each user has one rating from 1 to 5, and each item: whatever the order of the updates, SGD gives
// the same numbers.
inline Ratings paired_ratings(std::int32_t count) {
  std::vector<std::int32_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  Rng rng(11);
  std::shuffle(items.begin(), items.end(), rng);
  std::vector<Rating> list;
  for (std::int32_t user = 0; user < count; ++user) {
    list.push_back({user, items[user], static_cast<float>(1 + 4 * rng.uniform())});
  }
  return ratings_of(count, count, list);
}

}  // namespace mf::test
