#include "datasets/fetch/fetch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "datasets/fetch/unpack.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "testing/archives.hpp"
#include "testing/http_server.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::HttpServer;
using test::make_tar;
using test::make_zip;
using test::Member;
using test::read_file;
using test::TempFolder;
using test::write_file;

std::string random_text(std::size_t bytes, std::uint64_t seed) {
  Rng rng(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + rng.below(26));
  return text;
}

// A set of two files in an archive of four members, served by a server of our own.
class FetchFile : public testing::Test {
 protected:
  void SetUp() override {
    environment_.set("no_proxy", "127.0.0.1");
    options_.base_url = server_.url();
    options_.download.attempts = 1;
    options_.download.backoff_s = 0.001;
    options_.download.say = [this](const std::string& line) {
      said_ += line + "\n";
      if (requests_when_first_said_ < 0) requests_when_first_said_ = std::ssize(server_.requests());
    };
    entry_.name = "toy";
    entry_.title = "A toy";
    entry_.url = "https://example.invalid/some/where/toy.zip";
    entry_.licence = "For tests only.";
    entry_.citation = "Nobody, 2024.";
    train_ = random_text(200'000, 1);
    entry_.files = {{"train.dat", sha256(train_), "csv", "toy/train.dat"},
                    {"test.dat", "", "csv", "toy/test.dat"},
                    {"other.dat", "", "csv", ""}};  // not in the archive
    entry_.whole = {"train.dat"};
    archive_ = make_zip({{"toy/", "", 040755},
                         {"toy/README", "read me"},
                         {"toy/train.dat", train_},
                         {"toy/test.dat", "the test part"}});
    entry_.archive_sha256 = sha256(archive_);
  }

  FetchReport fetch() { return fetch_entry(entry_, folder_.path(), options_); }
  std::string file(const std::string& name) { return folder_ / "toy/" + name; }

  void expect_installed() {
    EXPECT_EQ(read_file(file("train.dat")), train_);
    EXPECT_EQ(read_file(file("test.dat")), "the test part");
    const std::set<std::string> expected = {"train.dat", "test.dat", "fetched.json", ".fetch.lock"};
    EXPECT_EQ(names(), expected);
  }
  std::set<std::string> names() {
    std::set<std::string> found;
    for (const auto& one : fs::directory_iterator(folder_ / "toy")) {
      found.insert(one.path().filename().string());
    }
    return found;
  }

  HttpServer server_;
  TempFolder folder_;
  test::Environment environment_;
  CatalogEntry entry_;
  FetchOptions options_;
  std::string train_, archive_, said_;
  std::ptrdiff_t requests_when_first_said_ = -1;
};

class Fetch : public FetchFile {
 protected:
  void SetUp() override {
    if (!have_libarchive()) GTEST_SKIP() << "this build has no libarchive, so it unpacks nothing";
    FetchFile::SetUp();
  }
};

TEST_F(Fetch, WholeSet) {
  server_.answer("toy.zip", {{.content = archive_}});
  std::int64_t most = 0;
  options_.download.progress = [&](std::int64_t done, std::int64_t) {
    most = std::max(most, done);
  };
  const FetchReport report = fetch();
  expect_installed();
  EXPECT_EQ(report.folder, folder_ / "toy");
  EXPECT_EQ(report.files, (std::vector<std::string>{"train.dat", "test.dat"}));
  EXPECT_EQ(report.archive_sha256, sha256(archive_));
  EXPECT_TRUE(report.checksum_known);
  EXPECT_EQ(report.download.bytes, std::ssize(archive_));
  EXPECT_EQ(report.download.attempts, 1);
  EXPECT_LE(most, std::ssize(archive_));
  EXPECT_HAS(said_, "For tests only.");
  EXPECT_EQ(requests_when_first_said_, 0) << "the licence comes before the download";

  const Json record = read_json_file(file("fetched.json"));
  EXPECT_EQ(record.at("download_sha256"), sha256(archive_));
  EXPECT_EQ(record.at("files_sha256").at("test.dat"), sha256("the test part"));
  EXPECT_EQ(record.at("licence"), "For tests only.");
  EXPECT_EQ(record.at("url"), server_.url() + "/toy.zip");

  EXPECT_TRUE(fetch().already_there);
  EXPECT_EQ(server_.requests().size(), 1U);
  write_file(file("train.dat"), "damaged");
  EXPECT_FALSE(fetch().already_there);
  expect_installed();
  options_.again = options_.keep_archive = true;
  EXPECT_FALSE(fetch().already_there);
  EXPECT_EQ(read_file(file("toy.zip")), archive_);
}

TEST_F(Fetch, ACutDownloadContinuesAtTheNextCall) {
  server_.answer("toy.zip", {{.content = archive_, .cut_after = 70'000}, {.content = archive_}});
  const Error error = error_of([&] { fetch(); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_HAS(error.what(), server_.url() + "/toy.zip");
  EXPECT_HAS(error.what(), "run the command again to continue");
  EXPECT_EQ(read_file(file("toy.zip.part")), archive_.substr(0, 70'000));
  const FetchReport report = fetch();
  expect_installed();
  EXPECT_EQ(server_.requests(), (std::vector<std::string>{"", "bytes=70000-"}));
  EXPECT_EQ(report.download.resumed, 70'000);
  EXPECT_EQ(report.download.restarts, 0);
}

TEST_F(Fetch, ErrorsThatMayPassAreTriedAgain) {
  server_.answer("toy.zip", {{.content = "", .status = 503},
                             {.content = archive_, .cut_after = 1000},
                             {.content = archive_, .cut_after = 50'000},
                             {.content = "", .status = 429},
                             {.content = archive_}});
  options_.download.attempts = 3;
  const FetchReport report = fetch();
  expect_installed();
  EXPECT_EQ(server_.requests(),
            (std::vector<std::string>{"", "", "bytes=1000-", "bytes=51000-", "bytes=51000-"}));
  EXPECT_EQ(report.download.attempts, 5);
  EXPECT_HAS(said_, "trying again");
}

TEST_F(Fetch, GivesUpAfterSoManyAttemptsInARow) {
  server_.answer("toy.zip", {{.content = "", .status = 500}});
  options_.download.attempts = 3;
  EXPECT_HAS(error_of([&] { fetch(); }).what(), "HTTP status 500");
  EXPECT_EQ(server_.requests().size(), 3U);
}

TEST_F(Fetch, AServerWithoutRangesBeginsAnew) {
  server_.answer("toy.zip", {{.content = archive_, .ranges = false, .cut_after = 70'000},
                             {.content = archive_, .ranges = false}});
  EXPECT_THROW(fetch(), Error);
  const FetchReport report = fetch();
  expect_installed();
  EXPECT_EQ(report.download.restarts, 1);
  EXPECT_EQ(report.download.resumed, 0);
}

TEST_F(Fetch, MoreThanTheServerHasBeginsAnew) {
  fs::create_directories(folder_ / "toy");
  write_file(file("toy.zip.part"), archive_ + "more");
  server_.answer("toy.zip", {{.content = archive_}});
  fetch();
  expect_installed();
}

TEST_F(Fetch, AFileThatChangedMeanwhileIsFetchedOnceMore) {
  const std::string old = random_text(archive_.size(), 9);
  server_.answer("toy.zip", {{.content = old, .cut_after = 70'000}, {.content = archive_}});
  EXPECT_THROW(fetch(), Error);
  const FetchReport report = fetch();
  expect_installed();
  EXPECT_TRUE(report.fetched_twice);
  EXPECT_EQ(server_.requests(), (std::vector<std::string>{"", "bytes=70000-", ""}));
  EXPECT_HAS(said_, "wrong checksum after continuing");
}

TEST_F(Fetch, AFileThatChangesWithinOneCallIsFetchedOnceMore) {
  const std::string old = random_text(archive_.size(), 9);
  server_.answer("toy.zip", {{.content = old, .cut_after = 70'000}, {.content = archive_}});
  options_.download.attempts = 2;
  EXPECT_TRUE(fetch().fetched_twice);
  expect_installed();
}

TEST_F(Fetch, AWrongChecksumNamesBothAndInstallsNothing) {
  const std::string other = make_zip({{"toy/train.dat", train_}, {"toy/test.dat", "altered"}});
  server_.answer("toy.zip", {{.content = other}});
  const Error error = error_of([&] { fetch(); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), sha256(other));
  EXPECT_HAS(error.what(), sha256(archive_));
  EXPECT_EQ(names(), (std::set<std::string>{".fetch.lock"}));
  EXPECT_EQ(server_.requests().size(), 1U);
}

TEST_F(Fetch, TheMd5OfTheOriginIsChecked) {
  entry_.archive_sha256 = "";
  entry_.archive_md5 = md5("something else");
  server_.answer("toy.zip", {{.content = archive_}});
  const Error error = error_of([&] { fetch(); });
  EXPECT_HAS(error.what(), "MD5 " + md5(archive_) + ", expected " + md5("something else"));
  entry_.archive_md5 = md5(archive_);
  EXPECT_TRUE(fetch().checksum_known);
  expect_installed();
}

TEST_F(Fetch, WithoutAPublishedChecksumItSaysSo) {
  entry_.archive_sha256 = "";
  server_.answer("toy.zip", {{.content = archive_}});
  EXPECT_FALSE(fetch().checksum_known);
  expect_installed();
  EXPECT_HAS(said_, "no published checksum in the catalog: recorded " + sha256(archive_) +
                        " beside the file");
  EXPECT_EQ(read_json_file(file("fetched.json")).at("checksum_was_known"), false);
}

TEST_F(Fetch, AWrongChecksumOfAMemberInstallsNothing) {
  entry_.archive_sha256 = "";
  server_.answer("toy.zip",
                 {{.content = make_zip({{"toy/train.dat", "altered"}, {"toy/test.dat", "t"}})}});
  const Error error = error_of([&] { fetch(); });
  EXPECT_HAS(error.what(), "train.dat: wrong checksum: SHA-256 " + sha256("altered") +
                               ", expected " + sha256(train_));
  EXPECT_EQ(names(), (std::set<std::string>{".fetch.lock"}));
}

TEST_F(Fetch, NotFound) {
  options_.download.attempts = 5;
  const Error error = error_of([&] { fetch(); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_HAS(error.what(), "HTTP status 404");
  EXPECT_EQ(server_.requests().size(), 1U) << "404 does not pass";
  EXPECT_FALSE(fs::exists(file("toy.zip.part")) && fs::file_size(file("toy.zip.part")) > 0);
}

TEST_F(Fetch, NobodyListens) {
  options_.base_url = "http://127.0.0.1:1/files";
  options_.download.attempts = 2;
  EXPECT_EQ(error_of([&] { fetch(); }).kind(), ErrorKind::io);
  EXPECT_HAS(said_, "trying again");
}

TEST_F(Fetch, AnArchiveThatWasCutAtItsOrigin) {
  entry_.archive_sha256 = "";
  server_.answer("toy.zip", {{.content = archive_.substr(0, 150'000)}});
  EXPECT_EQ(error_of([&] { fetch(); }).kind(), ErrorKind::data);
  EXPECT_EQ(names(), (std::set<std::string>{".fetch.lock"}));
}

TEST_F(Fetch, AFinishedDownloadIsNotRepeated) {
  fs::create_directories(folder_ / "toy");
  write_file(file("toy.zip.part"), archive_);  // of a call that ended before it unpacked
  fetch();
  expect_installed();
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(FetchFile, WithoutLibarchiveNoArchiveIsDownloaded) {
  if (have_libarchive()) GTEST_SKIP() << "this build has libarchive";
  const Error error = error_of([&] { fetch(); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_HAS(error.what(), "install libarchive-dev");
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(FetchFile, AUrlThatIsTheFile) {
  entry_.url = "https://example.invalid/ratings.dat";
  entry_.files = {{"ratings.dat", sha256("1::2::3\n"), "double-colon", ""}};
  entry_.archive_sha256 = "";
  server_.answer("ratings.dat", {{.content = "1::2::4\n"}, {.content = "1::2::3\n"}});
  EXPECT_HAS(error_of([&] { fetch(); }).what(), "wrong checksum");
  EXPECT_FALSE(fs::exists(file("ratings.dat")));
  EXPECT_TRUE(fetch().checksum_known);
  EXPECT_EQ(read_file(file("ratings.dat")), "1::2::3\n");
}

TEST_F(FetchFile, AnEmptyAnswerReplacesWhatWasThere) {
  entry_.url = "https://example.invalid/ratings.dat";
  entry_.files = {{"ratings.dat", "", "double-colon", ""}};
  entry_.archive_sha256 = "";
  fs::create_directories(folder_ / "toy");
  write_file(file("ratings.dat.part"), "old");
  server_.answer("ratings.dat", {{.content = "", .ranges = false}});
  fetch();
  EXPECT_EQ(read_file(file("ratings.dat")), "");
}

TEST(FetchDataset, WithoutPublicDownloadSaysHowToGetIt) {
  const TempFolder folder;
  const Error error = error_of([&] { fetch_dataset("netflix", folder.path(), {}); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "training_set");
  EXPECT_HAS(error_of([&] { fetch_dataset("ml-100", folder.path(), {}); }).what(), "did you mean");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// ---- archives ----

struct Hostile {
  std::string what;
  std::vector<Member> members;
  std::string named;  // the member that the error names
};

std::vector<Hostile> hostile_archives() {
  const Member wanted{"set/a.dat", "content"};
  return {
      {"parent", {wanted, {"../escaped", "x"}}, "../escaped"},
      {"inner parent", {wanted, {"set/../../escaped", "x"}}, "set/../../escaped"},
      {"absolute", {{"/escaped", "x"}, wanted}, "/escaped"},
      {"backslash", {wanted, {"..\\escaped", "x"}}, "..\\escaped"},
      {"drive", {wanted, {"C:escaped", "x"}}, "C:escaped"},
      {"link, then a file through it",
       {{"set", "..", 0120777, '2'}, {"set/a.dat", "content"}},
       "set"},
      {"the wanted file is a link", {{"set/a.dat", "/etc/passwd", 0120777, '2'}}, "set/a.dat"},
  };
}

void expect_refused(const std::string& archive_bytes, const Hostile& hostile) {
  const TempFolder outside;
  const std::string inside = outside / "in";
  fs::create_directories(inside);
  write_file(inside + "/archive", archive_bytes);
  const Error error = error_of([&] {
    unpack(inside + "/archive", {{"set/a.dat", inside + "/a.dat"}});
  });
  EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
  // Of a zip, libarchive reads the separator of another system as its own.
  std::string slashes = hostile.named;
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  const std::string text = error.what();
  EXPECT_TRUE(text.find("\"" + hostile.named + "\"") != text.npos ||
              text.find("\"" + slashes + "\"") != text.npos)
      << text;
  EXPECT_HAS(error.what(), "refused");
  EXPECT_EQ(std::distance(fs::directory_iterator(outside.path()), {}), 1) << "something got out";
  EXPECT_EQ(std::distance(fs::directory_iterator(inside), {}), 1) << "something was unpacked";
}

class Unpack : public testing::Test {
 protected:
  void SetUp() override {
    if (!have_libarchive()) GTEST_SKIP() << "this build has no libarchive";
  }
};

TEST_F(Unpack, RefusesHostileZip) {
  for (const auto& hostile : hostile_archives()) {
    SCOPED_TRACE(hostile.what);
    expect_refused(make_zip(hostile.members), hostile);
  }
}

TEST_F(Unpack, RefusesHostileTar) {
  auto all = hostile_archives();
  const Member wanted{"set/a.dat", "content"};
  all.push_back({"hard link", {wanted, {"h", "/etc/passwd", 0644, '1'}}, "h"});
  all.push_back({"device", {{"d", "", 0600, '3'}, wanted}, "d"});
  all.push_back({"pipe", {{"p", "", 0600, '6'}, wanted}, "p"});
  for (const auto& hostile : all) {
    SCOPED_TRACE(hostile.what);
    expect_refused(make_tar(hostile.members), hostile);
  }
}

TEST_F(Unpack, NeverWritesThroughALinkThatLiesInTheWay) {
  const TempFolder folder;
  write_file(folder / "victim", "untouched");
  fs::create_symlink(folder / "victim", folder / "a.dat");
  write_file(folder / "a.zip", make_zip({{"a.dat", "content"}}));
  EXPECT_EQ(error_of([&] {
              unpack(folder / "a.zip", {{"a.dat", folder / "a.dat"}});
            }).kind(),
            ErrorKind::io);
  EXPECT_EQ(read_file(folder / "victim"), "untouched");
  EXPECT_TRUE(fs::is_symlink(folder / "a.dat"));
}

TEST_F(Unpack, CutAndIncompleteArchives) {
  const TempFolder folder;
  const std::string zip = make_zip({{"a", random_text(50'000, 3)}, {"b", "b"}});
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{10}, zip.size() / 2, zip.size() - 1}) {
    SCOPED_TRACE(bytes);
    write_file(folder / "cut.zip", zip.substr(0, bytes));
    const Error error = error_of([&] {
      unpack(folder / "cut.zip", {{"a", folder / "a"}, {"b", folder / "b"}});
    });
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_HAS(error.what(), folder / "cut.zip");
    EXPECT_HAS(error.what(), "cut short");
    EXPECT_FALSE(fs::exists(folder / "a"));
    EXPECT_FALSE(fs::exists(folder / "b"));
  }
  write_file(folder / "whole.zip", zip);
  EXPECT_HAS(error_of([&] {
               unpack(folder / "whole.zip", {{"a", folder / "a"}, {"c", folder / "c"}});
             }).what(),
             "no member \"c\" among a, b");
  EXPECT_FALSE(fs::exists(folder / "a"));
  std::string damaged = zip;
  damaged[1000] = static_cast<char>(damaged[1000] ^ 1);
  write_file(folder / "damaged.zip", damaged);
  EXPECT_EQ(error_of([&] {
              unpack(folder / "damaged.zip", {{"a", folder / "a"}});
            }).kind(),
            ErrorKind::data);
  EXPECT_FALSE(fs::exists(folder / "a"));
  write_file(folder / "twice.zip", make_zip({{"a", "1"}, {"a", "2"}}));
  EXPECT_HAS(error_of([&] {
               unpack(folder / "twice.zip", {{"a", folder / "a"}});
             }).what(),
             "more than one member \"a\"");
}

TEST_F(Unpack, TarKeepsContent) {
  const TempFolder folder;
  const std::string content = random_text(100'001, 4);
  write_file(folder / "a.tar", make_tar({{"d/", "", 0755, '5'}, {"d/x", content}}));
  unpack(folder / "a.tar", {{"d/x", folder / "x"}});
  EXPECT_EQ(read_file(folder / "x"), content);
}

TEST(UnpackWithoutLibarchive, NamesThePackage) {
  if (have_libarchive()) GTEST_SKIP() << "this build has libarchive";
  const TempFolder folder;
  write_file(folder / "a.zip", make_zip({{"a", "content"}}));
  const Error error = error_of([&] { unpack(folder / "a.zip", {{"a", folder / "a"}}); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_HAS(error.what(), "install libarchive-dev");
}

}  // namespace
}  // namespace mf
