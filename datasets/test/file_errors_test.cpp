// Files and folders that cannot be read, and malformed arrays of NumPy. Every error is an
// Error(data) that says where it is, what was found and what was expected.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/readers/archive_reader.hpp"
#include "datasets/test/malformed.hpp"

namespace mf {
namespace {

using test::Malformed;

TEST_F(Malformed, MissingFile) {
  for (const auto& format : reader_formats()) {
    const Error e = refusal("none", format.name);
    EXPECT_EQ(e.kind(), ErrorKind::data) << format.name;
    EXPECT_HAS(e.what(), "none");
    EXPECT_HAS(e.what(), "found no such file");
  }
}

TEST_F(Malformed, DirectoryWhereAFileIsExpected) {
  std::filesystem::create_directory(folder_ / "dir");
  for (const auto& format : reader_formats()) {
    const Error e = refusal("dir", format.name);
    EXPECT_EQ(e.kind(), ErrorKind::data) << format.name;
    EXPECT_HAS(e.what(), "dir");
    EXPECT_HAS(e.what(), format.name == "npy" ? "found no such file"
                         : format.name == "netflix"
                             ? "found a folder without ratings, expected files mv_*.txt"
                             : "found a directory, expected a file");
  }
  EXPECT_HAS(refusal("dir").what(),
             "found a directory without a known set of ratings, expected a file, a folder");
}

TEST_F(Malformed, FileWhereAFolderIsExpected) {
  test::write_file(folder_ / "file", "1 2 3\n");
  const Error e = refusal("file", "npy");
  EXPECT_EQ(e.kind(), ErrorKind::data);
  EXPECT_HAS(e.what(), "file: found a file, expected a folder of users.npy");
}

// While this object lives, root reads files in this thread as a user without rights (nobody).
class WithoutRights {
 public:
  WithoutRights() {
    if (geteuid() == 0) setfsuid(65534);
  }
  ~WithoutRights() {
    if (geteuid() == 0) setfsuid(0);
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;
};

bool can_open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

TEST_F(Malformed, NoPermission) {
  test::write_file(folder_ / "secret", "1 2 3\n");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::none);
  test::write_file(folder_ / "closed/ratings", "1 2 3\n");
  std::filesystem::permissions(folder_ / "closed", std::filesystem::perms::none);
  const struct Opened {
    std::string path;
    ~Opened() { std::filesystem::permissions(path, std::filesystem::perms::owner_all); }
  } opened{folder_ / "closed"};
  std::vector<Error> errors;
  {
    const WithoutRights without_rights;
    if (can_open(folder_ / "secret")) {
      GTEST_SKIP() << "this user reads files without permission and cannot become another";
    }
    for (const char* name : {"secret", "closed/ratings"}) {
      for (const char* format : {"triples", "auto"}) errors.push_back(refusal(name, format));
    }
    for (const char* format : {"auto", "npy"}) errors.push_back(refusal("closed", format));
  }
  for (const Error& error : errors) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_HAS(error.what(), "Permission denied");
  }
}

// ---- npy and npz ----

class MalformedNumpy : public Malformed {
 protected:
  // The message for both containers. The messages must agree except for the path.
  std::string numpy_error(const std::string& users, const std::string& items,
                          const std::string& ratings) {
    test::write_file(folder_ / "set/users.npy", users);
    test::write_file(folder_ / "set/items.npy", items);
    test::write_file(folder_ / "set/ratings.npy", ratings);
    test::write_file(
        folder_ / "set.npz",
        test::zip_of({{"users.npy", users}, {"items.npy", items}, {"ratings.npy", ratings}}));
    const auto message = [&](const std::string& path) {
      std::set<std::string> all;
      for (const int threads : {1, 3}) {
        const Error e =
            test::error_of([&] { read_ratings(path, test::options_of("auto", threads)); });
        EXPECT_EQ(e.kind(), ErrorKind::data) << e.what();
        all.insert(e.what());
      }
      EXPECT_EQ(all.size(), 1U);
      return *all.begin();
    };
    const std::string from_folder = message(folder_ / "set");
    if (!have_libarchive()) return from_folder;
    const std::string from_archive = message(folder_ / "set.npz");
    EXPECT_EQ(from_folder.substr(from_folder.find(": found")),
              from_archive.substr(from_archive.find(": found")));
    return from_folder;
  }
  using Ints = std::vector<std::int32_t>;
  const std::string ids_ = test::npy_of<std::int32_t>("<i4", {1, 2, 3});
  const std::string values_ = test::npy_of<float>("<f4", {1, 2, 3});
};

TEST_F(MalformedNumpy, Values) {
  EXPECT_HAS(numpy_error(test::npy_of<std::int32_t>("<i4", {1, -2, -3}), ids_, values_),
             "users.npy: element 1: found -2, expected an id of a user from 0 to 2147483647");
  EXPECT_HAS(numpy_error(ids_, test::npy_of<std::int64_t>("<i8", {1, 2, 2147483648}), values_),
             "items.npy: element 2: found 2147483648");
  EXPECT_HAS(
      numpy_error(ids_, test::npy_of<std::uint64_t>("<u8", {~std::uint64_t{0}, 2, 2}), values_),
      "items.npy: element 0: found 18446744073709551615");
  const float nan = std::nanf("");
  EXPECT_HAS(numpy_error(ids_, ids_, test::npy_of<float>("<f4", {1, nan, nan})),
             "ratings.npy: element 1: found nan, expected a rating (a finite decimal number)");
  EXPECT_HAS(numpy_error(ids_, ids_, test::npy_of<double>("<f8", {1, 2, 1e39})),
             "ratings.npy: element 2: found 1e+39");
  EXPECT_HAS(numpy_error(ids_, ids_, test::npy_of<double>("<f8", {-HUGE_VAL, 2, 1})),
             "ratings.npy: element 0: found -inf");
}

TEST_F(MalformedNumpy, TheFirstBadElementOfManyIsNamed) {
  std::vector<std::int32_t> many(300000, 1);
  std::fill(many.begin() + 150001, many.end(), -1);
  const std::string bad = test::npy_of("<i4", many);
  EXPECT_HAS(numpy_error(bad, bad, bad), "users.npy: element 150001: found -1");
}

TEST_F(MalformedNumpy, TypesAndShapes) {
  for (const char* type : {">i4", "<f2", "|b1", "<c8", "|S4", "<U1", "=i4", "<i3", "|i4"}) {
    EXPECT_HAS(numpy_error(ids_, ids_, test::npy_of<std::int32_t>(type, {1, 2, 3})),
               fmt::format("ratings.npy: found elements of type '{}', expected one of <i1", type));
  }
  EXPECT_HAS(numpy_error(values_, ids_, values_),
             "users.npy: found elements of type '<f4', expected integers for ids");
  for (const char* shape : {"(3, 1)", "(1, 3)", "()", "(3)", "[3,]"}) {
    EXPECT_HAS(numpy_error(ids_, test::npy_of<std::int32_t>("<i4", {1, 2, 3}, shape), values_),
               "expected an array of one dimension");
  }
  EXPECT_HAS(numpy_error(ids_, test::npy_of<std::int32_t>("<i4", {1, 2}), values_),
             "found 3 users, 2 items and 3 ratings, expected three arrays of one length");
  // Elements times their size overflows 64 bits.
  for (const char* shape :
       {"(4611686018427387904,)", "(4611686018427387907,)", "(9223372036854775807,)"}) {
    EXPECT_HAS(numpy_error(test::npy_of<std::int32_t>("<i4", {1, 2, 3}, shape), ids_, values_),
               fmt::format("users.npy: found 12 bytes of data, expected {} elements of 4 bytes",
                           std::string_view(shape + 1, 19)));
  }
  EXPECT_HAS(numpy_error(test::npy_of<std::int32_t>("<i4", {1, 2, 3}, "(9223372036854775808,)"),
                         ids_, values_),
             "expected an array of one dimension");
  const std::string none = test::npy_of<std::int32_t>("<i4", {});
  EXPECT_HAS(numpy_error(none, none, none), "found no ratings, expected at least one");
}

TEST_F(MalformedNumpy, CutFiles) {
  for (std::size_t size = 0; size < ids_.size(); ++size) {
    EXPECT_HAS(numpy_error(ids_.substr(0, size), ids_, values_), "users.npy: found ");
    if (HasFailure()) FAIL() << "cut to " << size;
  }
  EXPECT_HAS(numpy_error(ids_.substr(0, ids_.size() - 1), ids_, values_),
             "users.npy: found 11 bytes of data, expected 3 elements of 4 bytes");
  EXPECT_HAS(numpy_error(ids_ + "x", ids_, values_), "users.npy: found 13 bytes of data");
  EXPECT_HAS(numpy_error("no array", ids_, values_), "users.npy: found 'no arr'");
  std::string version = ids_;
  version[6] = 9;
  EXPECT_HAS(numpy_error(version, ids_, values_), "users.npy: found version 9");
}

TEST_F(MalformedNumpy, IncompleteFolder) {
  std::filesystem::create_directory(folder_ / "half");
  test::write_file(folder_ / "half/users.npy", ids_);
  EXPECT_HAS(refusal("half").what(), "items.npy: found no such file");
}

TEST_F(MalformedNumpy, Archives) {
  EXPECT_HAS(error("1 2 3\n", "npz", "x.npz"), "x.npz: found '1 2 3\\n', expected an npz file");
  if (!have_libarchive()) GTEST_SKIP() << "built without libarchive";
  EXPECT_HAS(error("PK\x03\x04 and no more", "npz", "x.npz"),
             "x.npz: found a zip archive that is damaged (no directory at its end)");
  EXPECT_HAS(error(test::zip_of({{"users.npy", ids_}, {"items.npy", ids_}}), "npz", "x.npz"),
             "x.npz: found the arrays 'users', 'items', expected the arrays 'users', 'items' and "
             "'ratings'; write it as numpy.savez(path, users=..., items=..., ratings=...)");
  const std::string sparse = test::zip_of({{"row.npy", ids_},
                                           {"col.npy", ids_},
                                           {"format.npy", ids_},
                                           {"shape.npy", ids_},
                                           {"data.npy", values_}});
  for (const char* format : {"npz", "auto"}) {
    EXPECT_HAS(error(sparse, format, "x.npz"),
               "x.npz: found a matrix of scipy.sparse, the arrays 'row', "
               "'col', 'format', 'shape', 'data', expected the arrays");
    EXPECT_HAS(error(sparse, format, "x.npz"), "scipy.sparse.load_npz(path).tocoo()");
  }
  test::write_file(folder_ / "x.npz", sparse);
  EXPECT_HAS(test::error_of([&] { look_at_ratings(folder_ / "x.npz", {}); }).what(),
             "found a matrix of scipy.sparse");
  std::string damaged =
      test::zip_of({{"users.npy", ids_}, {"items.npy", ids_}, {"ratings.npy", values_}});
  damaged[damaged.find("NUMPY") - 1 + ids_.size() - 1] ^= 1;  // the last byte of users.npy
  EXPECT_HAS(error(damaged, "npz", "x.npz"), "ZIP bad CRC");
}

}  // namespace
}  // namespace mf
