// ml-100k, ratings of 4 and 5 as observed pairs of value 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testing/real_data.hpp"
#include "testing/triples.hpp"

namespace mf::ials::test {

// Empty if the data or the program that unpacks it is missing: `why` says so.
inline std::optional<Ratings> liked_movies(std::string& why) {
  const auto all = mf::test::movielens_100k(why);
  if (!all) return std::nullopt;
  std::vector<Rating> liked;
  for (std::int64_t k = 0; k < all->nnz(); ++k) {
    if ((*all)[k].value >= 4) liked.push_back({(*all)[k].user, (*all)[k].item, 1});
  }
  return mf::test::ratings_of(all->n_users(), all->n_items(), liked);
}

}  // namespace mf::ials::test
