// A data set to cache, for the tests of the file and of its building.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf::test {

struct CacheFile : ::testing::Test {
  const TempFolder folder;
  const std::string path = folder / "set.mfc";
};

// Users with 1, 2, 3, ... ratings; ids with gaps.
inline Dataset sample(std::int32_t n_users = 9, float first = 1.0F) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < n_users; ++u) {
    for (std::int32_t i = 0; i <= u; ++i) {
      list.push_back({u, i, first + 0.5F * static_cast<float>((u + i) % 9)});
    }
  }
  Dataset data;
  data.ratings = ratings_of(n_users, n_users, list, {7, 3}, {1, 100});
  data.parts = labels_by(data.ratings.nnz(), [](std::int64_t i) { return i % 3; });
  data.info.name = "a \"name\" with ümlaut";
  data.info.look_alike = true;
  data.info.source = "synthetic";
  data.info.source_hash = "0123abcd";
  data.info.scale = RatingScale{1.0F, 5.5F, 0.5F};
  data.info.duplicate_pairs = 5'000'000'000;
  data.info.duplicate_policy = "mean";
  return data;
}

inline Dataset build_sample() { return sample(); }

inline std::string flipped(std::string file, std::size_t at, int bits) {
  file[at] = static_cast<char>(file[at] ^ bits);
  return file;
}

inline void expect_equal(const Dataset& a, const Dataset& b) {
  EXPECT_TRUE(std::ranges::equal(a.ratings.users(), b.ratings.users()));
  EXPECT_TRUE(std::ranges::equal(a.ratings.items(), b.ratings.items()));
  EXPECT_TRUE(std::ranges::equal(a.ratings.values(), b.ratings.values()));
  EXPECT_TRUE(std::ranges::equal(a.ratings.user_offsets(), b.ratings.user_offsets()));
  EXPECT_TRUE(std::ranges::equal(a.ratings.user_ids(), b.ratings.user_ids()));
  EXPECT_TRUE(std::ranges::equal(a.ratings.item_ids(), b.ratings.item_ids()));
  EXPECT_TRUE(std::ranges::equal(a.parts.all, b.parts.all));
}

// The layout, as the README of the folder describes it.
struct Layout {
  std::size_t header = 0;
  std::array<std::size_t, 7> begin{};
  std::array<std::size_t, 7> size{};
  std::size_t end = 0;

  Layout(const std::string& file, const Dataset& data) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, file.data() + 16, 8);
    header = bytes;
    const auto nnz = static_cast<std::size_t>(data.ratings.nnz());
    const auto m = static_cast<std::size_t>(data.ratings.n_users());
    const auto n = static_cast<std::size_t>(data.ratings.n_items());
    size = {4 * nnz, 4 * nnz, 4 * nnz, 8 * (m + 1), 4 * m, 4 * n, data.parts.all.size_bytes()};
    end = header;
    for (std::size_t s = 0; s < 7; ++s) {
      begin[s] = end;
      end += (size[s] + 63) / 64 * 64;
    }
  }
};

}  // namespace mf::test
