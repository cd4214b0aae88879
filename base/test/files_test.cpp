// The file toolkit: atomic files, claims, and NumPy's files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/files/atomic_file.hpp"
#include "base/files/claim.hpp"
#include "base/files/file_copy.hpp"
#include "base/files/held_folder.hpp"
#include "base/files/mapped_file.hpp"
#include "base/files/npy.hpp"
#include "base/files/open_file.hpp"
#include "base/host/process_id.hpp"
#include "base/wait.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::read_file;
using test::write_file;

TEST(AtomicFile, IsThereAfterCommitAlone) {
  const TempFolder folder;
  const std::string path = folder / "a";
  {
    AtomicFile file(path);
    file.write("not finished");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_atomically(path, "first");
  {
    AtomicFile file(path);
    file.write("not finished");
    EXPECT_EQ(read_file(path), "first");
  }
  write_atomically(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, LeavesTheOneOfWhoeverTookOver) {
  const TempFolder folder;
  const std::string path = folder / "a";
  auto late = std::make_unique<AtomicFile>(path), failed = std::make_unique<AtomicFile>(path);
  AtomicFile taken(path);
  taken.write("whole");
  EXPECT_HAS(error_of([&] { late->commit(); }).what(), "was replaced while it was written");
  late.reset();
  failed.reset();
  taken.commit();
  EXPECT_EQ(read_file(path), "whole");
}

TEST(AtomicFile, SaysWhyItCannotBeWritten) {
  const TempFolder folder;
  const Error error = error_of([&] { write_atomically(folder / "none/a", "text"); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_HAS(error.what(), "none/a.tmp: cannot be written: No such file");
  make_folder(folder / "a");
  write_file(folder / "a/b", "in the way");
  EXPECT_HAS(error_of([&] { write_atomically(folder / "a", "text"); }).what(), "cannot be renamed");
  EXPECT_FALSE(fs::exists(folder / "a.tmp"));
}

template <class Action>
std::exception_ptr thrown_by(Action&& action) {
  try {
    action();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Files of this process up to its limit, and files that then cannot be opened.
TEST(Cause, TooManyOpenFilesIsNoFullDiskAndNoBadData) {
  const TempFolder folder;
  write_file(folder / "data", "1 2 3\n");
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  // A sanitizer looks at the first object of each type through a pipe, which takes two files: here
  // on a failure.
  EXPECT_TRUE(thrown_by([&] { map_file(folder / "none"); }));
  const int next = ::dup(0);  // the first number that is free
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit small{static_cast<rlim_t>(next), old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
  // Looked at later: a sanitizer needs files for that.
  const auto read = thrown_by([&] { map_file(folder / "data"); });
  const auto write = thrown_by([&] { write_atomically(folder / "new", "text"); });
  const auto lock = thrown_by([&] { FileClaim::if_free(folder / "lock"); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  for (const std::exception_ptr& thrown : {read, write, lock}) {
    ASSERT_TRUE(thrown);
    const Error error = error_of([&] { std::rethrow_exception(thrown); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_HAS(error.what(), "Too many open files; this process may open");
    EXPECT_HAS(error.what(), "ulimit -n");
  }
}

TEST(AtomicFile, StaysInTheFolderThatItWasBegunIn) {
  const TempFolder folder;
  for (const char* name : {"a", "outside"}) fs::create_directory(folder / name);
  AtomicFile file(folder / "a/x", Origin::found);
  fs::rename(folder / "a", folder / "b");
  fs::create_directory_symlink(folder / "outside", folder / "a");
  file.write("text");
  file.commit();
  EXPECT_EQ(read_file(folder / "b/x"), "text");
  EXPECT_HAS(error_of([&] { write_atomically(folder / "a/x", "", Origin::found); }).what(),
             "a/x.tmp: cannot be written: Not a directory; one of its folders is a file or a link");
  EXPECT_TRUE(fs::is_empty(folder / "outside"));
  write_atomically(folder / "a/x", "of a user who has named the link");
  EXPECT_TRUE(fs::exists(folder / "outside/x"));
  EXPECT_EQ(without_links(folder / "a"), folder / "outside");
  EXPECT_EQ(without_links(folder / "b"), folder / "b");
}

TEST(AtomicFolder, IsFilledWhateverTakesItsName) {
  const TempFolder folder;
  fs::create_directory(folder / "outside");
  AtomicFolder fresh(folder / "m");
  fs::rename(folder / "m.tmp", folder / "moved");
  fs::create_directory_symlink(folder / "outside", folder / "m.tmp");
  fresh.fill([](const std::string& path) { write_atomically(path + "/x", "text"); });
  EXPECT_EQ(read_file(folder / "moved/x"), "text");
  EXPECT_TRUE(fs::is_empty(folder / "outside"));
  const auto fails = [](const std::string& path) { write_atomically(path + "/none/x", ""); };
  EXPECT_HAS(error_of([&] { fresh.fill(fails); }).what(), "/m.tmp/none/x.tmp: cannot be written");
}

TEST(AtomicFolder, IsMadeAndNotFound) {
  const TempFolder folder;
  const AtomicFolder first(folder / "m");
  write_file(folder / "m.tmp/file", "of a run that was killed");
  const AtomicFolder again(folder / "m");
  EXPECT_TRUE(fs::is_empty(folder / "m.tmp"));
  fs::create_directory(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "n.tmp");
  const AtomicFolder fresh(folder / "n");
  EXPECT_FALSE(fs::is_symlink(folder / "n.tmp"));
}

TEST(AtomicFolder, ReplacesTheOldOneAsAWhole) {
  const TempFolder folder;
  write_file(folder / "m/old", "old");
  write_file(folder / "m.tmp/of a killed run", "");
  {
    AtomicFolder fresh(folder / "m");
    write_file(folder / "m.tmp/new", "not finished");
  }
  EXPECT_EQ(read_file(folder / "m/old"), "old");
  AtomicFolder fresh(folder / "m");
  fresh.fill([](const std::string& path) { write_file(path + "/new", "new"); });
  fresh.commit();
  EXPECT_FALSE(fs::exists(folder / "m/old"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "m"), {}), 1);
  EXPECT_FALSE(fs::exists(folder / "m.tmp"));
}

TEST(FileClaim, IsHeldByOneAtATime) {
  const TempFolder folder;
  const std::string path = folder / "a b.mfc";
  std::unique_ptr<FileClaim> first = FileClaim::if_free(path);
  ASSERT_TRUE(first);
  EXPECT_FALSE(FileClaim::if_free(path));
  const test::StandardError said;
  std::thread waiting([&] { const FileClaim second(path); });
  while (said.text().empty()) std::this_thread::yield();
  EXPECT_HAS(said.text(),
             "info: waiting for " + own_process().to_text() + ", which writes " + path);
  first.reset();
  waiting.join();
  EXPECT_TRUE(FileClaim::if_free(path));
  EXPECT_HAS(error_of([&] { FileClaim::if_free(folder / "none/a"); }).what(),
             "none: cannot be opened: No such file");
}

TEST(FileClaim, AWaitEndsWhenItsThreadIsToldTo) {
  const TempFolder folder;
  const std::string path = folder / "a.mfc";
  const FileClaim held(path);
  const test::StandardError said;
  int asked = 0;
  const WaitScope waits([&](const std::string& what, double) {
    if (++asked == 3) fail(ErrorKind::io, "no longer for {}", what);
  });
  EXPECT_HAS(error_of([&] { const FileClaim second(path); }).what(),
             "no longer for " + own_process().to_text() + ", which writes " + path);
}

TEST(FileClaim, LeavesNothingBehind) {
  const TempFolder folder;
  EXPECT_TRUE(FileClaim::if_free(folder / "a.mfc"));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OpenFile, WhatIsFoundIsAFileOrNamed) {
  const TempFolder folder;
  write_file(folder / "file", "text");
  fs::create_symlink(folder / "file", folder / "link");
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  fs::create_directory(folder / "folder");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto found = [&](const std::string& name) {
    return std::string(error_of([&] { read_text(folder / name, Origin::found); }).what());
  };
  EXPECT_EQ(read_text(folder / "file", Origin::found), "text");
  EXPECT_HAS(found("link"), "link: found a link, expected a file");
  EXPECT_HAS(found("dangling"), "dangling: found a link, expected a file");
  EXPECT_HAS(found("folder"), "found a directory");
  EXPECT_HAS(found("pipe"), "found a pipe");
  EXPECT_HAS(found("none"), "found no such file");
  EXPECT_EQ(read_text(folder / "link", Origin::named), "text");
  EXPECT_FALSE(open_if_there(folder / "dangling", Origin::named));
  EXPECT_FALSE(open_if_there(folder / "none", Origin::found));
  EXPECT_HAS(error_of([&] { open_file(folder / "pipe", Origin::named_file); }).what(),
             "found a pipe");
  EXPECT_HAS(error_of([&] { read_text(folder / "file", Origin::found, 3); }).what(),
             "found more than");
}

TEST(OpenFile, AFolderIsMadeBelowAnotherAndNotElsewhere) {
  const TempFolder folder;
  fs::create_directory(folder / "top");
  fs::create_directory(folder / "outside");
  EXPECT_EQ(make_folder_in(folder / "top", "a/b"), folder / "top/a/b");
  EXPECT_EQ(make_folder_in(folder / "top", "a/b"), folder / "top/a/b");
  fs::create_symlink(folder / "outside", folder / "top/link");
  fs::create_symlink(folder / "outside/new", folder / "top/dangling");
  for (const char* name : {"link/b", "dangling/b"}) {
    EXPECT_HAS(error_of([&] { make_folder_in(folder / "top", name); }).what(), "found a link");
  }
  EXPECT_HAS(error_of([&] { make_folder_in(folder / "top/link", "b"); }).what(),
             "link: cannot be opened: Not a directory; one of its folders is a file or a link");
  EXPECT_TRUE(fs::is_empty(folder / "outside"));
}

TEST(HeldFolder, IsReadWhateverTakesItsName) {
  const TempFolder folder;
  for (const char* name : {"a/sub", "outside/sub"}) fs::create_directories(folder / name);
  for (const char* name : {"a", "outside"}) {
    write_file(folder / (std::string(name) + "/x"), name);
    write_file(folder / (std::string(name) + "/sub/y"), name);
  }
  const std::string own = folder / "a", x = own + "//x", y = own + "/sub/y";
  const auto reads = [](const std::string& path) { return read_text(path, Origin::found); };
  {
    const HeldFolder held(own + "/");
    fs::rename(own, folder / "b");
    fs::create_directory_symlink(folder / "outside", own);
    EXPECT_EQ(reads(x), "a");
    EXPECT_EQ(reads(y), "a");
    EXPECT_FALSE(open_if_there(own + "/none", Origin::found));
    const HeldFolder inner(own);  // which is a part of it
    EXPECT_EQ(reads(x), "a");
    fs::rename(folder / "b/sub", folder / "b/aside");
    fs::create_directory_symlink(folder / "outside/sub", folder / "b/sub");
    EXPECT_HAS(error_of([&] { reads(y); }).what(),
               y + ": cannot be opened: Not a directory; one of its folders is a file or a link");
    EXPECT_EQ(read_text(x, Origin::named), "outside") << "the user may name it";
  }
  EXPECT_EQ(reads(x), "outside") << "the user names it, where it leads now";
  const HeldFolder found(own, Origin::found);
  EXPECT_HAS(error_of([&] { reads(x); }).what(), "one of its folders is a file or a link");
}

TEST(HeldFolder, MayBeTheRoot) {
  const TempFolder folder;
  const std::string top = fs::canonical(folder.path());
  write_file(top + "/x", "text");
  fs::create_directory_symlink(top, top + "/link");
  const auto reads = [](const std::string& path) { return read_text(path, Origin::found); };
  EXPECT_EQ(reads(top + "/link/x"), "text");
  for (const char* root : {"/", "//"}) {
    const HeldFolder held(root);
    EXPECT_EQ(reads(top + "/x"), "text");
    EXPECT_HAS(error_of([&] { reads(top + "/link/x"); }).what(), "is a file or a link");
  }
}

TEST(OpenFile, AFolderIsMadeNowhereElseWhileOneIsExchangedForALink) {
  const TempFolder folder;
  fs::create_directories(folder / "top/a");
  fs::create_directory(folder / "outside");
  const std::string a = folder / "top/a", link = folder / "top/link";
  fs::create_symlink(folder / "outside", link);
  const auto exchange = [&] {
    return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (!exchange()) GTEST_SKIP() << "the file system exchanges no names: " << last_cause();
  std::atomic<bool> over = false;
  std::thread exchanger([&] {
    while (!over) exchange();
  });
  constexpr int kRounds = 3000;
  int made = 0;
  for (int round = 0; round < kRounds; ++round) {
    try {
      make_folder_in(folder / "top", "a/" + std::to_string(round));
      ++made;
    } catch (const Error&) {  // of the link
    }
  }
  over = true;
  exchanger.join();
  EXPECT_TRUE(fs::is_empty(folder / "outside")) << made << " of " << kRounds << " were made";
}

TEST(MapFile, ADeviceIsRefused) {
  EXPECT_HAS(error_of([] { map_file("/dev/zero"); }).what(), "found a device");
}

// A file of five pages, all but the first of which are gone once it is mapped.
struct CutFile {
  explicit CutFile(const TempFolder& folder) : path(folder / "cut") {
    write_file(path, std::string(5 * 4096, 'x'));
  }
  Bytes map() const {
    Bytes bytes = map_file(path);
    fs::resize_file(path, 4096);
    return bytes;
  }
  std::string told() const { return path + ": the file was cut short"; }

  const std::string path;
};

TEST(MapFile, AFileThatIsCutReadsAsZerosAndIsTold) {
  const TempFolder folder;
  const CutFile file(folder);
  const auto read = [&] {
    const Bytes bytes = file.map();
    EXPECT_FALSE(was_cut(bytes));
    EXPECT_EQ(bytes.view[4000], 'x');
    EXPECT_EQ(bytes.view[3 * 4096 + 5], '\0');
    EXPECT_EQ(bytes.view[4 * 4096 + 5], '\0');
    EXPECT_TRUE(was_cut(bytes));
    return 0;
  };
  EXPECT_HAS(error_of([&] { of_whole_files(read); }).what(), file.told());
}

TEST(MapFile, ThatAFileWasCutSaysMoreThanWhatIsWrongWithTheRest) {
  const TempFolder folder;
  const CutFile file(folder);
  const auto read = [&]() -> int {
    if (file.map().view[3 * 4096] == '\0') fail(ErrorKind::data, "a zero");
    return 0;
  };
  EXPECT_HAS(error_of([&] { of_whole_files(read); }).what(), file.told());
}

TEST(MapFile, ThatAFileWasCutIsToldOfNoOther) {
  const TempFolder folder;
  const CutFile file(folder);
  const std::string whole = folder / "whole";
  write_file(whole, "text");
  const auto read_whole = [&] {
    return of_whole_files([&] { return std::string(map_file(whole).view); });
  };
  const auto read_both = [&] {
    const Bytes bytes = file.map();
    EXPECT_EQ(bytes.view[3 * 4096], '\0');
    return read_whole();  // while the other is mapped
  };
  EXPECT_HAS(error_of([&] { of_whole_files(read_both); }).what(), file.told());
  EXPECT_EQ(read_whole(), "text");
}

TEST(MapFile, WhatIsMappedWhereNoOneAsksIsReadAtOnce) {
  const TempFolder folder;
  const CutFile file(folder);
  const Bytes bytes = file.map();
  EXPECT_EQ(bytes.view, std::string(5 * 4096, 'x'));
  EXPECT_FALSE(was_cut(bytes));
  EXPECT_FALSE(was_cut({}));
}

// A search for the end of a line finds one, whether the last page is full or not.
TEST(MapFile, ANewlineFollowsTheLastPage) {
  const TempFolder folder;
  const std::string path = folder / "a";
  const MappedFiles mapped;
  for (const std::size_t size : {4096, 5000, 8192}) {
    write_file(path, std::string(size, 'x'));
    const Bytes bytes = map_file(path);
    fs::resize_file(path, size - 100);
    const char* const last_page = bytes.view.data() + (size + 4095) / 4096 * 4096;
    EXPECT_EQ(*last_page, '\n') << size;
    EXPECT_EQ(last_page[4095], '\n') << size;
    EXPECT_EQ(std::count(bytes.view.begin(), bytes.view.end(), 'x'), size - 100);
  }
}

TEST(FileCopy, StaysAsItWasRead) {
  const TempFolder folder;
  const std::string path = folder / "a";
  write_file(path, std::string(5000, 'x') + "yz");
  FileCopy copy(path);
  copy.read(4990, 11);
  const auto part = copy.bytes().subspan(0, 10);
  copy.read(part);
  fs::resize_file(path, 100);
  EXPECT_EQ(copy.bytes().size(), 5002u);
  EXPECT_EQ(copy.bytes()[9], std::byte{'x'});
  EXPECT_EQ(copy.bytes()[5000], std::byte{'y'});
  EXPECT_HAS(error_of([&] { copy.read(90, 20); }).what(), path + ": the file was cut short");
  EXPECT_NO_THROW(copy.read(90, 10));
  EXPECT_HAS(error_of([&] { FileCopy(folder.path()); }).what(), "found a directory");
}

struct Npy : ::testing::Test {
  const TempFolder folder;
  const std::string path = folder / "a.npy";
};

TEST_F(Npy, RowsWithAStrideArePacked) {
  const std::vector<float> rows = {1, 2, 9, 3, 4, 9};
  write_npy(path, rows.data(), 2, 2, 3);
  const auto back = read_npy<float>(path);
  EXPECT_EQ(back.shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(back.values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(fs::file_size(path) % 64, 16u) << "data starts at 64 bytes";
  EXPECT_HAS(error_of([&] { read_npy<std::int32_t>(path); }).what(),
             "found the type '<f4', expected '<i4'");
  fs::resize_file(path, 140);
  EXPECT_HAS(error_of([&] { read_npy<float>(path); }).what(), "cut short");
}

TEST_F(Npy, AShapeWhoseProductPasses64BitsIsNoSize) {
  const std::vector<float> values(16);
  for (const char* shape : {"(4611686018427387904,)", "(4294967296, 4294967296)"}) {
    write_npy(path, values.data(), 16, 0, 1);
    std::string text = read_file(path);
    text.replace(text.find("(16,)"), std::string(shape).size(), shape);
    text[text.find(shape) + std::string(shape).size()] = '}';
    write_file(path, text);
    EXPECT_HAS(error_of([&] { read_npy<float>(path); }).what(), shape);
  }
}

TEST_F(Npy, ACutHeaderIsNamed) {
  write_npy(path, std::vector<float>{1, 2}.data(), 2, 0, 1);
  const std::string text = read_file(path);
  for (std::size_t size = 0; size < 128; ++size) {
    write_file(path, text.substr(0, size));
    EXPECT_HAS(error_of([&] { read_npy<float>(path); }).what(), "a.npy: found") << size;
  }
}

// As NumPy writes an array whose columns lie together: never taken for one by rows.
TEST_F(Npy, FortranOrderIsRefused) {
  const std::vector<float> values = {1, 2, 3, 4};
  write_npy(path, values.data(), 2, 2, 2);
  std::string text = read_file(path);
  text.replace(text.find("False"), 5, "True ");
  write_file(path, text);
  EXPECT_HAS(error_of([&] { read_npy<float>(path); }).what(), "'(2, 2)'");
}

TEST_F(Npy, Shapes) {
  using Shape = std::vector<std::int64_t>;
  const std::int32_t one = 1;
  write_npy(folder / "a.npy", &one, 1, 0, 1);
  const std::string text = read_file(folder / "a.npy");
  const auto shape_of = [&](const std::string& shape) {
    std::string changed = text;
    changed.replace(changed.find("(1,), }"), 7, shape + ", }");
    changed[8] = static_cast<char>(changed[8] + std::ssize(shape) - 4);
    return read_npy_header("a", changed).shape;
  };
  EXPECT_EQ(shape_of("(1,)"), Shape({1}));
  EXPECT_EQ(shape_of("()"), Shape());
  EXPECT_EQ(shape_of("(12, 3)"), Shape({12, 3}));
  EXPECT_EQ(shape_of("(12, 3, )"), Shape({12, 3}));
  for (const char* wrong : {"(1)", "[1,]", "(-1,)", "(1 2)", "1", "(a,)"}) {
    EXPECT_FALSE(shape_of(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace mf
