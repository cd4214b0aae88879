// Rules for given numbers, as figures and pages ask for them. tests/test_summarize.py holds the
// intervals to scipy.
#include "harness/results/questions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

Json ask(const Json& question) { return answer_question(question); }

Json first_at(const char* metric, double target, const Json& run) {
  const Json question = {
      {"ask", "first at target"}, {"metric", metric}, {"target", target}, {"runs", {run}}};
  return ask(question)[0];
}

TEST(Questions, TheFirstPointAtATarget) {
  EXPECT_EQ(first_at("test_rmse", 0.9, {1.0, nullptr, 0.9, 0.8}), 2);
  EXPECT_EQ(first_at("test_rmse", 0.7, {1.0, nullptr, 0.9, 0.8}), nullptr);
  EXPECT_EQ(first_at("ndcg_100", 0.7, {nullptr, 0.6, 0.8, 0.7}), 2) << "more is better";
  EXPECT_EQ(first_at("test_rmse", 0.9, Json::array()), nullptr);
}

TEST(Questions, ARatioOfMediansWhereASeedThatMissedIsInfinitelyLate) {
  const auto ratio = [](const Json& of, const Json& over) {
    return ask({{"ask", "ratio"}, {"of", of}, {"over", over}});
  };
  const Json exact = ratio({6.0, 6.0, 6.0}, {3.0, 3.0, 3.0});
  EXPECT_EQ(exact["value"], 2.0);
  EXPECT_NEAR(exact["low"].get<double>(), 2, 1e-14) << "no spread, no doubt";
  EXPECT_EQ(ratio({6.0, 6.0}, {3.0, 3.0})["low"], nullptr) << "fewer than three";
  EXPECT_EQ(ratio({6.0, 6.0}, {3.0, 3.0})["value"], 2.0);
  EXPECT_EQ(ratio({1.0, nullptr, nullptr}, {1.0, 1.0, 1.0})["value"], nullptr);
  EXPECT_EQ(ratio({1.0, 1.0, 1.0}, {1.0, nullptr, nullptr})["value"], nullptr);
  EXPECT_EQ(ratio(Json::array(), {1.0})["value"], nullptr);
  // Four against four, by ranks: the outermost of the 16 ratios are its ends.
  const Json ranks = ratio({8.0, 9.0, 10.0, 11.0}, {1.0, 2.0, 4.0, nullptr});
  EXPECT_NEAR(ranks["low"].get<double>(), 0, 1e-15);
  EXPECT_NEAR(ranks["high"].get<double>(), 11, 1e-12);
  EXPECT_EQ(ratio({8.0, 9.0, nullptr}, {1.0, 2.0, 4.0})["low"], nullptr) << "without end";
}

TEST(Questions, RatiosPairByPair) {
  const auto ratio = [](const Json& of, const Json& over) {
    return ask({{"ask", "ratio of pairs"}, {"of", of}, {"over", over}});
  };
  const Json found = ratio({2.0, 6.0, 12.0, nullptr}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(found["value"], 3.0);
  EXPECT_LT(found["low"].get<double>(), 3.0);
  EXPECT_GT(found["high"].get<double>(), 3.0);
  EXPECT_EQ(ratio({2.0, 6.0}, {1.0, 2.0}),
            Json({{"value", 2.5}, {"low", nullptr}, {"high", nullptr}}));
}

TEST(Questions, TheColumnsOfATable) {
  const auto columns = [](const Json& names, const Json& more = Json::object()) {
    Json question = {{"ask", "columns"}, {"names", names}};
    question.update(more);
    return ask(question);
  };
  const auto places = [](const Json& user, const Json& item, const Json& rating,
                         const Json& time = nullptr) {
    return Json{{"user", user}, {"item", item}, {"rating", rating}, {"time", time}};
  };
  EXPECT_EQ(columns({"when", "rating", "movieId", "userId"}), places(3, 2, 1));
  EXPECT_EQ(columns({"date", "rating", "movieId", "userId"}), places(3, 2, 1, 0));
  EXPECT_EQ(columns({"date", "rating", "movieId", "userId", "ts"}), places(3, 2, 1)) << "which";
  EXPECT_EQ(
      columns({"user", "item", "when", "n"}, {{"columns", {{"rating", "n"}, {"time", "when"}}}}),
      places(0, 1, 3, 2));
  EXPECT_EQ(columns({"user", "item"}), places(0, 1, nullptr)) << "pairs";
  EXPECT_EQ(columns({"user", "item", "plays"}, {{"pairs", true}}), places(0, 1, nullptr));
  EXPECT_EQ(columns({"a", 7, "c"}, {{"columns", {{"user", "c"}, {"item", "7"}, {"rating", "a"}}}}),
            places(2, 1, 0));
  const auto said = [&](const Json& names, const Json& more = Json::object()) {
    try {
      columns(names, more);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_HAS(said({"who", "item"}), "the columns who, item, expected one column for the user");
  EXPECT_HAS(said({"user", "item", "x"}), "\"format\": \"pairs\"");
  EXPECT_HAS(said({"user", "item", "plays", "clicks"}), "one column for the rating");
  EXPECT_HAS(said({"user", "item"}, {{"columns", {{"rating", "r"}}}}), "a column 'r'");
  EXPECT_HAS(said({"user", "item"}, {{"columns", {{"time", "t"}}}}), "a column 't'");
}

TEST(Questions, ALineThatIsNoneGetsAnErrorAndTheNextOneItsAnswer) {
  std::stringstream in(
      "x\n{\"ask\": \"rato\"}\n{\"ask\": \"ratio\", \"of\": [true]}\n"
      "{\"ask\": \"ratio\", \"of\": [4], \"over\": [2], \"id\": 7}\n");
  std::stringstream out;
  answer_questions(in, out);
  std::string line;
  const char* const said[] = {"question", "did you mean", "expected a number or null",
                              "\"value\":2.0"};
  for (const char* words : said) {
    ASSERT_TRUE(std::getline(out, line));
    EXPECT_HAS(line, words);
  }
  EXPECT_HAS(line, "\"id\":7,\"answer\"");
}

}  // namespace
}  // namespace mf
