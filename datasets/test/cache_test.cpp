#include "datasets/cache.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

#include "base/files/claim.hpp"
#include "base/hash.hpp"
#include "datasets/ratings/canonical.hpp"
#include "datasets/test/cached_sets.hpp"

namespace mf::test {
namespace {

namespace fs = std::filesystem;
using Cache = CacheFile;

// Version 3: the times last, as pairs of a time and a place.
Dataset timed_sample() {
  Dataset data = sample();
  AlignedVector<RatingTime> times(data.ratings.nnz());
  for (std::int64_t k = 0; k < std::ssize(times); ++k)
    times[k] = {1'000'000'000'000 - 7 * k, std::ssize(times) - 1 - k};
  data.times = RatingTimes(std::move(times));
  return data;
}

TEST_F(Cache, KeepsTimesForThoseWhoAsk) {
  const Dataset data = timed_sample();
  write_cache(path, data, 2);
  EXPECT_TRUE(read_cache_head(path).has_times);
  const Dataset back = read_cache(path, 2, true);
  expect_equal(data, back);
  EXPECT_TRUE(std::ranges::equal(back.times.all.bytes(), data.times.all.bytes()));
  EXPECT_TRUE(read_cache(path, 2).times.empty());
  EXPECT_EQ(read_cache_head(path).info.content_hash, content_hash(data.ratings, 1));

  const std::string file = read_file(path);
  const auto nnz = static_cast<std::size_t>(data.ratings.nnz());
  const std::size_t begin = file.size() - (16 * nnz + 63) / 64 * 64;
  for (const std::size_t at : {begin, begin + 8, begin + 16 * nnz - 1}) {
    write_file(path, flipped(file, at, 1));
    EXPECT_HAS(error_of([&] { read_cache(path, 2, true); }).what(),
               "checksum of the section times");
    EXPECT_EQ(read_cache(path, 2).ratings.nnz(), data.ratings.nnz()) << "not asked for";
  }
  write_file(path, file.substr(0, file.size() - 64));
  EXPECT_HAS(error_of([&] { read_cache(path, 2); }).what(), "cut short");
}

// With the right checksum, as another program may write it.
TEST_F(Cache, RefusesPlacesThatThereAreNot) {
  for (const std::int64_t place : {std::int64_t{-1}, std::int64_t{45}, std::int64_t{1} << 40}) {
    Dataset data = timed_sample();
    ASSERT_EQ(data.ratings.nnz(), 45);
    AlignedVector<RatingTime> times(data.times.all.begin(), data.times.all.end());
    times[20].place = place;
    data.times = RatingTimes(std::move(times));
    write_cache(path, data, 1);
    EXPECT_HAS(error_of([&] { read_cache(path, 2, true); }).what(),
               fmt::format("rating 20 is the {}th in time of 45", place));
  }
}

TEST_F(Cache, RoundTrip) {
  const Dataset data = sample();
  const std::string deep = folder / "deep/er/set.mfc";
  write_cache(deep, data, 2, "the key");
  const Dataset back = read_cache(deep, 2);
  expect_equal(data, back);
  EXPECT_EQ(back.info.name, data.info.name);
  EXPECT_TRUE(back.info.look_alike);
  EXPECT_EQ(back.info.source, "synthetic");
  EXPECT_EQ(back.info.source_hash, "0123abcd");
  ASSERT_TRUE(back.info.scale.has_value());
  EXPECT_EQ(back.info.scale->max, 5.5F);
  EXPECT_EQ(back.info.duplicate_pairs, 5'000'000'000);
  EXPECT_EQ(back.info.duplicate_policy, "mean");
  EXPECT_EQ(back.info.content_hash, content_hash(data.ratings, 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back.ratings.values().data()) % 64, 0U);

  const CacheHead head = read_cache_head(deep);
  EXPECT_EQ(head.key, "the key");
  EXPECT_EQ(head.n_users, 9);
  EXPECT_EQ(head.n_items, 9);
  EXPECT_EQ(head.nnz, 45);
  EXPECT_TRUE(head.has_parts);
  EXPECT_FALSE(std::filesystem::exists(deep + ".tmp"));
}

TEST_F(Cache, ALinkInThePlaceOfItsTemporaryFileIsNotFollowed) {
  write_file(folder / "precious", "mine");
  fs::create_symlink(folder / "precious", folder / "a.mfc.tmp");
  write_cache(folder / "a.mfc", sample(), 1);
  EXPECT_EQ(read_file(folder / "precious"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder / "a.mfc"));
  EXPECT_EQ(read_cache(folder / "a.mfc", 1).ratings.nnz(), sample().ratings.nnz());
}

TEST_F(Cache, WhatAKilledWriterLeftGoesUnlessItStillWrites) {
  for (const char* name : {"dead.mfc.tmp", "alive.mfc.tmp", "other.tmp"}) {
    write_file(folder / name, "half");
  }
  const FileClaim alive(folder / "alive.mfc");
  write_cache(folder / "a.mfc", sample(), 1);
  EXPECT_FALSE(fs::exists(folder / "dead.mfc.tmp"));
  EXPECT_TRUE(fs::exists(folder / "alive.mfc.tmp"));
  EXPECT_TRUE(fs::exists(folder / "other.tmp"));
}

TEST_F(Cache, OfTwoThatReplaceNothingTheFirstStays) {
  write_cache(path, sample(9), 1, "", false);
  EXPECT_HAS(error_of([&] { write_cache(path, sample(5), 1, "", false); }).what(),
             "made meanwhile");
  EXPECT_EQ(read_cache(path, 1).ratings.n_users(), 9);
  write_cache(path, sample(5), 1);
  EXPECT_EQ(read_cache(path, 1).ratings.n_users(), 5);
}

TEST_F(Cache, RoundTripOfNothing) {
  Dataset data;
  data.ratings = ratings_of(0, 0, {});
  write_cache(folder / "empty.mfc", data, 1);
  const Dataset back = read_cache(folder / "empty.mfc", 3);
  expect_equal(data, back);
  EXPECT_FALSE(back.info.scale.has_value());
  EXPECT_FALSE(read_cache_head(folder / "empty.mfc").has_parts);
}

TEST_F(Cache, SameFileForAnyNumberOfThreads) {
  const Dataset data = sample(1000);  // several MiB, so that the hashing is really parallel
  write_cache(folder / "a.mfc", data, 1, "k");
  write_cache(folder / "b.mfc", data, 5, "k");
  EXPECT_EQ(read_file(folder / "a.mfc"), read_file(folder / "b.mfc"));
  expect_equal(read_cache(folder / "a.mfc", 5), data);
}

TEST_F(Cache, FlippedBitIsFoundAndNamed) {
  const Dataset data = sample();
  write_cache(path, data, 1);
  const std::string good = read_file(path);
  const Layout layout(good, data);
  ASSERT_EQ(layout.end, good.size());
  constexpr std::array<const char*, 7> names = {"users",    "items",    "values", "user_offsets",
                                                "user_ids", "item_ids", "parts"};
  for (std::size_t s = 0; s < 7; ++s) {
    for (const std::size_t at : {layout.begin[s], layout.begin[s] + layout.size[s] - 1}) {
      write_file(path, flipped(good, at, 0x10));
      const Error error = error_of([&] { read_cache(path, 2); });
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_HAS(error.what(), std::string("checksum of the section ") + names[s]);
      EXPECT_HAS(error.what(), path);
    }
  }
  // Every byte of the header counts, the text in it and the padding behind it.
  for (std::size_t at = 0; at < layout.header; ++at) {
    write_file(path, flipped(good, at, 0x01));
    EXPECT_THROW(read_cache(path, 1), Error) << "byte " << at;
    EXPECT_THROW(read_cache_head(path), Error) << "byte " << at;
  }
}

// A file with right checksums that no build of ours wrote.
TEST_F(Cache, WhatIsNotCanonicalIsRefused) {
  const auto refusal = [&](auto change) {
    Ratings::Arrays arrays = arrays_of(sample().ratings);
    Dataset data = sample();
    AlignedVector<std::uint8_t> parts(data.parts.all.begin(), data.parts.all.end());
    change(arrays, parts);
    data.parts = std::move(parts);
    data.ratings = Ratings(std::move(arrays));
    write_cache(path, data, 1, "key");
    return std::string(error_of([&] { read_cache(path, 2); }).what());
  };
  using Arrays = Ratings::Arrays;
  using Parts = AlignedVector<std::uint8_t>;
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.items[5] = 1'000'000; }), "rating 5 (user 2, item");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.items[5] = -1; }), "an item that there is not");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.items[5] = 1; }), "does not come after");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.users[5] = 7; }), "not that of its row");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.values[5] = INFINITY; }), "not finite");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.user_offsets[3] = 40; }), "user 3 has 40");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.user_offsets[0] = -2; }), "from 0 up to 45");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.user_ids[4] = a.user_ids[3]; }), "users 3 and 4");
  EXPECT_HAS(refusal([](Arrays& a, Parts&) { a.item_ids[0] = 5000; }), "items 0 and 1");
  EXPECT_HAS(refusal([](Arrays&, Parts& parts) { parts[9] = 3; }), "rating 9 is of part 3");
}

// The same file with another text in its description, and a checksum of the header that fits.
std::string described_otherwise(std::string file, const std::string& from, const std::string& to) {
  constexpr std::size_t kFixed = 192;
  constexpr std::size_t kHash = 72;
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof value);
    return value;
  };
  const std::size_t header = number(16);
  std::string text = file.substr(kFixed, number(24));
  text.replace(text.find(from), from.size(), to);
  const std::uint64_t bytes = text.size();
  text.resize(header - kFixed);
  file.replace(kFixed, text.size(), text);
  std::memcpy(file.data() + 24, &bytes, sizeof bytes);
  std::memset(file.data() + kHash, 0, 8);
  const auto all = std::as_bytes(std::span(file));
  const std::uint64_t hash =
      hash64(all.subspan(kFixed, header - kFixed), hash64(all.first(kFixed)));
  std::memcpy(file.data() + kHash, &hash, sizeof hash);
  return file;
}

// They would be cast to what they do not fit.
TEST_F(Cache, NumbersOfItsDescriptionAreChecked) {
  Dataset data = sample();
  data.info.content_hash = 12345;
  write_cache(path, data, 1, std::string(100, 'k'));  // room for longer numbers
  const std::string good = read_file(path);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    write_file(path, described_otherwise(good, from, to));
    return std::string(error_of([&] { read_cache_head(path); }).what());
  };
  write_file(path, described_otherwise(good, ":12345", ":12346"));
  EXPECT_EQ(read_cache_head(path).info.content_hash, 12346U);
  EXPECT_HAS(refusal(":12345", ":1e22"), "\"content_hash\" is the number 1e+22");
  EXPECT_HAS(refusal(":12345", ":-234"), "expected a whole number");
  EXPECT_HAS(refusal(":12345", ":\"a\""), "expected a whole number");
  EXPECT_HAS(refusal(":5000000000", ":5e18"), "\"duplicate_pairs\"");
  EXPECT_HAS(refusal(":5000000000", ":9999999999999999999"), "up to 9223372036854775807");
  EXPECT_HAS(refusal("5.5", "9e99"), "expected numbers of 32 bits");
  EXPECT_HAS(refusal("[", "[[[[[["), "its description");
}

TEST_F(Cache, CutFileIsFound) {
  const Dataset data = sample();
  write_cache(path, data, 1);
  const std::string good = read_file(path);
  const Layout layout(good, data);
  std::vector<std::size_t> points = {
      0, 3, 8, 100, 191, 192, layout.header - 1, layout.header, layout.end - 1};
  for (std::size_t s = 0; s < 7; ++s) points.push_back(layout.begin[s] + 1);
  for (const std::size_t bytes : points) {
    write_file(path, good.substr(0, bytes));
    const Error error = error_of([&] { read_cache(path, 1); });
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_HAS(error.what(), "cut short: found " + std::to_string(bytes) + " bytes");
  }
  write_file(path, good + "x");
  EXPECT_HAS(error_of([&] { read_cache(path, 1); }).what(), "1 bytes follow its end");
}

TEST_F(Cache, ForeignFilesAreNamed) {
  write_cache(path, sample(), 1);
  const std::string good = read_file(path);

  std::string bad = good;
  bad[8] = 4;  // version, little-endian
  write_file(path, bad);
  EXPECT_HAS(error_of([&] { read_cache(path, 1); }).what(),
             "format version 4, this program reads versions 1 to 3");

  bad = good;
  std::reverse(bad.begin() + 12, bad.begin() + 16);  // the byte order mark
  write_file(path, bad);
  EXPECT_HAS(error_of([&] { read_cache(path, 1); }).what(), "another byte order");

  write_file(path, "1,2,3.5\n");
  EXPECT_HAS(error_of([&] { read_cache(path, 1); }).what(), "no mfbench cache");

  EXPECT_HAS(error_of([&] { read_cache(folder / "none.mfc", 1); }).what(), "no such file");
}

TEST_F(Cache, MappingOutlivesItsReplacement) {
  write_cache(path, sample(9, 1.0F), 1);
  const Dataset old = read_cache(path, 1);
  write_cache(path, sample(9, 2.0F), 1);
  expect_equal(old, sample(9, 1.0F));
  expect_equal(read_cache(path, 1), sample(9, 2.0F));
}

// Several pieces of the checksums: what is wrong is found in each, and the same for any number of
// threads.
TEST_F(Cache, LargeFilesAreCheckedPieceByPiece) {
  const Dataset data = sample(1200);
  ASSERT_GT(4 * data.ratings.nnz(), 2 * PieceHash::kPieceBytes);
  write_cache(path, data, 2);
  const std::string good = read_file(path);
  const Layout layout(good, data);
  for (const std::size_t section : {0U, 1U, 2U}) {
    // In the last piece.
    write_file(path, flipped(good, layout.begin[section] + layout.size[section] - 3, 0x40));
    for (const int threads : {1, 3}) {
      // A damaged item is no item that there is not: the checksum says what happened.
      EXPECT_HAS(error_of([&] { read_cache(path, threads); }).what(), "checksum of the section");
    }
  }
  for (const std::int64_t wrong :
       {std::int64_t{0}, data.ratings.nnz() / 2, data.ratings.nnz() - 1}) {
    Dataset other = sample(1200);
    Ratings::Views views = other.ratings.views();
    AlignedVector<float> values(views.values.begin(), views.values.end());
    values[wrong] = NAN;
    values.back() = NAN;
    views.values = values;
    other.ratings = Ratings(views, std::make_shared<Dataset>(other));
    write_cache(path, other, 2);
    for (const int threads : {1, 3}) {
      EXPECT_HAS(error_of([&] { read_cache(path, threads); }).what(),
                 "rating " + std::to_string(wrong) + " ");
    }
  }
}

// Another thread may be reading the piece before: it is looked at when all are there.
TEST_F(Cache, ItemsAscendOverPieces) {
  constexpr std::int64_t kBegin = PieceHash::kPieceBytes / 4;
  Dataset data = sample(1200);
  Ratings::Views views = data.ratings.views();
  ASSERT_FALSE(std::ranges::binary_search(views.user_offsets, kBegin));
  AlignedVector<std::int32_t> items(views.items.begin(), views.items.end());
  items[kBegin - 1] = items[kBegin];
  views.items = items;
  data.ratings = Ratings(views, std::make_shared<Dataset>(data));
  EXPECT_EQ(first_wrong(data.ratings, kBegin, data.ratings.nnz()), data.ratings.nnz());
  EXPECT_EQ(first_wrong(data.ratings, 0, data.ratings.nnz()), kBegin);
  write_cache(path, data, 2);
  for (const int threads : {1, 3}) {
    EXPECT_HAS(
        error_of([&] { read_cache(path, threads); }).what(),
        fmt::format("rating {} (user 723, item 418, value 4.5) has an item that does not come "
                    "after the one before it",
                    kBegin));
  }
}

}  // namespace
}  // namespace mf::test
