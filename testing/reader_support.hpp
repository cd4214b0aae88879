// Writers of every format for the tests of the readers: straightforward, one rating after another.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "testing/test_support.hpp"
#include "testing/zip.hpp"

namespace mf::test {

using RatingList = std::vector<Rating>;

// How one format writes a matrix. Fields are text, so that tests can write nonsense.
struct TextFormat {
  std::string name;
  std::string head;       // before the first rating, with {m} {n} {nnz} for sizes
  std::string line;       // with {u} {i} {r}
  char grouped_by = ' ';  // 'u' or 'i': ratings stand under group lines
  std::string group;      // with {g} and {k}, the number of ratings of the group
  std::string missing;    // a line without its last required column
  std::string extra;      // a line with a column too many
};

inline const std::vector<TextFormat>& text_formats() {
  static const std::vector<TextFormat> formats = {
      {"movielens-tab", "", "{u}\t{i}\t{r}", ' ', "", "1\t2", "1\t2\t3\t4"},
      {"double-colon", "", "{u}::{i}::{r}::978300760", ' ', "", "1::2::3", "1::2::3::4::5"},
      {"csv", "userId,movieId,rating,timestamp\n", "{u},{i},{r},\"a, \"\"b\"\"\"", ' ', "", "1,2,3",
       "1,2,3,4,5"},
      {"triples", "", "{u} {i} {r}", ' ', "", "1 2", "1 2 3 4"},
      {"netflix", "", "{u},{r},2005-09-06", 'i', "{g}:", "1,2", "1,2,2005-09-06,4"},
      {"kddcup", "", "{i}\t{r}\t5106\t19:09:00", 'u', "{g}|{k}", "1\t2\t5106", "1\t2\t3\t4\t5"},
      {"matrix-market",
       "%%MatrixMarket matrix coordinate real general\n% a comment\n{m} {n} {nnz}\n", "{u} {i} {r}",
       ' ', "", "1 2", "1 2 3 4"},
  };
  return formats;
}

inline void PrintTo(const TextFormat& format, std::ostream* out) { *out << format.name; }

// The name of a test of one format.
inline std::string name_of(const testing::TestParamInfo<TextFormat>& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline std::string replaced(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size()) {
      text.replace(at, key.size(), value);
    }
  }
  return text;
}

inline std::string line_of(const TextFormat& format, const std::string& user,
                           const std::string& item, const std::string& rating) {
  return replaced(format.line, {{"{u}", user}, {"{i}", item}, {"{r}", rating}});
}

// The ratings in the order in which the format can hold them: groups together, else as they are.
inline RatingList in_file_order(const TextFormat& format, RatingList ratings) {
  const auto group = [&](const Rating& r) { return format.grouped_by == 'u' ? r.user : r.item; };
  if (format.grouped_by != ' ') {
    std::stable_sort(ratings.begin(), ratings.end(),
                     [&](const Rating& a, const Rating& b) { return group(a) < group(b); });
  }
  return ratings;
}

// The text of ratings that are in file order.
inline std::string text_of(const TextFormat& format, const RatingList& ratings) {
  std::int32_t m = 1;
  std::int32_t n = 1;
  std::map<std::int32_t, std::int64_t> counts;
  const auto group = [&](const Rating& r) { return format.grouped_by == 'u' ? r.user : r.item; };
  for (const Rating& r : ratings) {
    m = std::max(m, r.user);
    n = std::max(n, r.item);
    ++counts[group(r)];
  }
  std::string text = replaced(format.head, {{"{m}", std::to_string(m)},
                                            {"{nnz}", std::to_string(ratings.size())},
                                            {"{n}", std::to_string(n)}});
  for (std::size_t k = 0; k < ratings.size(); ++k) {
    const Rating& r = ratings[k];
    if (format.grouped_by != ' ' && (k == 0 || group(ratings[k - 1]) != group(r))) {
      text += replaced(format.group, {{"{g}", std::to_string(group(r))},
                                      {"{k}", std::to_string(counts[group(r)])}}) +
              "\n";
    }
    text += line_of(format, std::to_string(r.user), std::to_string(r.item),
                    fmt::format("{}", r.value)) +
            "\n";
  }
  return text;
}

// Ids from 1; values from half steps to the shortest decimals of arbitrary floats.
inline RatingList random_ratings(std::uint64_t seed, std::size_t count, std::int32_t n_users,
                                 std::int32_t n_items) {
  Rng rng(seed);
  RatingList ratings(count);
  for (auto& r : ratings) {
    r.user = 1 + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n_users)));
    r.item = 1 + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n_items)));
    switch (rng.below(3)) {
      case 0:
        r.value = static_cast<float>(1 + rng.below(10)) / 2;
        break;
      case 1:
        r.value = static_cast<float>(rng.normal() * 1e6);
        break;
      default:
        r.value = static_cast<float>(std::exp(20 * rng.normal()));
        break;
    }
  }
  return ratings;
}

inline void expect_canonical(const Ratings& r) {
  const auto offsets = r.user_offsets();
  ASSERT_EQ(offsets.size(), r.n_users() + 1);
  ASSERT_EQ(offsets.front(), 0);
  ASSERT_EQ(offsets.back(), r.nnz());
  for (std::int32_t u = 0; u < r.n_users(); ++u) {
    for (auto i = offsets[u]; i < offsets[u + 1]; ++i) {
      ASSERT_EQ(r[i].user, u);
      if (i > offsets[u]) {
        ASSERT_LT(r[i - 1].item, r[i].item);
      }
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(r.user_ids(), std::less_equal<>()));
  EXPECT_TRUE(std::ranges::is_sorted(r.item_ids(), std::less_equal<>()));
}

inline RawRatings raw_of(const RatingList& list) {
  RawRatings raw;
  for (const Rating& r : list) {
    raw.users.push_back(r.user);
    raw.items.push_back(r.item);
    raw.values.push_back(r.value);
  }
  return raw;
}

inline RatingList list_of(const RawRatings& raw) {
  RatingList list(raw.values.size());
  for (std::size_t k = 0; k < list.size(); ++k)
    list[k] = {raw.users[k], raw.items[k], raw.values[k]};
  return list;
}

inline bool same(const Rating& a, const Rating& b) {
  return a.user == b.user && a.item == b.item && a.value == b.value;
}

inline void expect_same(const RatingList& found, const RatingList& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_TRUE(same(found[k], expected[k]))
        << "rating " << k << ": found " << found[k].user << " " << found[k].item << " "
        << found[k].value << ", expected " << expected[k].user << " " << expected[k].item << " "
        << expected[k].value;
  }
}

// A new file each time: some file systems wait for the disk when a file is written over.
inline std::string fresh_file(const TempFolder& folder, const std::string& content) {
  static int count = 0;
  const std::string path = folder / ("ratings" + std::to_string(count++));
  write_file(path, content);
  return path;
}

inline ReadOptions options_of(const std::string& format, int threads = 1) {
  ReadOptions options;
  options.format = format;
  options.threads = threads;
  return options;
}

// 40 ratings as other programs pack them: line k of the text is "k<tab>(7k mod 10) + 1<tab>
// (k mod 5) + 1". Written by gzip -9n, xz -9, zstd -19, bzip2, Info-ZIP, and (npz) by
// numpy.savez_compressed with users int64, items uint16, ratings float64.
inline std::string packed(const std::string& kind) {
  return read_file(MF_SOURCE_DIR "/datasets/test/packed/ratings." + kind);
}

// NumPy's format, version 1, by its description (numpy.lib.format).
template <class T>
std::string npy_of(const std::string& type, const std::vector<T>& values,
                   const std::string& shape = "") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " +
                       (shape.empty() ? "(" + std::to_string(values.size()) + ",)" : shape) + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const std::size_t begin = out.size();
  out.resize(begin + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.data() + begin, values.data(), values.size() * sizeof(T));
  return out;
}

}  // namespace mf::test
