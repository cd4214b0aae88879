// Small matrices for the tests of the family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/gpusgd/settings.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/triples.hpp"

namespace mf::gpusgd {

// About `density` of all pairs, more of them for every tenth item; rows and columns may be empty.
inline Ratings random_matrix(std::int32_t m, std::int32_t n, double density,
                             std::uint64_t seed = 1) {
  std::vector<Rating> list;
  Rng rng(seed);
  for (std::int32_t u = 0; u < m; ++u) {
    for (std::int32_t i = 0; i < n; ++i) {
      if (rng.uniform() >= density * (i % 10 == 0 ? 3 : 1)) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(m, n, list);
}

inline Params params_of(Scheme scheme, const Json& changes) {
  return default_params(find_algorithm(kSchemes.of(scheme)).params, changes);
}

inline Settings settings_of(Scheme scheme, const Json& changes) {
  return read_settings(scheme, params_of(scheme, changes));
}

inline Model initial_for(const Ratings& train, const Params& params) {
  InitSpec init;
  init.scale = 0.3;
  return initial_model(train.n_users(), train.n_items(),
                       static_cast<std::int32_t>(params.integer("factors")), ModelKind::plain,
                       mean_rating(train), init, 1);
}

}  // namespace mf::gpusgd
