// When a cache is built, and by whom; folders that cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "datasets/cache.hpp"
#include "datasets/test/cached_sets.hpp"

namespace mf::test {
namespace {

using Cached = CacheFile;

TEST_F(Cached, AFailureToWriteIsAWarning) {
  const StandardError log;
  std::filesystem::create_directory(folder / "set.mfc.tmp");  // in the place of the file
  expect_equal(cached(folder / "set.mfc", "k", build_sample, 1), sample());
  EXPECT_HAS(log.text(), "not cached, will be built again next time");
  EXPECT_HAS(log.text(), "set.mfc.tmp");
  EXPECT_FALSE(std::filesystem::exists(folder / "set.mfc"));
}

TEST_F(Cached, BuildsOnceAndWhenTheKeyChanges) {
  int built = 0;
  const auto build = [&] {
    ++built;
    return sample(9, static_cast<float>(built));
  };
  const StandardError log;
  const Dataset first = cached(path, "key 1", build, 1);
  EXPECT_EQ(first.info.content_hash, content_hash(first.ratings, 1));
  const Dataset second = cached(path, "key 1", build, 1);
  EXPECT_EQ(built, 1);
  expect_equal(first, second);
  EXPECT_EQ(second.info.content_hash, first.info.content_hash);
  EXPECT_EQ(log.text(), "");

  const Dataset third = cached(path, "key 2", build, 1);
  EXPECT_EQ(built, 2);
  EXPECT_NE(third.info.content_hash, first.info.content_hash);
  EXPECT_HAS(log.text(), path + ": the cache is stale");
  EXPECT_EQ(log.lines(), 1);
  expect_equal(cached(path, "key 2", build, 1), third);
  EXPECT_EQ(built, 2);
}

TEST_F(Cached, RebuildsADamagedFileAndSaysSo) {
  const Dataset data = sample();
  write_cache(path, data, 1, "k");
  const std::string good = read_file(path);
  write_file(path, flipped(good, Layout(good, data).begin[2], 1));
  const StandardError log;
  int built = 0;
  const auto build = [&] {
    ++built;
    return sample();
  };
  expect_equal(cached(path, "k", build, 1), data);
  EXPECT_EQ(built, 1);
  EXPECT_HAS(log.text(), path + ": the cache is corrupt: checksum of the section values");
  EXPECT_EQ(log.lines(), 1);
  expect_equal(read_cache(path, 1), data);
}

TEST_F(Cached, AnErrorOfTheBuilderLeavesNothing) {
  const auto build = []() -> Dataset { fail(ErrorKind::data, "bad line"); };
  EXPECT_EQ(std::string(error_of([&] { cached(path, "k", build, 1); }).what()), "bad line");
  EXPECT_FALSE(std::filesystem::exists(path));
  expect_equal(cached(path, "k", build_sample, 1), sample());
}

TEST(WriteCache, NamesAFolderThatCannotBe) {
  const TempFolder folder;
  write_file(folder / "file", "not a folder");
  const Error error = error_of([&] { write_cache(folder / "file/set.mfc", sample(), 1); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_HAS(error.what(), folder / "file");
  EXPECT_HAS(error.what(), "Not a directory");

  const StandardError log;
  expect_equal(cached(folder / "file/set.mfc", "k", build_sample, 1), sample());
  EXPECT_HAS(log.text(), "not cached");
  EXPECT_EQ(log.lines(), 1);
}

// The test runs in a child process, which gives up the superuser's rights if it has them.
TEST(WriteCache, NamesAFolderWithoutPermission) {
  const TempFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
    try {
      write_cache(folder / "set.mfc", sample(), 1);
    } catch (const Error& error) {
      const bool named = std::strstr(error.what(), folder.path().c_str()) != nullptr &&
                         std::strstr(error.what(), "Permission denied") != nullptr;
      ::_exit(error.kind() == ErrorKind::io && named ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// While this object lives, no file can grow beyond so many bytes. To a program this looks like a
// full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(WriteCache, FullDisk) {
  const TempFolder folder;
  const std::string path = folder / "set.mfc";
  const Dataset data = sample(500);
  ASSERT_GT(data.ratings.bytes(), 1 << 20);
  write_cache(path, sample(9), 1, "old");
  {
    const FileSizeLimit limit(1 << 20);
    const Error error = error_of([&] { write_cache(path, data, 1, "new"); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_HAS(error.what(), path);
    EXPECT_HAS(error.what(), std::strerror(EFBIG));
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  expect_equal(read_cache(path, 1), sample(9));  // the old file is untouched
}

// Both processes have begun before either builds; the builder leaves a mark each time it runs.
TEST_F(Cached, TwoProcessesBuildOnce) {
  const std::string marks = folder / "marks";
  std::array<int, 2> begun{};
  ASSERT_EQ(::pipe(begun.data()), 0);
  std::array<pid_t, 2> children{};
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    ::alarm(60);
    const auto build = [&] {
      std::ofstream(marks, std::ios::app) << "x";
      std::array<char, 2> both{};
      for (std::size_t got = 0; got < 2;) {
        const ssize_t more = ::read(begun[0], both.data() + got, 2 - got);
        if (more > 0) got += static_cast<std::size_t>(more);
      }
      return sample(200);
    };
    if (::write(begun[1], "b", 1) != 1) ::_exit(2);
    const Dataset data = cached(path, "k", build, 1);
    ::_exit(std::ranges::equal(data.ratings.values(), sample(200).ratings.values()) ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  ::close(begun[0]);
  ::close(begun[1]);
  EXPECT_EQ(read_file(marks), "x");
  expect_equal(read_cache(path, 1), sample(200));
}

TEST(CacheFolder, FollowsTheEnvironment) {
  Environment environment;
  environment.set("HOME", "/home/someone");
  environment.set("XDG_CACHE_HOME", "");
  environment.set("MFBENCH_CACHE", "");
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/mfbench");
  environment.set("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(cache_folder(), "/xdg/mfbench");
  environment.set("MFBENCH_CACHE", "/own");
  EXPECT_EQ(cache_folder(), "/own");
}

}  // namespace
}  // namespace mf::test
