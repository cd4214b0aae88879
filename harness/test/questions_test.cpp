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

Json racer(const char* name, const Json& answers, const Json& quality, bool contended = false) {
  return {{"name", name}, {"answers", answers}, {"quality", quality}, {"contended", contended}};
}

std::string winner(const Json& racers, bool named = true) {
  return ask({{"ask", "winner"},
              {"metric", "test_rmse"},
              {"target", 0.9},
              {"named", named},
              {"data", "ml-1m"},
              {"quality", "test_rmse"},
              {"racers", racers}})
      .get<std::string>();
}

TEST(Questions, TheWinnerIsFirstInTheMedianOfEnoughRuns) {
  const Json quick = racer("quick", {1.0, 1.0}, {0.8, 0.8});
  const Json first = racer("first", {2.0, 2.0, nullptr}, {0.9, 0.9, 0.95});
  const Json next = racer("next", {5.0, 4.0, 3.0}, {0.85, 0.86, 0.87});
  const Json late = racer("late", {1.0, nullptr, nullptr}, {0.89, 0.99, 0.99});
  EXPECT_EQ(ask({{"ask", "finish"}, {"racers", {quick, late, next, first}}}), (Json{3, 2, 0}));
  EXPECT_EQ(
      winner({late, next, first}),
      "first, RMSE 0.9 on ml-1m in 2.0 s; 2.0 times as fast as next, the next; 1 of 3 did not "
      "reach it; lowest at the end: next, test RMSE 0.8600");
  EXPECT_HAS(winner({quick, first}),
             "first, RMSE 0.9 on ml-1m in 2.0 s; then quick in 1.0 s (n = 2)");
  EXPECT_HAS(winner({first, racer("next", {4.0, 4.0, 4.0}, {1.0, 1.0}, true)}),
             "contended, so no factor");
  EXPECT_HAS(winner({first, late}),
             "only first, RMSE 0.9 on ml-1m in 2.0 s; 1 of 2 did not reach it");
  EXPECT_HAS(winner(Json::array({late})),
             "no algorithm of 1 reached RMSE 0.9 on ml-1m; lowest at the end: late");
  EXPECT_HAS(winner(Json::array({first}), false),
             "first, RMSE 0.9 on ml-1m (the spec names none: frozen, or 5 % short of the best)");
}

TEST(Questions, TargetsAreNamedOrFrozenOrFollowFromTheBest) {
  const auto levels = [](const char* metric, const Json& named, const Json& frozen,
                         const Json& racers) {
    return ask({{"ask", "targets"},
                {"metric", metric},
                {"named", named},
                {"frozen", frozen},
                {"racers", racers}});
  };
  const Json best = racer("best", Json::array(), {0.8, 0.8, 0.81}),
             other = racer("other", Json::array(), {0.9, 0.9, 0.9});
  const Json few = racer("few", Json::array(), {0.7, 0.7});
  const Json frozen = {0.9, 0.8, 0.7};
  EXPECT_EQ(levels("test_rmse", nullptr, Json::array(), {other, best, few}),
            (Json{0.84, 0.82, 0.8}));
  EXPECT_EQ(levels("ndcg_100", nullptr, Json::array(), {other, best}), (Json{0.855, 0.877, 0.9}));
  EXPECT_EQ(levels("test_rmse", nullptr, frozen, Json::array({best})), frozen);
  EXPECT_EQ(levels("test_rmse", 0.85, frozen, Json::array({best})), (Json{0.85, 0.8, 0.7}));
  EXPECT_EQ(levels("test_rmse", 0.75, frozen, Json::array({best})), (Json{0.75, 0.75, 0.7}))
      << "no easier one";
  EXPECT_EQ(levels("test_rmse", nullptr, Json::array(), Json::array()), Json::array());
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
