// Shared by the harness's tests: small data, messages of errors.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"
#include "testing/test_support.hpp"

namespace mf::testing {

using mf::TempFolder;

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// m x n with about `density` of the pairs rated, 1..5; ids 10, 20, 30, ...
inline Ratings random_ratings(std::int32_t m, std::int32_t n, double density, std::uint64_t seed) {
  Ratings::Arrays a;
  Rng rng(seed);
  a.user_offsets.push_back(0);
  for (std::int32_t u = 0; u < m; ++u) {
    for (std::int32_t i = 0; i < n; ++i) {
      if (rng.uniform() >= density) continue;
      a.users.push_back(u);
      a.items.push_back(i);
      a.values.push_back(static_cast<float>(1 + rng.below(5)));
    }
    a.user_offsets.push_back(static_cast<std::int64_t>(a.users.size()));
    a.user_ids.push_back(10 * (u + 1));
  }
  for (std::int32_t i = 0; i < n; ++i) a.item_ids.push_back(10 * (i + 1));
  return Ratings(std::move(a));
}

}  // namespace mf::testing
