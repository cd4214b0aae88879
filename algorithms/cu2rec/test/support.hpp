// Small matrices for the tests of the family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/settings.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::cu2rec {

// Ratings over all m users and n items, also those without any.
inline Ratings make_matrix(std::int32_t m, std::int32_t n,
                           const std::vector<std::vector<std::int32_t>>& items_of_user) {
  std::vector<Rating> list;
  Rng rng(7);
  for (std::int32_t u = 0; u < m; ++u) {
    for (const std::int32_t item : items_of_user[u]) {
      list.push_back({u, item, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(m, n, list);
}

// Every item has one user: three items each for two users of three, none for the third, and some
// items that no user rated. Updates of an iteration cannot meet.
inline Ratings disjoint_matrix(std::int32_t m) {
  std::vector<std::vector<std::int32_t>> items(m);
  for (std::int32_t u = 0; u < m; ++u) {
    if (u % 3 != 2) items[u] = {4 * u, 4 * u + 1, 4 * u + 2};
  }
  return make_matrix(m, 4 * m + 5, items);
}

// All users rate only item 0.
inline Ratings one_item_matrix(std::int32_t m) {
  return make_matrix(m, 2, std::vector<std::vector<std::int32_t>>(m, {0}));
}

inline Params params_of(ItemRule rule, const Json& changes) {
  return default_params(find_algorithm(kItemRules.of(rule)).params, changes);
}

inline Settings settings_of(ItemRule rule, const Json& changes) {
  return read_settings(rule, params_of(rule, changes));
}

}  // namespace mf::cu2rec
