#include "datasets/data_commands.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "datasets/fetch/catalog.hpp"
#include "datasets/look.hpp"
#include "datasets/test/loads.hpp"

namespace mf::test {
namespace {

namespace fs = std::filesystem;

class Commands : public Load {
 protected:
  DataImportOptions import_of(const std::string& name, const std::string& path) {
    DataImportOptions options;
    options.name = name;
    options.request.path = path;
    return options;
  }
  Json stats_of(const std::string& csv) {
    write_file(data_ / "r.csv", csv);
    stats_.request = parse(file_entry(data_ / "r.csv"));
    stats_.json = true;
    data_stats(out_, stats_);
    return Json::parse(out_.str());
  }
  std::ostringstream out_;
  DataStatsOptions stats_;
};

TEST_F(Commands, ImportedNamesCanBeLoaded) {
  write_file(data_ / "r.csv", "user,item,rating\n5,10,3.5\n2,10,1\n");
  data_import(out_, import_of("mine", data_ / "r.csv"));
  EXPECT_HAS(out_.str(), "mine: 2 users, 1 items, 2 ratings");
  fs::remove(data_ / "r.csv");
  const auto request = parse(R"("mine")");
  EXPECT_EQ(why_unavailable(request), "");
  EXPECT_EQ(expected_shape(request)->n_users, 2);
  const Dataset data = load_dataset(request, 1);
  EXPECT_EQ(table_of(data), (Table{{{2, 10}, {1.0F, -1}}, {{5, 10}, {3.5F, -1}}}));
  EXPECT_EQ(data.info.name, "mine");
  EXPECT_HAS(parse_error(R"({"name": "mine", "split": {"given": "u1"}})"),
             "imported without train and test parts");
}

TEST_F(Commands, ImportedSetsAreEnlargedAndKept) {
  write_file(data_ / "r.csv", "user,item,rating\n5,10,3.5\n2,10,1\n2,11,4\n");
  data_import(out_, import_of("mine", data_ / "r.csv"));
  const auto request = parse(R"("expand:mine:2:2")");
  EXPECT_EQ(why_unavailable(request), "");
  EXPECT_EQ(look_at_data(request), "made of mine when it is needed");
  const Dataset data = load_dataset(request, 2);
  const Shape shape = *expected_shape(request);
  EXPECT_EQ(data.ratings.n_users(), shape.n_users);
  EXPECT_EQ(data.ratings.nnz(), shape.nnz);
  EXPECT_TRUE(data.info.look_alike);
  EXPECT_EQ(data.info.name, "mine expanded 2x2");
  EXPECT_EQ(look_at_data(request), "cached");
  EXPECT_EQ(load_dataset(request, 1).info.content_hash, data.info.content_hash);
  stats_.request = request;
  data_stats(out_, stats_);
  EXPECT_HAS(out_.str(), "mine expanded 2x2 (a real set enlarged, with ratings drawn anew)");

  // Other content under the same name gives another expansion.
  write_file(data_ / "r.csv", "user,item,rating\n5,10,3.5\n2,10,1\n2,11,4\n7,11,2\n");
  DataImportOptions again = import_of("mine", data_ / "r.csv");
  again.replace = true;
  data_import(out_, again);
  EXPECT_EQ(look_at_data(request), "made of mine when it is needed");
  EXPECT_EQ(load_dataset(request, 1).ratings.n_users(), 6);
}

TEST_F(Load, WhatIsEnlargedMustBeAtHand) {
  const auto request = parse(R"("expand:ml-100k:2:2")");
  EXPECT_HAS(why_unavailable(request), "ml-100k: u.data");
  EXPECT_HAS(std::string(error_of([&] { load_dataset(request, 1); }).what()), "MFBENCH_DATA");
}

TEST_F(Commands, ImportOfParts) {
  write_file(data_ / "a.csv", "user,item,rating\n5,10,3.5\n");
  write_file(data_ / "b.csv", "user,item,rating\n2,10,1\n");
  DataImportOptions options = import_of("parts", "");
  options.request.train = data_ / "a.csv";
  options.request.test = data_ / "b.csv";
  data_import(out_, options);
  const auto request = parse(R"({"name": "parts", "split": {"given": "imported"}})");
  EXPECT_EQ(request.label(), "parts");
  EXPECT_EQ(table_of(load_dataset(request, 1)),
            (Table{{{2, 10}, {1.0F, kTest}}, {{5, 10}, {3.5F, kTrain}}}));
}

TEST_F(Commands, ImportRefuses) {
  write_file(data_ / "r.csv", "user,item,rating\n5,10,3.5\n");
  const auto error = [&](const DataImportOptions& options) {
    return std::string(error_of([&] { data_import(out_, options); }).what());
  };
  EXPECT_HAS(error(import_of("ml-1m", data_ / "r.csv")), "the catalog has a data set of this name");
  EXPECT_HAS(error(import_of("../x", data_ / "r.csv")), "cannot be a name");
  EXPECT_HAS(error(import_of("", data_ / "r.csv")), "cannot be a name");
  EXPECT_HAS(error(import_of("a-look-alike-seed2", data_ / "r.csv")),
             "reserved for synthetic data");
  EXPECT_HAS(error(import_of("a-expanded-2x2", data_ / "r.csv")), "reserved for synthetic data");
  EXPECT_HAS(error(import_of("mine", data_ / "none.csv")), "no such file");
  EXPECT_HAS(error(import_of("mine", "")), "expected one file, or a train and a test file");
  data_import(out_, import_of("mine", data_ / "r.csv"));
  EXPECT_HAS(error(import_of("mine", data_ / "r.csv")), "already imported");
  DataImportOptions again = import_of("mine", data_ / "r.csv");
  again.replace = true;
  EXPECT_NO_THROW(data_import(out_, again));
}

TEST_F(Commands, List) {
  write_file(data_ / "r.csv", "user,item,rating\n5,10,3.5\n");
  data_import(out_, import_of("mine", data_ / "r.csv"));
  write_file(data_ / "ml-10m/ratings.dat.gz", "");
  write_file(cache_ / "damaged.mfc", "x");
  std::ostringstream json;
  data_list(json, true);
  std::map<std::string, std::string> states;
  const Json rows = Json::parse(json.str());
  for (const Json& row : rows) states[row.at("name")] = row.at("state");
  EXPECT_EQ(states.size(), catalog().size() + 1);
  EXPECT_EQ(states["mine"], "imported");
  EXPECT_EQ(states["ml-10m"], "here");
  EXPECT_EQ(states["ml-20m"], "fetch");
  EXPECT_EQ(states["netflix"], "on request");
  std::ostringstream text;
  data_list(text, false);
  EXPECT_HAS(text.str(), "100,480,507");
  EXPECT_HAS(text.str(), "0.5 to 5 step 0.5");
}

TEST_F(Commands, StatsAgainstHandCounts) {
  const Json stats = stats_of("user,item,rating\n1,1,1\n1,2,3\n1,3,3\n2,1,5\n3,1,4\n3,4,2\n");
  EXPECT_EQ(stats.at("n_users"), 3);
  EXPECT_EQ(stats.at("n_items"), 4);
  EXPECT_EQ(stats.at("nnz"), 6);
  EXPECT_DOUBLE_EQ(stats.at("density"), 0.5);
  EXPECT_DOUBLE_EQ(stats.at("mean"), 3.0);
  EXPECT_NEAR(stats.at("standard_deviation"), std::sqrt(10.0 / 6.0), 1e-12);
  EXPECT_EQ(stats.at("ratings_per_user").dump(), R"({"min":1,"median":2.0,"mean":2.0,"max":3})");
  EXPECT_EQ(stats.at("ratings_per_item").dump(), R"({"min":1,"median":1.0,"mean":1.5,"max":3})");
  EXPECT_EQ(stats.at("histogram").dump(),
            R"([{"value":1.0,"count":1},{"value":2.0,"count":1},{"value":3.0,"count":2},)"
            R"({"value":4.0,"count":1},{"value":5.0,"count":1}])");
  EXPECT_TRUE(stats.at("parts").is_null());
  std::ostringstream text;
  stats_.json = false;
  data_stats(text, stats_);
  EXPECT_HAS(text.str(), "33.33 %");
  EXPECT_HAS(text.str(), "not declared");
}

TEST_F(Commands, StatsOfManyValuesHaveNoHistogram) {
  std::string csv = "user,item,rating\n";
  for (int i = 1; i <= 200; ++i) csv += "1," + std::to_string(i) + "," + std::to_string(i) + "\n";
  EXPECT_FALSE(stats_of(csv).contains("histogram"));
}

TEST_F(Commands, StatsNameALookAlike) {
  stats_.request = parse(R"({"like": "ml-100k", "scale": 0.05})");
  data_stats(out_, stats_);
  EXPECT_HAS(out_.str(), "synthetic look-alike");
}

}  // namespace
}  // namespace mf::test
