#include "datasets/request.hpp"

#include <gtest/gtest.h>

#include "datasets/test/loads.hpp"

namespace mf::test {
namespace {

using Request = Load;

TEST_F(Request, FourForms) {
  DatasetRequest request = parse(R"("ml-1m")");
  EXPECT_EQ(request.name, "ml-1m");
  EXPECT_EQ(request.label(), "ml-1m");

  request = parse(R"({"name": "ml-100k", "split": {"given": "u1"}})");
  EXPECT_EQ(request.given, "u1");
  EXPECT_EQ(request.label(), "ml-100k@u1");
  EXPECT_EQ(parse(R"("ml-100k@u1")").given, "u1");

  request = parse(R"({"like": "netflix", "scale": 0.1, "seed": 7})");
  EXPECT_EQ(request.like, "netflix");
  EXPECT_EQ(request.scale_factor, 0.1);
  EXPECT_EQ(request.seed, 7U);
  EXPECT_EQ(request.label(), "netflix look-alike x0.1 seed7");
  EXPECT_EQ(request.cache_name(), "netflix-look-alike-x0.1-seed7");
  EXPECT_EQ(parse(R"("like:netflix")").label(), "netflix look-alike");

  request = parse(R"({"expand": "ml-1m", "users": 80, "items": 5, "seed": 2})");
  EXPECT_EQ(request.expand, "ml-1m");
  EXPECT_EQ(request.user_copies * request.item_copies, 400);
  EXPECT_EQ(request.label(), "ml-1m expanded 80x5 seed2");
  EXPECT_EQ(request.cache_name(), "ml-1m-expanded-80x5-seed2");
  EXPECT_EQ(parse(R"("expand:ml-1m:80:5")").label(), "ml-1m expanded 80x5");
  EXPECT_EQ(expected_shape(request)->n_users, 483200);
  EXPECT_HAS(parse_error(R"("expand:ml-1m:80")"), "expected expand:NAME:USERS:ITEMS");
  EXPECT_HAS(parse_error(R"("expand:ml-1m:80:five")"), "found \"five\", expected a whole number");
  EXPECT_HAS(parse_error(R"("expand:ml-1m:6041:1")"), "found 6041 times the users");
  EXPECT_HAS(parse_error(R"("expand:ml-2m:80:5")"), "did you mean \"ml-1m\"");

  request = parse(R"({"path": "a/my ratings.csv", "format": "csv", "duplicates": "mean",
                      "rating_scale": {"min": 1, "max": 5, "step": 0.5}})");
  EXPECT_EQ(request.path, "a/my ratings.csv");
  EXPECT_EQ(request.format, "csv");
  EXPECT_EQ(request.duplicates, "mean");
  ASSERT_TRUE(request.scale.has_value());
  EXPECT_EQ(request.scale->step, 0.5F);

  request = parse(R"({"train": "a", "test": "b", "validation": "c"})");
  EXPECT_EQ(request.train + request.test + request.validation, "abc");
  EXPECT_FALSE(request.scale.has_value());
}

TEST_F(Request, TheCatalogsPolicyHoldsUnlessAnotherIsAsked) {
  EXPECT_EQ(parse(R"("filmtrust")").duplicates, "last");
  EXPECT_EQ(parse(R"("ml-100k")").duplicates, "error");
  const auto request = parse(R"({"name": "filmtrust", "duplicates": "mean"})");
  EXPECT_EQ(request.duplicates, "mean");
  EXPECT_EQ(request.label(), "filmtrust+mean");
}

TEST_F(Request, ErrorsHaveTheJsonPath) {
  const std::string one = "$.datasets[0]: expected exactly one of";
  EXPECT_HAS(parse_error("{}"), one);
  EXPECT_HAS(parse_error(R"({"name": "ml-1m", "like": "ml-1m"})"), one);
  EXPECT_HAS(parse_error(R"({"path": "a", "train": "b", "test": "c"})"), one);
  EXPECT_HAS(parse_error(R"({"name": 3})"), "$.datasets[0].name: found the number 3");
  EXPECT_HAS(parse_error(R"({"name": ""})"), "$.datasets[0].name");
  EXPECT_HAS(parse_error(R"({"name": "ml-100"})"),
             "$.datasets[0].name: unknown data set \"ml-100\", did you mean \"ml-10");
  EXPECT_HAS(parse_error(R"({"like": "netflx"})"), "$.datasets[0].like");
  EXPECT_HAS(parse_error(R"({"like": "netflix", "scale": 0})"), "$.datasets[0].scale");
  EXPECT_HAS(parse_error(R"({"like": "netflix", "scale": "x"})"), "$.datasets[0].scale");
  EXPECT_HAS(parse_error(R"({"like": "netflix", "path": "x"})"), one);
  EXPECT_HAS(parse_error(R"({"like": "netflix", "format": "csv"})"),
             "$.datasets[0].format: unknown key");
  EXPECT_HAS(parse_error(R"({"train": "x"})"), "$.datasets[0]: the key \"test\" is missing");
  EXPECT_HAS(parse_error(R"({"path": "x", "format": "cvs"})"), "did you mean \"csv\"");
  EXPECT_HAS(parse_error(R"({"path": "x", "rating_scale": {"min": 5, "max": 1}})"),
             "$.datasets[0].rating_scale: min 5 is not below max 1");
  for (const char* step : {"1e-300", "1e-30", "1e-8"}) {
    EXPECT_HAS(parse_error(R"({"path": "x", "rating_scale": {"min": 1, "max": 5, "step": )" +
                           std::string(step) + "}}"),
               "step");
  }
  EXPECT_HAS(parse_error(R"({"path": "x", "rating_scale": {"min": 5}})"),
             "$.datasets[0].rating_scale: the key \"max\" is missing");
  EXPECT_HAS(parse_error(R"({"name": "ml-100k", "split": {"given": "u7"}})"),
             "$.datasets[0].split.given: unknown given split of ml-100k \"u7\"");
  EXPECT_HAS(parse_error(R"({"like": "netflix", "split": {"given": "u1"}})"),
             "$.datasets[0].split.given");
}

TEST_F(Request, LabelsAreWhatAPersonWouldSay) {
  const auto label = [](const std::string& text) { return parse(text).label(); };
  EXPECT_EQ(label(R"("dir/my ratings.csv")"), "my ratings.csv");
  EXPECT_EQ(label(R"("./dir/x/")"), "x");
  EXPECT_EQ(label(R"({"path": "r.csv", "duplicates": "last"})"), "r.csv+last");
  EXPECT_EQ(label(R"({"train": "a/fold1/train.csv", "test": "t"})"), "fold1/train.csv");
  EXPECT_EQ(label(R"({"train": "../train.csv", "test": "t"})"), "train.csv");
  EXPECT_EQ(label(R"({"like": "ml-1m", "label": "größte 1"})"), "größte 1");
  for (const char* wrong : {R"("")", R"(" a")", R"("a\tb")", "3"}) {
    EXPECT_HAS(parse_error(std::string(R"({"like": "ml-1m", "label": )") + wrong + "}"),
               "$.datasets[0].label");
  }
}

TEST_F(Request, WordsAreNamesLookAlikesAndFiles) {
  EXPECT_EQ(parse(R"("like:netflix:0.1")").scale_factor, 0.1);
  EXPECT_HAS(parse_error(R"("like:netflix:nan")"), "expected a number as in like:netflix:0.1");
  EXPECT_EQ(parse(R"("some/folder")").path, "some/folder");
  EXPECT_EQ(parse(R"("r@1.csv")").path, "r@1.csv");
  EXPECT_HAS(parse_error(R"("ml-100k@u7.x")"), "unknown given split");
}

TEST_F(Request, NamesOfCachesTellFilesApart) {
  const auto name = [](const std::string& text) { return parse(text).cache_name(); };
  const std::string base = name(R"({"path": "dir/my ratings.csv"})");
  EXPECT_EQ(base.rfind("my_ratings@", 0), 0U);
  EXPECT_EQ(base.find_first_of("/ :"), std::string::npos);
  EXPECT_EQ(base, name(R"({"path": "./dir/x/../my ratings.csv"})"));
  for (const char* other :
       {R"({"path": "other/my ratings.csv"})", R"({"path": "dir/my ratings.csv", "format": "csv"})",
        R"({"path": "dir/my ratings.csv", "duplicates": "last"})",
        R"({"path": "dir/my ratings.csv", "rating_scale": {"min":0,"max":9}})",
        R"({"train": "dir/my ratings.csv", "test": "t"})"}) {
    EXPECT_NE(base, name(other)) << other;
  }
}

}  // namespace
}  // namespace mf::test
