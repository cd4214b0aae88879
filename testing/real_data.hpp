// Published ratings, if a folder of $MFBENCH_DATA holds them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "datasets/readers/readers.hpp"

namespace mf::test {

// Empty if no folder holds the file, plain or packed.
inline std::string find_real(const std::string& file) {
  const char* folders = std::getenv("MFBENCH_DATA");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    for (const char* packed : {"", ".xz", ".gz", ".zst", ".bz2", ".zip"}) {
      const auto path = std::filesystem::path(folder) / (file + packed);
      if (std::filesystem::is_regular_file(path)) return path.string();
    }
  }
  return {};
}

// ml-100k. Empty if it, or the program that unpacks it, is missing: `why` says so.
inline std::optional<Ratings> movielens_100k(std::string& why) {
  const std::string path = find_real("ml-100k/u.data");
  why = "no folder of MFBENCH_DATA holds ml-100k/u.data (plain or packed)";
  if (path.empty()) return std::nullopt;
  ReadOptions options;
  options.format = "movielens-tab";
  try {
    return make_ratings(read_ratings(path, options), DuplicatePolicy::error, 1, "ml-100k");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace mf::test
