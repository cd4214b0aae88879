#include "datasets/load.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/hash.hpp"
#include "datasets/cache.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/look.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "datasets/source_hash.hpp"
#include "datasets/split/given_parts.hpp"
#include "datasets/test/loads.hpp"
#include "testing/reader_support.hpp"

namespace mf::test {
namespace {

namespace fs = std::filesystem;

// ---- files of one's own ----

TEST_F(Load, AFileThroughTheCache) {
  const std::string path = data_ / "mine.csv";
  write_file(path, "user,item,rating\n5,10,3.5\n2,10,1\n5,7,4\n");
  const auto request = parse(file_entry(path, R"(, "format": "csv")"));
  EXPECT_EQ(why_unavailable(request), "");
  EXPECT_FALSE(expected_shape(request).has_value());
  const Dataset data = load_dataset(request, 2);
  const Table expected = {{{2, 10}, {1.0F, -1}}, {{5, 7}, {4.0F, -1}}, {{5, 10}, {3.5F, -1}}};
  EXPECT_EQ(table_of(data), expected);
  EXPECT_EQ(data.info.source, "file");
  EXPECT_EQ(data.info.name, "mine.csv");
  EXPECT_EQ(data.info.source_hash, sha256(read_file(path)));
  EXPECT_NE(data.info.content_hash, 0U);
  ASSERT_TRUE(expected_shape(request).has_value());
  EXPECT_EQ(expected_shape(request)->nnz, 3);

  // The second load does not write the cache again.
  const auto written = [&] {
    fs::file_time_type latest{};
    for (const auto& file : fs::directory_iterator(cache_.path())) {
      if (file.path().extension() == ".mfc") latest = std::max(latest, file.last_write_time());
    }
    return latest;
  };
  const auto first = written();
  EXPECT_EQ(table_of(load_dataset(request, 1)), expected);
  EXPECT_EQ(written(), first);
  // Other content is seen, also under the same size and time of writing.
  const auto time = fs::last_write_time(path);
  write_file(path, "user,item,rating\n5,10,3.5\n2,10,2\n5,7,4\n");
  fs::last_write_time(path, time);
  EXPECT_EQ(table_of(load_dataset(request, 1)).at({2, 10}).first, 2.0F);
  // And in a file of that size and time that took its place.
  const std::string other = data_ / "other.csv";
  write_file(other, "user,item,rating\n5,10,3.5\n2,10,3\n5,7,4\n");
  fs::last_write_time(other, time);
  fs::rename(other, path);
  EXPECT_EQ(table_of(load_dataset(request, 1)).at({2, 10}).first, 3.0F);
}

TEST_F(Load, ALookSaysWhatIsThereWithoutReadingIt) {
  const auto request_of = [&](const std::string& name) { return parse(file_entry(data_ / name)); };
  const auto error = [&](const std::string& name) {
    return std::string(error_of([&] { look_at_data(request_of(name)); }).what());
  };
  write_file(data_ / "a.txt", "1 2 3\n1 3 3\n");
  EXPECT_EQ(look_at_data(request_of("a.txt")), "triples, not cached yet");
  load_dataset(request_of("a.txt"), 1);
  EXPECT_EQ(look_at_data(request_of("a.txt")), "cached");
  write_file(data_ / "a.txt", "1\t2\t3\n");
  EXPECT_EQ(look_at_data(request_of("a.txt")), "movielens-tab, changed since it was cached");
  EXPECT_HAS(error("none.txt"), "none.txt: no such file");
  write_file(data_ / "words.txt", "no ratings at all\n");
  EXPECT_HAS(error("words.txt"), "which fit no known format");
  write_file(data_ / "empty.txt", "");
  EXPECT_HAS(error("empty.txt"), "an empty file");
  fs::create_directory(data_ / "folder");
  EXPECT_HAS(error("folder"), "a directory without a known set");
  ASSERT_EQ(mkfifo((data_ / "pipe.txt").c_str(), 0600), 0);
  EXPECT_HAS(error("pipe.txt"), "found a pipe");
  EXPECT_EQ(look_at_data(parse(R"("like:ml-100k")")), "made when it is needed");
  EXPECT_HAS(error_of([&] { look_at_data(parse(R"("ml-1m")")); }).what(), "ratings.dat");
  const auto parts =
      parse(R"({"train": ")" + data_ / "a.txt" + R"(", "test": ")" + data_ / "words.txt" + R"("})");
  EXPECT_HAS(error_of([&] { look_at_data(parts); }).what(), "words.txt");
}

TEST_F(Load, ALookReadsTheFirstThousandLines) {
  const auto error = [&](const std::string& text, const std::string& more = "") {
    write_file(data_ / "a.csv", text);
    const auto request = parse(file_entry(data_ / "a.csv", more));
    return std::string(error_of([&] { look_at_data(request); }).what());
  };
  EXPECT_HAS(error("user;item;rating\n1;2;3,5\n"), "a.csv:2:5: found '3,5'");
  EXPECT_HAS(error("who,item,rating\n1,2,3\n"), "found the header 'who,item,rating'");
  EXPECT_HAS(error("user,item,rating\n"), "found no ratings");
  EXPECT_HAS(error("user,item,rating\n1,2,3\n1,2,4\n"),
             "found 2 ratings of user 1 and item 2 (1 such pair");
  EXPECT_HAS(error("user,item,rating\n1,2,7\n", R"(, "rating_scale": {"min": 1, "max": 5})"),
             "found '7', expected a rating from 1 to 5");
  std::string text = "user,item,rating\n";
  for (int k = 1; k <= 1000; ++k) text += std::to_string(k) + ",2,3\n";
  EXPECT_HAS(error(replaced(text, {{"\n1000,2,3", "\n1000,2,x"}})), "a.csv:1001:8");
  write_file(data_ / "a.csv", text + "1001,2,x\n");
  EXPECT_EQ(look_at_data(parse(file_entry(data_ / "a.csv"))), "csv, not cached yet");
}

TEST_F(Load, ColumnsArePartOfWhatIsAskedFor) {
  const std::string path = data_ / "events.csv";
  write_file(path, "visitor,sku,n,m\n1,2,3,4\n1,5,6,7\n");
  const auto request = [&](const std::string& rating) {
    return parse(file_entry(
        path, R"(, "columns": {"user": "visitor", "item": "sku", "rating": ")" + rating + R"("})"));
  };
  EXPECT_NE(request("n").cache_name(), request("m").cache_name());
  EXPECT_NE(request("n").identity(), request("m").identity());
  EXPECT_EQ(table_of(load_dataset(request("n"), 1)).at({1, 2}).first, 3.0F);
  EXPECT_EQ(table_of(load_dataset(request("m"), 1)).at({1, 2}).first, 4.0F);
  EXPECT_EQ(table_of(load_dataset(request("n"), 1)).at({1, 5}).first, 6.0F);
}

TEST_F(Load, DuplicatesAreSummedOrTheLargestIsTaken) {
  const std::string path = data_ / "events.csv";
  write_file(path, "user,item,count\n1,2,3\n1,2,5\n1,2,4\n1,3,1\n");
  for (const auto& [policy, value] : {std::pair{"sum", 12.0F}, {"max", 5.0F}, {"mean", 4.0F}}) {
    const auto data =
        load_dataset(parse(file_entry(path, fmt::format(R"(, "duplicates": "{}")", policy))), 1);
    EXPECT_EQ(table_of(data).at({1, 2}).first, value) << policy;
    EXPECT_EQ(table_of(data).at({1, 3}).first, 1.0F);
    EXPECT_EQ(data.info.name, fmt::format("events.csv+{}", policy));
    EXPECT_EQ(data.info.duplicate_pairs, 1);
  }
}

TEST_F(Load, APipeIsRefusedSinceItsBytesAreReadTwice) {
  const std::string path = data_ / "pipe.csv";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto request = parse(file_entry(path, R"(, "format": "csv")"));
  EXPECT_HAS(error_of([&] { load_dataset(request, 1); }).what(), "found a pipe or a device");
}

TEST_F(Load, TrainTestAndValidationFiles) {
  write_file(data_ / "a.csv", "user,item,rating\n1,1,1\n1,2,2\n9,4,3\n");
  write_file(data_ / "b.csv", "user,item,rating\n1,4,4\n3,1,5\n");
  write_file(data_ / "c.csv", "user,item,rating\n3,8,2.5\n");
  const auto request =
      parse(R"({"train": ")" + (data_ / "a.csv") + R"(", "test": ")" + (data_ / "b.csv") +
            R"(", "validation": ")" + (data_ / "c.csv") + R"("})");
  const Table expected = {{{1, 1}, {1.0F, kTrain}}, {{1, 2}, {2.0F, kTrain}},
                          {{9, 4}, {3.0F, kTrain}}, {{1, 4}, {4.0F, kTest}},
                          {{3, 1}, {5.0F, kTest}},  {{3, 8}, {2.5F, kValidation}}};
  for (const int threads : {1, 3}) {
    EXPECT_EQ(table_of(load_dataset(request, threads)), expected);  // built, then from the cache
  }
}

TEST_F(Load, APairInTrainAndTestIsAnError) {
  write_file(data_ / "a.csv", "user,item,rating\n1,1,1\n1,2,2\n9,4,3\n");
  write_file(data_ / "b.csv", "user,item,rating\n1,4,4\n1,2,5\n9,4,3\n");
  const auto request = parse(R"({"train": ")" + (data_ / "a.csv") + R"(", "test": ")" +
                             (data_ / "b.csv") + R"(", "duplicates": "last"})");
  const Error error = error_of([&] { load_dataset(request, 2); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(),
             "user 1, item 2 is in both " + (data_ / "a.csv") + " and " + (data_ / "b.csv"));
  EXPECT_HAS(error.what(), "2 such pairs");
  // Of three files, the two that have it are named.
  write_file(data_ / "b.csv", "user,item,rating\n1,4,4\n3,7,5\n");
  write_file(data_ / "c.csv", "user,item,rating\n9,9,4\n3,7,1\n3,7,2\n");
  const auto three =
      parse(R"({"train": ")" + (data_ / "a.csv") + R"(", "test": ")" + (data_ / "b.csv") +
            R"(", "validation": ")" + (data_ / "c.csv") + R"(", "duplicates": "last"})");
  EXPECT_HAS(error_of([&] { load_dataset(three, 1); }).what(),
             "user 3, item 7 is in both " + (data_ / "b.csv") + " and " + (data_ / "c.csv") +
                 " (1 such pair); remove it");
}

TEST_F(Load, APairTwiceInOnePart) {
  write_file(data_ / "a.csv", "user,item,rating\n5,6,1\n1,2,2\n9,4,3\n1,2,3\n");
  write_file(data_ / "b.csv", "user,item,rating\n1,4,4\n3,1,5\n1,4,1\n2,2,1\n2,2,1\n2,2,4\n");
  const auto request = [&](const std::string& policy) {
    return parse(R"({"train": ")" + (data_ / "a.csv") + R"(", "test": ")" + (data_ / "b.csv") +
                 R"(", "duplicates": ")" + policy + R"("})");
  };
  const Table expected = {{{1, 2}, {5.0F, kTrain}}, {{1, 4}, {5.0F, kTest}},
                          {{2, 2}, {6.0F, kTest}},  {{3, 1}, {5.0F, kTest}},
                          {{5, 6}, {1.0F, kTrain}}, {{9, 4}, {3.0F, kTrain}}};
  for (const int threads : {1, 3}) {
    const Dataset data = load_dataset(request("sum"), threads);
    EXPECT_EQ(table_of(data), expected);
    EXPECT_EQ(data.info.duplicate_pairs, 3);
  }
  EXPECT_HAS(error_of([&] { load_dataset(request("error"), 1); }).what(),
             (data_ / "a.csv") + ": found 2 ratings of user 1 and item 2 (1 such pair in all)");
  write_file(data_ / "a.csv", "user,item,rating\n5,6,1\n");
  EXPECT_HAS(error_of([&] { load_dataset(request("error"), 1); }).what(),
             (data_ / "b.csv") + ": found 2 ratings of user 1 and item 4 (2 such pairs in all)");
}

// ---- the catalog ----

TEST_F(Load, WhatIsMissingAndWhereItIs) {
  std::string why = why_unavailable(parse(R"("ml-20m")"));
  EXPECT_HAS(why, "ratings.csv");
  EXPECT_HAS(why, data_ / "ml-20m");
  EXPECT_HAS(why, "mfbench data fetch ml-20m");
  why = why_unavailable(parse(R"("netflix")"));
  EXPECT_HAS(why, "{\"like\": \"netflix\"}");
  EXPECT_EQ(why.find("data fetch"), std::string::npos);
  why = why_unavailable(parse(R"("ml-1m")"));
  EXPECT_HAS(why, "ratings.u-m-r.dat or ratings.dat");
  EXPECT_HAS(why, "data fetch ml-1m");
  why = why_unavailable(parse(R"("ml-1m@bpmf")"));
  EXPECT_HAS(why, "bpmf_train.dat with bpmf_probe.dat");
  EXPECT_EQ(why.find("data fetch"), std::string::npos);  // these two are not in the archive
  EXPECT_HAS(why_unavailable(parse(R"("movietweetings-100k")")), "data fetch movietweetings-100k");
  EXPECT_HAS(error_of([] { load_dataset(parse(R"("ml-20m")"), 1); }).what(), "data fetch ml-20m");
  EXPECT_EQ(expected_shape(parse(R"("ml-20m")"))->nnz, 20'000'263);
  EXPECT_EQ(expected_shape(parse(R"("yahoomusic@validation")"))->nnz, 256'804'235);
}

// The sum is made beside the reading: the message does not depend on which is faster.
TEST_F(Load, AWrongSumIsSaidBeforeWhatIsWrongInTheFileAndNamesBoth) {
  const std::string content = "no ratings at all\n";
  write_file(data_ / "ml-100k/u.data", content);
  const auto request = parse(R"("ml-100k")");
  EXPECT_EQ(why_unavailable(request), "");
  const Error error = error_of([&] { load_dataset(request, 2); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "not the published file");
  EXPECT_HAS(error.what(), sha256(content));
  EXPECT_HAS(error.what(), "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490");
  EXPECT_FALSE(fs::exists(cache_path(request)));
}

// Expected by `split -b 16M --filter='sha256sum | cut -c1-64' FILE | sha256sum`.
TEST(SourceHash, LargeFilesOfOnesOwnAreHashedInPieces) {
  const std::string zeros(2 * kTreePiece, '\0');
  const std::string_view all = zeros;
  const std::string piece = "080acf35a507ac9849cfcba47dc2ad83e01b75663a516279c8b9d243b719643e";
  const std::string more =
      "sha256-tree16m:291d113aa52470313f5e1624186e09e51b4c2bb3f4ca92ff14d64d14d8f6d866";
  const std::string two =
      "sha256-tree16m:262960fb643bfa8b17cee70b25cf091f957a375b61a3e7efe4d7543c72647ac5";
  EXPECT_EQ(own_content_hash(all.substr(0, kTreePiece), 3), piece) << "as sha256sum has it";
  EXPECT_EQ(own_content_hash(all.substr(0, kTreePiece + 1), 1), more);
  EXPECT_EQ(own_content_hash(all.substr(0, 2 * kTreePiece), 3), two);
}

// As many of its comments as fill two pieces.
TEST_F(Load, ALargeFileOfOnesOwnHasTheHashOfItsPieces) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n";
  while (std::ssize(text) < kTreePiece + 10) text += "%" + std::string(1 << 20, 'c') + "\n";
  text += "2 2 2\n1 1 3\n2 2 4\n";
  const std::string path = data_ / "large.mtx";
  write_file(path, text);
  const Dataset data = load_dataset(parse(file_entry(path)), 2);
  EXPECT_EQ(data.ratings.nnz(), 2);
  EXPECT_HAS(data.info.source_hash, "sha256-tree16m:");
  EXPECT_EQ(data.info.source_hash, own_source_hash(path, 1));
}

TEST_F(Load, AFileThatChangesWhileItIsReadIsSeen) {
  const std::string path = data_ / "mine.csv", other = data_ / "other.csv";
  write_file(path, "5,10,3.5\n");
  write_file(other, "5,10,3.5\n");
  const ChangeWatch watch({other, path});
  watch.check();
  write_file(path, "5,10,4.5\n2,10,1\n");
  const Error error = error_of([&] { watch.check(); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "mine.csv: changed while it was read");
}

// Nor does a time that lies ahead hide later changes, in the file or beside it.
TEST_F(Load, AFileThatChangesIsSeenWhateverItsTimeSays) {
  const std::string folder = data_ / "mine";
  fs::create_directories(folder);
  const std::string ahead = folder + "/a.csv", beside = folder + "/b.csv";
  const auto stamp = fs::file_time_type::clock::now() + std::chrono::hours(24 * 3650);
  const auto write = [&](const std::string& path, const std::string& text) {
    write_file(path, text);
    fs::last_write_time(path, stamp);
  };
  write(ahead, "5,10,3.5\n");
  write_file(beside, "5,10,3.5\n");
  const std::string file = change_mark(ahead), both = change_mark(folder);
  EXPECT_EQ(change_mark(folder), both);
  write_file(beside, "5,10,4.5\n");
  const std::string after = change_mark(folder);
  EXPECT_NE(after, both);
  write(ahead, "5,10,4.5\n");
  EXPECT_NE(change_mark(ahead), file);
  EXPECT_NE(change_mark(folder), after);
}

TEST_F(Load, TheSumIsOfTheUncompressedContent) {
  std::string text;
  for (int k = 1; k <= 40; ++k) text += fmt::format("{}\t{}\t{}\n", k, 7 * k % 10 + 1, k % 5 + 1);
  for (const std::string kind : {"", "gz", "xz"}) {
    if (!kind.empty() && !have_libarchive()) GTEST_SKIP() << "this build has no libarchive";
    const std::string path = data_ / "a.tsv." + kind;
    write_file(path, kind.empty() ? text : packed(kind));
    const Dataset data = load_dataset(parse(file_entry(path, R"(, "format": "movielens-tab")")), 2);
    EXPECT_EQ(data.info.source_hash, sha256(text)) << kind;
    EXPECT_EQ(data.ratings.nnz(), 40);
  }
}

TEST_F(Load, SaysWhereTheTimeWent) {
  std::string text = "user,item,rating\n";
  for (int k = 0; k < 200'000; ++k) text += fmt::format("{},{},{}\n", k % 977, k, k % 5 + 1);
  write_file(data_ / "mine.csv", text);
  const auto request = parse(file_entry(data_ / "mine.csv"));
  const LoadSeconds first = load_dataset(request, 2).load;
  EXPECT_GT(first.read, 0);
  EXPECT_GT(first.matrix, 0);
  EXPECT_GT(first.hash, 0);
  EXPECT_GT(first.cache, 0);
  const LoadSeconds second = load_dataset(request, 2).load;
  EXPECT_GT(second.cache, 0);
  EXPECT_EQ(second.read + second.matrix + second.hash, 0);
}

TEST_F(Load, VerifiedCountsMustHold) {
  write_file(data_ / "ml-1m/ratings.dat", "1::5::3::0\n2::5::4::0\n");  // no published sum
  const Error error = error_of([] { load_dataset(parse(R"("ml-1m")"), 1); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "found 2 users, 1 items and 2 ratings");
  EXPECT_HAS(error.what(), "1000209");
}

TEST_F(Load, QuotedCountsAreAWarning) {
  write_file(data_ / "ml-10m/ratings.dat", "7::50::3.5::0\n2::50::0.5::0\n7::9::5::0\n");
  const Dataset data = load_dataset(parse(R"("ml-10m")"), 2);
  EXPECT_EQ(table_of(data),
            (Table{{{2, 50}, {0.5F, -1}}, {{7, 9}, {5.0F, -1}}, {{7, 50}, {3.5F, -1}}}));
  EXPECT_EQ(data.info.name, "ml-10m");
  EXPECT_EQ(data.info.source, "catalog");
  EXPECT_EQ(data.info.scale->step, 0.5F);
}

TEST_F(Load, TheDeclaredScaleIsChecked) {
  write_file(data_ / "ml-10m/ratings.dat", "7::50::5.5::0\n");
  EXPECT_EQ(error_of([] { load_dataset(parse(R"("ml-10m")"), 1); }).kind(), ErrorKind::data);
}

TEST_F(Load, GivenSplitOfTheCatalog) {
  write_file(data_ / "yahoomusic/trainIdx1.txt",
             "0|2\n5\t90\t1\t10:00:00\n6\t0\t1\t10:00:00\n3|1\n5\t50\t1\t10:00:00\n");
  write_file(data_ / "yahoomusic/validationIdx1.txt", "0|1\n8\t70\t2\t10:00:00\n");
  const Dataset data = load_dataset(parse(R"("yahoomusic@validation")"), 1);
  EXPECT_EQ(table_of(data), (Table{{{0, 5}, {90.0F, kTrain}},
                                   {{0, 6}, {0.0F, kTrain}},
                                   {{3, 5}, {50.0F, kTrain}},
                                   {{0, 8}, {70.0F, kTest}}}));
  EXPECT_EQ(data.info.name, "yahoomusic@validation");
  EXPECT_TRUE(load_dataset(parse(R"("yahoomusic")"), 1).parts.empty());
}

TEST_F(Load, NetflixProbe) {
  write_file(data_ / "netflix/training_set/mv_0000001.txt",
             "1:\n30,3,2005-09-06\n20,5,2005-05-13\n");
  write_file(data_ / "netflix/training_set/mv_0000002.txt", "2:\n30,1,2005-09-06\n");
  write_file(data_ / "netflix/probe.txt", "1:\n30\n");
  const Dataset data = load_dataset(parse(R"("netflix@probe")"), 2);
  EXPECT_EQ(
      table_of(data),
      (Table{{{20, 1}, {5.0F, kTrain}}, {{30, 1}, {3.0F, kTest}}, {{30, 2}, {1.0F, kTrain}}}));
}

TEST_F(Load, ACacheAloneIsEnough) {
  const std::string file = data_ / "ml-10m/ratings.dat";
  write_file(file, "7::50::3.5::0\n");
  const auto request = parse(R"("ml-10m")");
  const Table table = table_of(load_dataset(request, 1));
  fs::remove(file);
  EXPECT_EQ(why_unavailable(request), "");
  EXPECT_EQ(table_of(load_dataset(request, 1)), table);
}

TEST_F(Load, ACarriedCacheMustFitTheCatalog) {
  write_file(data_ / "any.csv", "user,item,rating\n1,1,1\n");
  Dataset data = load_dataset(parse(file_entry(data_ / "any.csv")), 1);
  const auto request = parse(R"("ml-100k")");
  data.info.source_hash = std::string(64, '0');
  write_cache(cache_path(request), data, 1, "carried");
  EXPECT_HAS(why_unavailable(request), "other files (SHA-256 0000");
  EXPECT_HAS(error_of([&] { load_dataset(request, 1); }).what(), "other files");
  data.info.source_hash = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490";
  write_cache(cache_path(request), data, 1, "carried");
  // The right names, but other files: the counts are verified.
  const std::string counts =
      cache_path(request) +
      ": found 1 users, 1 items and 1 ratings, the catalog has 943, 1682 and 100000; ";
  EXPECT_HAS(why_unavailable(request), counts);
  EXPECT_HAS(why_unavailable(request), "MFBENCH_DATA");
  EXPECT_HAS(error_of([&] { load_dataset(request, 1); }).what(), counts);
  EXPECT_EQ(fresh_cache(request), std::nullopt);
  std::string table = "user,item,rating\n";
  for (int k = 0; k < 100000; ++k) table += fmt::format("{},{},1\n", k % 943, k % 1682);
  write_file(data_ / "many.csv", table);
  data = load_dataset(parse(file_entry(data_ / "many.csv")), 1);
  data.info.source_hash = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490";
  write_cache(cache_path(request), data, 1, "carried");
  EXPECT_EQ(why_unavailable(request), "");
  EXPECT_EQ(load_dataset(request, 1).ratings.nnz(), 100000);
  // For a split: the hash of its files' hashes, as sha256sum prints them.
  const auto split = parse(R"("ml-100k@u1")");
  data.info.source_hash = sha256(
      "ce253ec86c448b44fb3ba9a30d12dcfc2e9210cbde71efada3730c22e9ac212a  u1.base\n"
      "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950  u1.test\n");
  write_cache(cache_path(split), data, 1, "carried");
  EXPECT_EQ(why_unavailable(split), "");
  // A damaged one is no help.
  write_file(cache_path(request), "damaged");
  EXPECT_HAS(why_unavailable(request), "no mfbench cache");
}

// Without a published hash: it was made of files of these names, not of any.
TEST_F(Load, ACarriedCacheOfFilesWithoutHashWasMadeOfThem) {
  write_file(data_ / "any.csv", "user,item,rating\n1,1,1\n");
  const Dataset other = load_dataset(parse(file_entry(data_ / "any.csv")), 1);
  const auto request = parse(R"("ml-10m")");
  write_cache(cache_path(request), other, 1, "carried");
  EXPECT_HAS(why_unavailable(request), "other files");
  write_cache(cache_path(request), other, 1,
              read_cache_head(cache_path(parse(file_entry(data_ / "any.csv")))).key);
  EXPECT_HAS(why_unavailable(request), "other files");
}

TEST_F(Load, SmallLookAlikesAreNotKept) {
  const auto request = parse(R"({"like": "ml-100k", "scale": 0.1, "seed": 3})");
  EXPECT_EQ(why_unavailable(request), "");
  const Dataset data = load_dataset(request, 2);
  const Shape shape = *expected_shape(request);
  EXPECT_EQ(data.ratings.nnz(), shape.nnz);
  EXPECT_EQ(data.ratings.n_users(), shape.n_users);
  EXPECT_TRUE(data.info.look_alike);
  EXPECT_EQ(data.info.content_hash, content_hash(data.ratings, 1));
  EXPECT_TRUE(fs::is_empty(cache_.path()));
}

TEST_F(Load, LargeLookAlikesAreKept) {
  const auto request = parse(R"({"like": "ml-10m", "scale": 0.2, "seed": 3})");
  ASSERT_GE(expected_shape(request)->nnz, 2'000'000);
  const Dataset made = load_dataset(request, 2);
  const CacheHead head = read_cache_head(cache_path(request));
  EXPECT_EQ(head.nnz, made.ratings.nnz());
  EXPECT_HAS(head.key, "seed 3");
  const Dataset back = load_dataset(request, 1);
  EXPECT_EQ(back.info.content_hash, made.info.content_hash);
  EXPECT_TRUE(std::ranges::equal(back.ratings.values(), made.ratings.values()));
}

// ---- join_parts ----

// 300,000 pairs dealt to parts by a rule that can be recomputed.
void expect_joined(int n_parts, int threads) {
  const auto part_of = [=](int user, int item) { return (user * 7 + item * 3) % 5 % n_parts; };
  std::vector<GivenPart> parts;
  for (int p = 0; p < n_parts; ++p) {
    RawRatings raw;
    for (int user = 0; user < 1000; ++user) {
      for (int item = user % 2; item < 600; item += 2) {
        if (part_of(user, item) != p) continue;
        raw.users.push_back(5 * user);
        raw.items.push_back(3 * item + 1);
        raw.values.push_back(static_cast<float>((user + item) % 5 + 1));
      }
    }
    parts.push_back({static_cast<Part>(p), "part " + std::to_string(p), std::move(raw)});
  }
  const JoinedParts joined = join_parts(std::move(parts), DuplicatePolicy::error, threads, "all");
  ASSERT_EQ(joined.ratings.nnz(), 300'000);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < joined.ratings.nnz(); ++i) {
    const Rating r = joined.ratings[i];
    const int user = joined.ratings.user_ids()[r.user] / 5;
    const int item = (joined.ratings.item_ids()[r.item] - 1) / 3;
    wrong += joined.labels[i] != part_of(user, item);
    wrong += r.value != static_cast<float>((user + item) % 5 + 1);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(JoinParts, SameForAnyNumberOfThreads) {
  // Two sorted files are merged, the entries of three are sorted.
  for (const int n_parts : {2, 3}) {
    for (const int threads : {1, 4}) expect_joined(n_parts, threads);
  }
}

TEST(JoinParts, LinesOfOneFileAreTheTestPart) {
  const auto join = [](const LineRange& test) {
    const RawRatings raw =
        raw_of({{9, 1, 1}, {4, 1, 2}, {9, 3, 3}, {4, 2, 4}, {1, 1, 5}});  // line k has the value k
    return join_parts({{kTrain, "u.data", raw}}, DuplicatePolicy::error, 2, "set", nullptr, test);
  };
  for (const LineRange& test : {LineRange{1, 2}, LineRange{3, 3}, LineRange{4, 5}}) {
    const JoinedParts joined = join(test);
    ASSERT_EQ(joined.ratings.nnz(), 5);
    for (std::int64_t i = 0; i < 5; ++i) {
      const float line = joined.ratings[i].value;
      const bool in_test =
          line >= static_cast<float>(test.first) && line <= static_cast<float>(test.last);
      EXPECT_EQ(joined.labels[i], in_test ? kTest : kTrain) << line;
    }
  }
  EXPECT_HAS(error_of([&] {
               join({2, 6});
             }).what(),
             "u.data: found 5 ratings, expected at least 6, the last of the test part");
}

}  // namespace
}  // namespace mf::test
