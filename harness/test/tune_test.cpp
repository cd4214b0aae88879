// The draws, rungs and choice of a search, by trials whose endings are made up.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "harness/experiment/spec.hpp"
#include "harness/experiment/study.hpp"
#include "harness/results/study/study_choice.hpp"
#include "harness/results/study/study_files.hpp"
#include "harness/results/study/study_report.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;

Json sgd_spec() {
  return parse_json(R"({
    "datasets": ["like:ml-100k"], "split": {"validation": 0.1, "seed": 1}, "seeds": [4, 5],
    "stop": {"epochs": 20},
    "algorithms": [{"name": "sgd_serial", "factors": 8, "tune": {
      "trials": 24, "over": {"learning_rate": [0.002, 0.05, "log"], "reg": [0.01, 0.2]}}}]})",
                    "t");
}

Json& tune_of(Json& spec) { return spec["algorithms"][0]["tune"]; }

std::string error_of(const Json& json) {
  return message_of([&] { parse_spec(json, "t.json"); });
}

Study study_of(const Json& json) { return parse_spec(json, "t.json").studies.at(0); }

// ---- draws ------------------------------------------------------------------------------------

TEST(Draws, DependOnSeedNameRangeAndNumberAlone) {
  Json json = sgd_spec();
  const auto points = study_of(json).points;
  ASSERT_EQ(points.size(), 24u);
  tune_of(json)["trials"] = 30;
  const auto more = study_of(json).points;
  ASSERT_EQ(more.size(), 30u);
  EXPECT_TRUE(std::equal(points.begin(), points.end(), more.begin())) << "more are further ones";
  tune_of(json) = {{"over", {{"reg", {0.01, 0.2}}}}};
  json["algorithms"][0]["name"] = "als_cpu";
  const auto other = study_of(json).points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(other[i].at("reg"), points[i].at("reg")) << "the same for another algorithm";
  }
  tune_of(json)["seed"] = 2;
  EXPECT_NE(study_of(json).points, other);
}

// The first ones, written down: results that name a trial must be found again.
TEST(Draws, AreTheSameOnEveryMachine) {
  const auto points = study_of(sgd_spec()).points;
  EXPECT_EQ(points[0].dump(), R"({"learning_rate":0.008423,"reg":0.0133})");
  EXPECT_EQ(points[23].dump(), R"({"learning_rate":0.004646,"reg":0.11})");
}

TEST(Draws, FillTheirRangesAlongTheAxis) {
  Json json = sgd_spec();
  tune_of(json)["trials"] = 1000;
  int low_rates = 0, low_regs = 0;
  for (const Json& point : study_of(json).points) {
    const double rate = point.at("learning_rate"), reg = point.at("reg");
    ASSERT_TRUE(rate >= 0.002 && rate <= 0.05 && reg >= 0.01 && reg <= 0.2);
    low_rates += rate < 0.01 ? 1 : 0;  // the middle of the logarithmic axis
    low_regs += reg < 0.105 ? 1 : 0;   // and of the linear one
  }
  EXPECT_NEAR(low_rates, 500, 70);
  EXPECT_NEAR(low_regs, 500, 70);
}

TEST(Draws, OfIntegersAreWholeAndReachBothEnds) {
  for (const bool log : {false, true}) {
    const TuneRange range{"factors", 2, 64, log, true, 1, 1024, {}};
    EXPECT_EQ(value_along(range, 0), 2);
    EXPECT_EQ(value_along(range, 1 - 1e-12), 64);
    EXPECT_TRUE(value_along(range, 0.4).is_number_integer());
  }
  EXPECT_EQ(value_along({"factors", 2, 64, true, true, 1, 1024, {}}, 0.5), 11);
  EXPECT_EQ(value_along({"x", 0.0123412, 1, true, false, 0, 2, {}}, 0), 0.0123412)
      << "digits are rounded, but not out of the range";
}

TEST(Draws, AreDistinctAndAllOfThemWhereThereAreFew) {
  Json json = sgd_spec();
  tune_of(json) = {{"trials", 24},
                   {"over", {{"reg_p", {{"choices", {0.01, 0.1}}}}, {"factors", {2, 6}}}}};
  json["algorithms"][0].erase("factors");
  const auto points = study_of(json).points;
  EXPECT_EQ(points.size(), 10u);
  tune_of(json)["trials"] = 9;
  EXPECT_EQ(study_of(json).points.size(), 9u);
  for (const int trials : {9, 24}) {
    tune_of(json)["trials"] = trials;
    std::set<std::string> seen;
    for (const Json& point : study_of(json).points) seen.insert(point.dump());
    EXPECT_EQ(seen.size(), trials == 9 ? 9u : 10u);
  }
  tune_of(json) = {{"over", {{"reg", {0.1, 0.1001}}}}};
  EXPECT_EQ(study_of(json).points.size(), 2u) << "it ends where four digits have no more";
}

// ---- rungs ------------------------------------------------------------------------------------

TEST(Rungs, AreANinthAThirdAndAllOfTheEpochs) {
  using Epochs = std::vector<std::int64_t>;
  EXPECT_EQ(rung_epochs(20, 3), (Epochs{2, 7, 20}));
  EXPECT_EQ(rung_epochs(3, 3), (Epochs{1, 3}));
  EXPECT_EQ(rung_epochs(1, 3), (Epochs{1}));
  EXPECT_EQ(rung_epochs(20, 1), (Epochs{20})) << "no halving";
  EXPECT_EQ(count_runs(24, 3, 3), 24 + 8 + 3);
  EXPECT_EQ(count_runs(1, 3, 3), 3);
}

// ---- choosing ---------------------------------------------------------------------------------

// A study of points x = 0, 1, 2, ... whose trials end as `ending` says.
class MadeStudy {
 public:
  explicit MadeStudy(int trials) {
    plan.label = "made";
    plan.rungs = {1, 3, 9};
    plan.tune.trials = trials;
    plan.tune.over = {{"x", 0, 100, false, false, 0, 1000, {}}};
    for (int i = 0; i < trials; ++i) plan.points.push_back({{"x", static_cast<double>(i)}});
  }

  static TrialOutcome good(double score, double seconds = 1) {
    return {Status::completed, "done", score, seconds};
  }
  static TrialOutcome bad(Status status, double seconds = 1) {
    return {status, "it was bad", std::nullopt, seconds};
  }

  // Runs the requested trials until the study is over.
  StudyState run(const std::function<TrialOutcome(const TrialPlace&)>& ending) {
    TrialOutcomes outcomes;
    order.clear();
    for (StudyState state;;) {
      state = state_of(plan, outcomes);
      if (!state.next) return state;
      order.push_back(*state.next);
      EXPECT_TRUE(outcomes.emplace(*state.next, ending(*state.next)).second) << "asked for twice";
    }
  }

  StudyPlan plan;
  std::vector<TrialPlace> order;
};

struct Choice : ::testing::Test {
  MadeStudy study{9};
};

TEST_F(Choice, KeepsAThirdOfEachRungAndTheBestOfTheLast) {
  // The later in the draws the better; in the second rung the other way round.
  const auto state = study.run([](const TrialPlace& place) {
    const auto x = static_cast<double>(place.trial);
    return MadeStudy::good(place.rung == 2 ? 1 : place.rung == 1 ? x : 20 - x);
  });
  const std::vector<TrialPlace> rungs(study.order.begin() + 9, study.order.end());
  EXPECT_EQ(rungs, (std::vector<TrialPlace>{{8, 1}, {7, 1}, {6, 1}, {6, 2}}))
      << "the best of a rung go first";
  EXPECT_EQ(state.best()->place, (TrialPlace{6, 2}));
  EXPECT_EQ(state.runs, 13);
  EXPECT_EQ(state.standings[1].place, (TrialPlace{7, 1}));
  EXPECT_EQ(state.standings[0].seconds, 3);
}

// The best of the short rungs overfit: nine epochs leave them six times worse than trials 0 and 1
// when they were stopped. These are trained to the end as well.
TEST_F(Choice, TrainsOnWhatWasStoppedAtABetterScore) {
  const auto state = study.run([](const TrialPlace& place) {
    if (place.trial < 2) return MadeStudy::good(place.rung == 0 ? 1 : 1.5);
    const double x = 0.9 - 0.01 * static_cast<double>(place.trial);
    return MadeStudy::good(place.rung == 2 ? 6 : x);
  });
  EXPECT_EQ(study.order[12], (TrialPlace{8, 2}));
  EXPECT_EQ(state.best()->place.rung, 2u);
  EXPECT_EQ(state.best()->place.trial, 0u);
  EXPECT_EQ(*state.best()->outcome.score, 1.5);
  EXPECT_GT(state.runs, 13);
}

TEST_F(Choice, SaysWhereAStoppedTrialWasBetterAndTheBudgetIsSpent) {
  study.plan.tune.budget_s = 13;
  const auto state = study.run([](const TrialPlace& place) {
    return MadeStudy::good(place.rung == 2 ? 6 : 1, place.rung == 2 ? 6 : 0.4);
  });
  EXPECT_TRUE(state.out_of_budget);
  const std::string warning = choice_warning(study.plan, state);
  EXPECT_TRUE(contains(warning, "was stopped after") &&
              contains(warning, "better than the 6.0000 of the chosen one after 9"))
      << warning;
}

TEST_F(Choice, OfEqualOnesTheFirstThatWasDrawn) {
  const auto state = study.run([](const TrialPlace&) { return MadeStudy::good(1); });
  EXPECT_EQ(state.best()->place, (TrialPlace{0, 2}));
  EXPECT_EQ(study.order[9], (TrialPlace{0, 1}));
}

TEST_F(Choice, WhoFailsHasLostWhateverItWasBefore) {
  const auto state = study.run([](const TrialPlace& place) {
    if (place.trial == 0) return MadeStudy::bad(Status::diverged);
    if (place.trial == 1 && place.rung == 2) return MadeStudy::bad(Status::oom);
    return MadeStudy::good(static_cast<double>(place.trial));
  });
  EXPECT_EQ(state.best()->place, (TrialPlace{2, 1})) << "the best of those that have not failed";
  EXPECT_TRUE(state.standings.back().lost());
  const std::string text = to_text(study.plan, state);
  EXPECT_HAS(text, "lost: 1 diverged, 1 oom");
  EXPECT_HAS(text, "it was bad");
}

TEST_F(Choice, OfNothingThatCompletedIsNothing) {
  MadeStudy few(4);
  const auto diverged = few.run([](const TrialPlace&) { return MadeStudy::bad(Status::diverged); });
  EXPECT_EQ(diverged.best(), nullptr);
  EXPECT_EQ(diverged.runs, 4);
  EXPECT_EQ(why_nothing(diverged).status, Status::error);
  EXPECT_HAS(why_nothing(diverged).reason, "4 diverged");
  const auto skipped = few.run([](const TrialPlace&) { return MadeStudy::bad(Status::skipped); });
  EXPECT_EQ(why_nothing(skipped).status, Status::skipped);
}

TEST_F(Choice, IsTheSameInWhateverOrderTheTrialsAreFound) {
  const auto ending = [](const TrialPlace& place) {
    return MadeStudy::good(std::sin(static_cast<double>(7 * place.trial + place.rung)));
  };
  const auto state = study.run(ending);
  TrialOutcomes all;  // more than was asked for
  for (std::size_t rung = 3; rung-- > 0;) {
    for (std::size_t trial = 9; trial-- > 0;) all[{trial, rung}] = ending({trial, rung});
  }
  const auto again = state_of(study.plan, all);
  EXPECT_EQ(again.best()->place, state.best()->place);
  EXPECT_EQ(again.runs, state.runs);
}

// ---- the budget -------------------------------------------------------------------------------

TEST(Budget, EachRungHasItsShareSoThatThereIsALastOne) {
  MadeStudy study(24);
  study.plan.tune.budget_s = 30;
  // Two seconds an epoch: all of the first rung would take 48 s.
  const auto state = study.run([&](const TrialPlace& place) {
    return MadeStudy::good(static_cast<double>(place.trial),
                           2 * static_cast<double>(study.plan.rungs[place.rung]));
  });
  EXPECT_TRUE(state.out_of_budget);
  const auto in_rung = [&](std::size_t rung) {
    return std::count_if(study.order.begin(), study.order.end(),
                         [&](const auto& place) { return place.rung == rung; });
  };
  EXPECT_EQ(in_rung(0), 5) << "10 s, a third of the budget";
  EXPECT_EQ(in_rung(1), 2) << "a third of five, rounded up: 12 s";
  EXPECT_EQ(in_rung(2), 1);
  EXPECT_EQ(state.best()->place, (TrialPlace{0, 2}));
  EXPECT_EQ(state.seconds, 10 + 12 + 18) << "the trial that runs is not cut";
  EXPECT_HAS(to_text(study.plan, state), "5 of 24 trials, 8 runs");
}

// Trials of 4 s each with their evaluations.
TEST(Budget, OfWallTimeBeginsNoTrialThatWouldPassIt) {
  MadeStudy study(24);
  study.plan.tune.wall_s = 30;
  const auto state = study.run([](const TrialPlace& place) {
    TrialOutcome outcome = MadeStudy::good(static_cast<double>(place.trial), 0.1);
    outcome.wall_s = 4;
    return outcome;
  });
  EXPECT_TRUE(state.out_of_budget);
  const auto in_rung = [&](std::size_t rung) {
    return std::count_if(study.order.begin(), study.order.end(),
                         [&](const auto& place) { return place.rung == rung; });
  };
  EXPECT_EQ(in_rung(0), 2) << "a third would begin at 8 s and pass 10";
  EXPECT_EQ(in_rung(1), 1);
  EXPECT_EQ(in_rung(2), 1);
  EXPECT_EQ(state.wall_s, 16);
}

// ---- edges ------------------------------------------------------------------------------------

TEST(Edges, AreFivePercentOfTheRangeWhereTheParameterGoesOn) {
  const std::vector<TuneRange> linear = {{"x", 10, 20, false, false, 0, 1000, {}}};
  const std::vector<TuneRange> log = {{"x", 0.01, 1, true, false, 0, 1000, {}}};
  const auto on_edge = [](const std::vector<TuneRange>& over, double value) {
    return !on_edges(over, {{"x", value}}).empty();
  };
  EXPECT_TRUE(on_edge(linear, 10.4));
  EXPECT_FALSE(on_edge(linear, 10.6));
  EXPECT_TRUE(on_edge(linear, 19.6));
  EXPECT_TRUE(on_edge(log, 0.012)) << "5 % of two decades";
  EXPECT_FALSE(on_edge(log, 0.013));
  EXPECT_FALSE(on_edge({{"x", 0, 20, false, false, 0, 1000, {}}}, 0.1)) << "its own bound";
  EXPECT_FALSE(on_edge({{"x", 10, 1000, false, false, 0, 1000, {}}}, 999));
  EXPECT_FALSE(on_edge({{"x", 0, 0, false, false, 0, 0, {1.0, 2.0}}}, 1)) << "a choice";
}

TEST(Edges, AreToldOnceForAllStudies) {
  MadeStudy study{9};
  const auto state = study.run(
      [](const TrialPlace& place) { return MadeStudy::good(static_cast<double>(place.trial)); });
  study.plan.tune.over[0].low = -1;
  study.plan.tune.over[0].least = -10;
  const std::vector<FoundStudy> two = {{study.plan, state}, {study.plan, state}};
  const std::string each = "made: the best x, 0, lies at an end of [-1, 100]";
  EXPECT_EQ(edges_warning(two),
            each + "; " + each + "; better ones may lie beyond: widen the ranges");
  EXPECT_EQ(choice_warning(study.plan, state), "");
  EXPECT_EQ(edges_warning({}), "");
}

// ---- specs ------------------------------------------------------------------------------------

struct TuneForm : ::testing::Test {
  Json json = sgd_spec();
};

TEST_F(TuneForm, RefusesWhatCannotBeSearchedWithItsPath) {
  const auto with = [](const Json& over) {
    Json wrong = sgd_spec();
    tune_of(wrong)["over"] = over;
    return error_of(wrong);
  };
  const std::string over = "$.algorithms[0].tune.over";
  EXPECT_HAS(with({{"ref", {0.1, 0.2}}}), over);
  EXPECT_HAS(with({{"ref", {0.1, 0.2}}}), "reg");
  EXPECT_HAS(with({{"reg", {-1, 0.2}}}), over + ".reg");
  EXPECT_HAS(with({{"reg", {0.2, 0.1}}}), "below the high one");
  EXPECT_HAS(with({{"reg", {0, 0.1, "log"}}}), "above 0");
  EXPECT_HAS(with({{"reg", {0.1, 0.2, "lug"}}}), "[low, high, \"log\"]");
  EXPECT_HAS(with({{"reg", 0.1}}), "[low, high]");
  EXPECT_HAS(with({{"order", Json::array({"a", "b"})}}), "it has no order");
  EXPECT_HAS(with({{"order", {{"choices", {"shuffled", "?"}}}}}), over + ".order");
  EXPECT_HAS(with({{"reg", {{"choices", {0.1, 0.1}}}}}), "twice");
  EXPECT_HAS(with(Json::object()), "names no parameter");
  EXPECT_HAS(with({{"factors", {2, 8}}}), "set by the entry, too");
  EXPECT_HAS(with({{"learning_rate", {1, 1e4}}}), over + ".learning_rate");
  json["algorithms"][0] = {{"name", "als_cpu"}, {"tune", {{"over", {{"learning_rate", {1, 2}}}}}}};
  EXPECT_HAS(error_of(json), "als_cpu has no learning rate");
  json = sgd_spec();
  tune_of(json)["trails"] = 3;
  EXPECT_HAS(error_of(json), "trials");
  json = sgd_spec();
  tune_of(json).erase("over");
  EXPECT_HAS(error_of(json), "$.algorithms[0].tune");
}

TEST_F(TuneForm, NeedsAValidationPartAndAMetricOnIt) {
  json["split"].erase("validation");
  EXPECT_HAS(error_of(json), "\"validation\": 0.1");
  EXPECT_HAS(error_of(json), "$.algorithms[0].tune");
  json = sgd_spec();
  tune_of(json)["metric"] = "ndcg_100";
  EXPECT_HAS(error_of(json), "\"ranking\": true");
  json["evaluate"] = {{"ranking", true}};
  EXPECT_EQ(study_of(json).metric, kNdcg100);
  json["algorithms"][0] = {{"name", "ials_cpu"}, {"tune", {{"over", {{"reg", {0.1, 1}}}}}}};
  EXPECT_EQ(study_of(json).metric, kNdcg100);
  tune_of(json)["metric"] = "validation_rmse";
  EXPECT_HAS(error_of(json), "no RMSE");
  tune_of(json)["metric"] = "ndcg@10";
  const Study study = study_of(json);
  EXPECT_EQ(study.metric, Metric::named("ndcg", 10));
  EXPECT_EQ(study.base.resolved["evaluate"]["metrics"], Json::array({"ndcg_10"}));
  EXPECT_EQ(read_study_plan(to_json(study), "t").metric, study.metric);
  tune_of(json).erase("metric");
  json["evaluate"] = {{"ranking", false}};
  EXPECT_HAS(error_of(json), "of the training part");
}

TEST_F(TuneForm, AStudyIsOneForAllSeedsAndEachOtherValue) {
  json["algorithms"][0]["factors"] = {4, 8};
  json["datasets"] = {"like:ml-100k", "like:ml-1m"};
  const Spec spec = parse_spec(json, "t.json");
  EXPECT_EQ(spec.cases.size(), 8u);
  ASSERT_EQ(spec.studies.size(), 4u);
  EXPECT_EQ(spec.studies[0].label, "sgd_serial factors=4 on ml-100k look-alike");
  EXPECT_EQ(spec.studies[0].base.seed, 4u);
  EXPECT_EQ(spec.cases[0].study, spec.cases[4].study) << "the same for the second seed";
  std::set<std::string> names;
  for (const auto& study : spec.studies) names.insert(study.name);
  EXPECT_EQ(names.size(), 4u);
}

TEST_F(TuneForm, TheNameOfAStudyDependsOnWhatItsTrialsAreAlone) {
  const std::string name = study_of(json).name;
  tune_of(json)["trials"] = 30;
  tune_of(json)["budget_s"] = 5;
  json["seeds"] = {4, 5, 6};
  EXPECT_EQ(study_of(json).name, name);
  json["stop"]["epochs"] = 21;
  EXPECT_NE(study_of(json).name, name);
}

TEST_F(TuneForm, TrialsCountForTheLimitOfCases) {
  tune_of(json)["trials"] = 1000;
  json["algorithms"][0]["factors"] = Json::array();
  for (int i = 1; i <= 70; ++i) json["algorithms"][0]["factors"].push_back(i);
  EXPECT_HAS(error_of(json), "runs of trials");
}

TEST_F(TuneForm, WarnsOfUnequalEffortAndOfSplitsThatChange) {
  json["algorithms"].push_back({{"name", "als_cpu"}, {"tune", {{"over", {{"reg", {0.1, 1}}}}}}});
  EXPECT_TRUE(parse_spec(json, "t").warnings.empty());
  json["algorithms"][1]["tune"]["budget_s"] = 10;
  ASSERT_EQ(parse_spec(json, "t").warnings.size(), 1u);
  EXPECT_HAS(parse_spec(json, "t").warnings[0], "not tuned alike");
  json["algorithms"][1]["tune"].erase("budget_s");
  const auto searched = static_cast<int>(tune_of(json)["over"].size());
  json["algorithms"][1]["tune"]["over"]["factors"] = {4, 8};
  tune_of(json)["trials"] = 6 * searched;
  json["algorithms"][1]["tune"]["trials"] = 12;
  EXPECT_TRUE(parse_spec(json, "t").warnings.empty()) << "6 points for each of two parameters";
  json["algorithms"].erase(1);
  json["split"].erase("seed");
  ASSERT_EQ(parse_spec(json, "t").warnings.size(), 1u);
  EXPECT_HAS(parse_spec(json, "t").warnings[0], "split of its own");
  const Json seeds = std::exchange(json["seeds"], 4);
  EXPECT_TRUE(parse_spec(json, "t").warnings.empty());
  json["seeds"] = seeds;
  json.erase("split");
  json["datasets"] =
      Json::array({{{"name", "ml-100k"}, {"split", {{"given", "u1"}, {"validation", 0.1}}}}});
  EXPECT_TRUE(parse_spec(json, "t").warnings.empty()) << "a given test part is that of all seeds";
}

// ---- cases ------------------------------------------------------------------------------------

TEST(Trial, IsTheCaseOfItsPointJudgedByTheValidationPart) {
  Json json = sgd_spec();
  json["stop"] = {
      {"epochs", 20}, {"target_rmse", 0.9}, {"plateau", {{"patience", 2}, {"monitor", "test"}}}};
  json["evaluate"] = {{"train", true}, {"user_groups", 10}};
  const Study study = study_of(json);
  const Case item = trial_case(study, 3, 1);
  EXPECT_EQ(item.params.number("reg"), study.points[3].at("reg").get<double>());
  EXPECT_EQ(item.schedule.learning_rate, study.points[3].at("learning_rate").get<double>());
  EXPECT_EQ(item.stop.epochs, 7);
  EXPECT_FALSE(item.stop.target_rmse);
  EXPECT_EQ(item.stop.plateau_monitor, kValidationRmse);
  EXPECT_EQ(item.evaluate.every, 1) << "the plateau is watched";
  EXPECT_FALSE(item.evaluate.train);
  EXPECT_EQ(item.seed, 4u);
  EXPECT_EQ(item.trial.at("number"), 4);
  EXPECT_NE(item.hash, study.make(study.points[3], 4).hash) << "a case would see the test part";
  json["stop"] = {{"epochs", 20}};
  EXPECT_EQ(trial_case(study_of(json), 3, 1).evaluate.every, 7) << "no rule looks in between";
}

TEST(Trial, IsEvaluatedByWhatItsSearchAndItsRulesNeed) {
  Json json = parse_json(R"({
    "datasets": ["like:ml-100k"], "split": {"validation": 0.1, "seed": 1},
    "stop": {"epochs": 27, "plateau": {"patience": 2}}, "target": {"metric": "validation_ndcg_100",
    "value": 0.3}, "algorithms": [{"name": "ials_cpu", "tune": {"over": {"reg": [1, 9]}}}]})",
                         "t");
  const auto trial = [&](std::size_t rung) { return trial_case(study_of(json), 0, rung); };
  const Case item = trial(2);
  EXPECT_EQ(ranking_of(item).metrics, std::vector<Metric>{kNdcg100}) << "once, on one part";
  EXPECT_EQ(item.stop.plateau_monitor, kNdcg100) << "of the validation part, which stands for it";
  EXPECT_EQ(error_metric(item), kNdcg100) << "and not the objective";
  EXPECT_EQ(item.evaluate.every, 1);
  EXPECT_EQ(trial(0).evaluate.every, 3) << "no rule can act before epoch 3";
  EXPECT_EQ(trial(1).evaluate.every, 1);
  json["algorithms"][0]["tune"]["metric"] = "recall@5";
  EXPECT_EQ(ranking_of(trial(0)).metrics,
            (std::vector<Metric>{Metric::named("recall", 5), kNdcg100}))
      << "the plateau watches the second";
  json["stop"].erase("plateau");
  EXPECT_EQ(ranking_of(trial(0)).metrics, (std::vector<Metric>{Metric::named("recall", 5)}));
}

// As it was before trials were evaluated by less: results that stand are found.
TEST(Trial, HasAHashOfAllThatItsSpecSays) {
  Json json = sgd_spec();
  json["stop"] = {{"epochs", 20}, {"plateau", {{"patience", 2}}}};
  json["evaluate"] = {{"ranking", true}};
  EXPECT_EQ(trial_case(study_of(json), 3, 0).hash.substr(0, 10), "b4fd71343a");
}

TEST(Trial, WhatWasChosenIsTheCaseThatOneWouldWrite) {
  Json json = sgd_spec();
  const Spec spec = parse_spec(json, "t");
  const Json values = {{"learning_rate", 0.01}, {"reg", 0.05}};
  const Spec resolved = resolve_studies(spec, {{values, {{"study", "s"}}, {}}});
  json["algorithms"][0].erase("tune");
  json["algorithms"][0]["reg"] = 0.05;
  json["algorithms"][0]["learning_rate"] = 0.01;
  const Spec written = parse_spec(json, "t");
  ASSERT_EQ(resolved.cases.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(resolved.cases[i].hash, written.cases[i].hash);
    EXPECT_EQ(resolved.cases[i].id, written.cases[i].id);
    EXPECT_EQ(resolved.cases[i].tuned.at("study"), "s");
  }
  const Spec nothing = resolve_studies(spec, {{std::nullopt, nullptr, {Status::error, "why"}}});
  ASSERT_EQ(nothing.cases.size(), 2u);
  EXPECT_EQ(nothing.cases[0].unresolved->reason, "why");
}

TEST(StudyFile, IsReadBackAsItWasWritten) {
  Json json = sgd_spec();
  tune_of(json)["budget_s"] = 5.5;
  tune_of(json)["over"]["order"] = {{"choices", {"shuffled", "sequential"}}};
  const Study study = study_of(json);
  const Json written = parse_json(json_text(to_json(study), 2), "study.json");
  const StudyPlan read = read_study_plan(written, "study.json");
  EXPECT_EQ(to_json(read), to_json(study));
  EXPECT_EQ(read.points, study.points);
  Json damaged = written;
  damaged["tune"].erase("eta");
  const std::string message = message_of([&] { read_study_plan(damaged, "x/study.json"); });
  EXPECT_HAS(message, "x/study.json");
  EXPECT_HAS(message, "$.tune: the key \"eta\" is missing");
  for (const Json& wrong : {Json("text"), Json::array(), Json(nullptr)}) {
    Json other = written;
    other["points"][0].begin().value() = wrong;
    EXPECT_HAS(message_of([&] { read_study_plan(other, "x"); }), "x: $.points[0].");
    EXPECT_HAS(message_of([&] { read_study_plan(wrong, "x"); }), "expected an object");
  }
  Json newer = written;
  newer["schema_version"] = 2;
  EXPECT_HAS(message_of([&] { read_study_plan(newer, "x/study.json"); }), "found schema_version 2");
}

}  // namespace
}  // namespace mf
