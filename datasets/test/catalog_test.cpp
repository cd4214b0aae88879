#include "datasets/fetch/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "datasets/readers/readers.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

using test::Environment;
using test::error_of;
using test::TempFolder;
using test::write_file;

TEST(Catalog, EveryEntryIsComplete) {
  std::set<std::string> formats = {"netflix-probe"};
  for (const auto& format : reader_formats()) formats.insert(format.name);
  std::set<std::string> names;
  for (const auto& entry : catalog()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.title.empty());
    EXPECT_FALSE(entry.origin.empty());
    EXPECT_FALSE(entry.licence.empty());
    EXPECT_FALSE(entry.citation.empty());
    const bool implicit = entry.name == "gowalla" || entry.name == "amazon-book-kgat" ||
                          entry.name.starts_with("lastfm-");
    EXPECT_EQ(entry.scale.has_value(), !implicit);
    if (entry.scale) {
      EXPECT_LT(entry.scale->min, entry.scale->max);
      EXPECT_GT(entry.scale->step, 0);
    }
    for (const auto& file : entry.files) {
      EXPECT_TRUE(formats.contains(file.format)) << file.format;
    }
  }
}

TEST(Catalog, OnlyMovieTweetingsMayBePassedOn) {
  for (const auto& entry : catalog()) {
    EXPECT_EQ(entry.redistributable, entry.name == "movietweetings-100k") << entry.name;
  }
}

TEST(Catalog, WithoutPublicDownloadTheOriginSaysHow) {
  for (const char* name : {"netflix", "yahoomusic", "gowalla"}) {
    const CatalogEntry& entry = find_catalog_entry(name);
    EXPECT_TRUE(entry.url.empty());
    EXPECT_HAS(entry.origin, "no ");
    EXPECT_HAS(entry.origin, "<data folder>");
    EXPECT_HAS(entry.origin, std::string("{\"like\": \"") + name + "\"}");
  }
}

TEST(Catalog, FindsByNameAndSuggests) {
  EXPECT_EQ(find_catalog_entry("ml-1m").title, "MovieLens 1M (February 2003)");
  EXPECT_EQ(catalog_entry_or_null("ml-1n"), nullptr);
  const Error error = error_of([] { find_catalog_entry("ml-1n"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_HAS(error.what(), "unknown data set \"ml-1n\", did you mean \"ml-1");
  const CatalogEntry& entry = find_catalog_entry("ml-100k");
  EXPECT_EQ(find_given_split(entry, "ua").test, "ua.test");
  EXPECT_HAS(error_of([&] { find_given_split(entry, "u6"); }).what(),
             "unknown given split of ml-100k \"u6\", did you mean \"u1\"?");
  EXPECT_HAS(error_of([&] { find_catalog_file(entry, "u.dat"); }).what(),
             "did you mean \"u.data\"?");
}

TEST(Catalog, DataFolders) {
  Environment environment;
  environment.set("MFBENCH_DATA", "");
  EXPECT_EQ(data_folders(), std::vector<std::string>{"data"});
  environment.set("MFBENCH_DATA", "::");
  EXPECT_EQ(data_folders(), std::vector<std::string>{"data"});
  environment.set("MFBENCH_DATA", "/a::/b c:");
  EXPECT_EQ(data_folders(), (std::vector<std::string>{"/a", "/b c"}));
}

TEST(Catalog, FindsFilesPlainAndCompressed) {
  const TempFolder one;
  const TempFolder two;
  Environment environment;
  environment.set("MFBENCH_DATA", one.path() + ":" + two.path());
  const CatalogEntry& entry = find_catalog_entry("ml-100k");
  EXPECT_FALSE(find_data_file(entry, "u.data").has_value());
  for (const char* suffix : {".zst", ".gz", ".xz", ""}) {  // each is preferred to the one before
    write_file(two / "ml-100k/u.data" + suffix, "");
    EXPECT_EQ(find_data_file(entry, "u.data"), two / "ml-100k/u.data" + suffix);
  }
  write_file(one / "ml-100k/u.data.xz", "");
  EXPECT_EQ(find_data_file(entry, "u.data"), one / "ml-100k/u.data.xz");
  EXPECT_FALSE(find_data_file(entry, "u1.base").has_value());
}

const char* const kEntry = R"({"name": "x", "title": "t", "origin": "o", "licence": "l",
  "citation": "c", "redistributable": false, "scale": {"min": 1, "max": 5, "step": 1},
  "files": [{"name": "a", "format": "csv"}], "whole": ["a"])";

std::string catalog_of(const std::string& more) {
  return std::string("{\"datasets\": [") + kEntry + more + "}]}";
}

TEST(ParseCatalog, NamesWhatIsWrong) {
  const auto error = [](const std::string& more) {
    return std::string(error_of([&] { parse_catalog(catalog_of(more), "test.json"); }).what());
  };
  EXPECT_EQ(parse_catalog(catalog_of(""), "test.json").at(0).files.at(0).name, "a");
  EXPECT_HAS(error(", \"licens\": \"\""), "test.json:$.datasets[0].licens: unknown key");
  EXPECT_HAS(error(", \"n_users\": -1"), "$.datasets[0].n_users");
  EXPECT_HAS(error(R"(, "duplicates": "first")"), "expected one of last, mean, sum, max, error");
  EXPECT_HAS(error(R"(, "splits": [{"name": "s", "train": "a"}])"),
             "expected \"train\" and \"test\"");
  EXPECT_HAS(error(R"(, "splits": [{"name": "s", "lines_of": "a"}])"), "\"lines_of\" and");
  EXPECT_HAS(error(R"(, "splits": [{"name": "s", "lines_of": "b",
                       "test_lines": {"first": 2, "last": 2}}])"),
             "unknown file of x \"b\"");
  EXPECT_HAS(error(R"(, "splits": [{"name": "s", "train": "a", "test": "b"}])"),
             "unknown file of x \"b\"");
  EXPECT_HAS(error(R"(, "splits": {"name": "s"})"), "$.datasets[0].splits: found the object");
}

TEST(ParseCatalog, NamesAreTexts) {
  std::string text = catalog_of("");
  const std::string names = R"("whole": ["a"])";
  const auto error = [&](const std::string& instead) {
    std::string changed = text;
    changed.replace(changed.find(names), names.size(), instead);
    return std::string(error_of([&] { parse_catalog(changed, "test.json"); }).what());
  };
  EXPECT_HAS(error(R"("whole": [1])"), "$.datasets[0].whole: found the list [1], expected");
  EXPECT_HAS(error(R"("whole": "a")"), "$.datasets[0].whole: found the string");
  EXPECT_HAS(error(R"("whole": [["a", 1]])"), "$.datasets[0].whole: found the list [[\"a\",1]]");
  EXPECT_HAS(error(R"("whole": [["a", "b"]])"), "unknown file of x \"b\"");
}

}  // namespace
}  // namespace mf
