// ml-100k, ratings of 4 and 5 as observed pairs of value 1.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "datasets/readers/readers.hpp"
#include "testing/triples.hpp"

namespace mf::ials::test {

// Nothing where the data or what unpacks it is not there: `why` says so.
inline std::optional<Ratings> liked_movies(std::string& why) {
  why = "no folder of MFBENCH_DATA holds ml-100k/u.data (plain or packed)";
  const char* folders = std::getenv("MFBENCH_DATA");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    for (const char* packed : {"", ".xz", ".gz", ".zst", ".bz2", ".zip"}) {
      const auto path = std::filesystem::path(folder) / (std::string("ml-100k/u.data") + packed);
      if (!std::filesystem::is_regular_file(path)) continue;
      ReadOptions options;
      options.format = "movielens-tab";
      try {
        const Ratings all = make_ratings(read_ratings(path.string(), options),
                                         DuplicatePolicy::error, 1, "ml-100k");
        std::vector<Rating> liked;
        for (std::int64_t k = 0; k < all.nnz(); ++k) {
          if (all[k].value >= 4) liked.push_back({all[k].user, all[k].item, 1});
        }
        return mf::test::ratings_of(all.n_users(), all.n_items(), liked);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        why = error.what();
      }
    }
  }
  return std::nullopt;
}

}  // namespace mf::ials::test
