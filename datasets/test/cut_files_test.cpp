// Files that others cut short or write anew while they are read: an error, or the earlier content,
// and no end of the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "datasets/cache.hpp"
#include "datasets/from_files.hpp"
#include "datasets/split/split.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::TextFormat;

constexpr int kMoments = 100;
constexpr int kRatings = 30'000;
constexpr int kThreads = 2;

// Runs `read` again and again while another thread does something to the file, each time at a
// moment and for a size of their own.
template <class Write, class Read, class Harm>
void harm_while_read(const std::string& path, const Write& write, const Read& read,
                     const Harm& harm, int moments = kMoments) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  write();
  const auto start = Clock::now();
  read();
  double whole_s = seconds_since(start);
  const auto size = fs::file_size(path);
  int refused = 0;
  // A first read that took long, on a busy machine, would put all moments behind the others.
  const int most = 10 * moments;
  for (int moment = 0; moment < moments || (refused == 0 && moment < most); ++moment) {
    write();
    const std::chrono::duration<double> wait(
        std::uniform_real_distribution<>(0, 1.2 * whole_s)(random));
    // Also within the last page, where the system sends no signal.
    const std::uintmax_t last = std::min<std::uintmax_t>(size, 4096);
    const std::uintmax_t left = random() % 4 == 0 ? size - 1 - random() % last : random() % size;
    std::thread other([&] {
      std::this_thread::sleep_for(wait);
      harm(left);
    });
    const auto begin = Clock::now();
    try {
      read();
      whole_s = std::min(whole_s, seconds_since(begin));
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      EXPECT_HAS(error.what(), path);
    }
    other.join();
  }
  EXPECT_GT(refused, 0);
}

std::string text_of(const TextFormat& format) {
  return test::text_of(
      format, test::in_file_order(format, test::random_ratings(1, kRatings, 3'000, 20'000)));
}

// Many names, so that the chunks have others.
std::string text_with_names(const TextFormat& format) {
  std::string text = format.head;
  for (int k = 0; k < kRatings; ++k) {
    text += test::line_of(format, fmt::format("user-{}", k % 9'000),
                          fmt::format("item-{}", k * 7 % 10'000), "4") +
            "\n";
  }
  return text;
}

Source source_of(const std::string& path, const std::string& format) {
  DatasetRequest request;
  request.path = path;
  request.format = format;
  request.duplicates = "last";
  return source_of_files(request);
}

class EveryFormatOfFiles : public testing::TestWithParam<TextFormat> {
 protected:
  void harm(const std::string& text, const auto& harm) {
    const std::string path = folder_ / "ratings";
    const Source source = source_of(path, GetParam().name);
    harm_while_read(
        path, [&] { test::write_file(path, text); }, [&] { read_source(source, kThreads); },
        [&](std::uintmax_t left) { harm(path, left); });
  }
  TempFolder folder_;
};

TEST_P(EveryFormatOfFiles, MayBeCutShortWhileItIsRead) {
  harm(text_of(GetParam()),
       [](const std::string& path, std::uintmax_t left) { fs::resize_file(path, left); });
}

// Lines of one byte: far more of them than were counted.
TEST_P(EveryFormatOfFiles, MayBeWrittenAnewWhileItIsRead) {
  const std::string text = text_of(GetParam());
  std::string other = text;
  for (std::size_t at = text.size() / 8; at < other.size(); ++at) other[at] = "7\n"[at % 2];
  harm(text, [&](const std::string& path, std::uintmax_t) { test::write_file(path, other); });
}

INSTANTIATE_TEST_SUITE_P(Readers, EveryFormatOfFiles, testing::ValuesIn(test::text_formats()),
                         test::name_of);

class EveryFormatWithNames : public EveryFormatOfFiles {};

TEST_P(EveryFormatWithNames, MayBeCutShortWhileItIsRead) {
  harm(text_with_names(GetParam()),
       [](const std::string& path, std::uintmax_t left) { fs::resize_file(path, left); });
}

INSTANTIATE_TEST_SUITE_P(Readers, EveryFormatWithNames,
                         testing::ValuesIn(test::text_formats().begin(),
                                           test::text_formats().begin() + 4),
                         test::name_of);

TEST(CacheFile, MayBeCutShortOrWrittenAnewWhileItIsRead) {
  const TempFolder folder;
  const std::string path = folder / "set.mfc";
  Dataset data;
  data.info.name = "set";
  RawRatings raw = test::raw_of(test::random_ratings(1, 300'000, 3'000, 20'000));
  std::fill(raw.values.begin(), raw.values.end(), 3.0F);
  data.ratings = make_ratings(std::move(raw), DuplicatePolicy::last, kThreads, "set");
  write_cache(path, data, kThreads);
  const std::string bytes = test::read_file(path);
  std::string other = bytes;
  std::fill(other.begin() + std::ssize(other) / 8, other.end(), '\x7f');
  const auto write = [&] { test::write_file(path, bytes); };
  // Data read before serve all later work.
  const auto read_and_cut = [&] {
    Dataset found = read_cache(path, kThreads);
    SplitSpec spec;
    EXPECT_EQ(make_split_consuming(std::move(found), spec, kThreads).train.n_items(),
              data.ratings.n_items());
  };
  harm_while_read(path, write, read_and_cut,
                  [&](std::uintmax_t left) { fs::resize_file(path, left); });
  harm_while_read(path, write, read_and_cut,
                  [&](std::uintmax_t) { test::write_file(path, other); });
}

}  // namespace
}  // namespace mf
