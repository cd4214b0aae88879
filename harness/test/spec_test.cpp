#include "harness/experiment/spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;

Json ruler_spec() {
  return parse_json(R"({
    "name": "t", "datasets": ["like:ml-100k"], "seeds": [1, 2],
    "algorithms": [{"name": "ruler", "factors": [1, 2]}]})",
                    "t");
}

Json with(const char* key, const Json& value) {
  Json json = ruler_spec();
  json[key] = value;
  return json;
}

std::string error_of(const Json& json) {
  return message_of([&] { parse_spec(json, "spec.json"); });
}

TEST(Sweep, IsTheCrossProductAlsoInsideObjects) {
  const auto flat =
      expand_sweeps(parse_json(R"({"a": [1, 2], "b": 3, "c": {"d": [4, 5], "e": 6}})", "t"));
  ASSERT_EQ(flat.size(), 4u);
  EXPECT_EQ(flat[0], (Json{{"a", 1}, {"b", 3}, {"c", {{"d", 4}, {"e", 6}}}}));
  EXPECT_EQ(flat[1], (Json{{"a", 1}, {"b", 3}, {"c", {{"d", 5}, {"e", 6}}}}));
  EXPECT_EQ(flat[3], (Json{{"a", 2}, {"b", 3}, {"c", {{"d", 5}, {"e", 6}}}}));
}

TEST(Sweep, RefusesMoreCasesThanAnybodyMeans) {
  Json many = Json::array();
  for (int i = 0; i < 1000; ++i) many.push_back(i);
  EXPECT_TRUE(contains(message_of([&] { expand_sweeps({{"a", many}, {"b", many}}); }), "100000"));
}

Json numbers(int count) {
  Json list = Json::array();
  for (int i = 1; i <= count; ++i) list.push_back(i);
  return list;
}

// 2^60 cases of which none is made, a million seeds of which none is there twice.
TEST(Spec, TheLimitOfCasesHoldsForTheWholeSpecBeforeAnyIsMade) {
  Json json = ruler_spec();
  json["algorithms"][0]["factors"] = numbers(1000);
  json["seeds"] = numbers(100);
  json["baseline"] = "nobody";
  EXPECT_TRUE(contains(error_of(json), "$.baseline")) << "100,000 are no error";
  json.erase("baseline");
  json["seeds"] = numbers(101);
  EXPECT_HAS(error_of(json), "101 seeds x 1 data sets x 1000 algorithms");
  json["seeds"] = 1;
  json["stop"] = {{"epochs", numbers(101)}};
  EXPECT_TRUE(contains(error_of(json), "$.algorithms[0].stop")) << "what is inherited";
  json["algorithms"][0] = {{"name", "ruler"}, {"stop", {{"epochs", 5}}}};
  EXPECT_EQ(error_of(json), "no error") << "nor what no entry inherits";
  json["seeds"] = numbers(51);
  json["datasets"] = {{{"like", "ml-100k"}, {"seed", numbers(1000)}},
                      {{"like", "ml-1m"}, {"seed", numbers(1000)}}};
  EXPECT_HAS(error_of(json), "51 seeds x 2000 data sets x 1 algorithms");
  Json wide = ruler_spec();
  for (const char* key : {"schedule", "init", "stop"}) {
    for (int i = 0; i < 20; ++i) wide[key]["key" + std::to_string(i)] = {1, 2};
  }
  EXPECT_TRUE(contains(error_of(wide), "more than 100000")) << error_of(wide);
  Json many = ruler_spec();
  many["seeds"] = numbers(1'000'000);
  EXPECT_TRUE(contains(error_of(many), "1000000 seeds")) << error_of(many);
  many["seeds"].push_back(999'999);
  EXPECT_TRUE(contains(error_of(many), "999999 appears twice")) << error_of(many);
}

TEST(Spec, RunsSeedsRoundRobinAndGivesEveryCaseItsOwnId) {
  const Spec spec = parse_spec(ruler_spec(), "t.json");
  ASSERT_EQ(spec.cases.size(), 4u);
  EXPECT_EQ(spec.cases[0].seed, 1u);
  EXPECT_EQ(spec.cases[1].seed, 1u);
  EXPECT_EQ(spec.cases[2].seed, 2u);
  EXPECT_EQ(spec.cases[0].params.integer("factors"), 1);
  std::set<std::string> ids;
  for (const auto& item : spec.cases) {
    ids.insert(item.id);
    EXPECT_EQ(item.split.seed, item.seed) << "each repeat draws its own split";
    EXPECT_TRUE(contains(item.id, item.hash.substr(0, 10)));
  }
  EXPECT_EQ(ids.size(), 4u);
}

TEST(Spec, WhatIsComputedAtOnceHasOneEpoch) {
  Json json = with("stop", {{"epochs", 7}});
  json["algorithms"] = Json::array({Json{{"name", "popular"}}, Json{{"name", "bias"}}});
  const Spec spec = parse_spec(json, "spec.json");
  EXPECT_EQ(spec.cases[0].stop.epochs, 1);
  EXPECT_EQ(spec.cases[0].resolved.at("stop").at("epochs"), 1);
  EXPECT_EQ(spec.cases[1].stop.epochs, 7);
  json["stop"]["epochs"] = 0;
  EXPECT_EQ(parse_spec(json, "spec.json").cases[0].stop.epochs, 0);
}

TEST(Spec, ARuleForImplicitFeedbackIsPartOfTheDataSet) {
  Json json = ruler_spec();
  const std::string plain = parse_spec(json, "t").cases[0].hash;
  const Json four = {{"like", "ml-100k"}, {"implicit", {{"min_rating", 4}}}};
  json["datasets"] = {"like:ml-100k", four};
  const Spec spec = parse_spec(json, "t");
  EXPECT_EQ(spec.cases[0].hash, plain) << "entries without the key keep their hashes";
  EXPECT_NE(spec.cases[2].hash, plain);
  EXPECT_TRUE(contains(spec.cases[2].id, "ml-100k-look-alike-implicit-4"));
  json["datasets"][0] = {{"like", "ml-100k"}, {"label", "x"}};
  json["datasets"][1]["label"] = "x";
  EXPECT_TRUE(contains(error_of(json), "\"x\""));
}

TEST(Spec, ACaseHashDependsOnWhatDecidesTheResultAlone) {
  Json json = ruler_spec();
  const std::string before = parse_spec(json, "t").cases[0].hash;
  json["name"] = "other";
  json["target_rmse"] = 0.9;
  json["baseline"] = "ruler";
  EXPECT_EQ(parse_spec(json, "t").cases[0].hash, before);
  json["stop"] = {{"epochs", 21}};
  EXPECT_NE(parse_spec(json, "t").cases[0].hash, before);
}

TEST(Spec, DefaultsWrittenOutGiveTheSameCase) {
  Json json = ruler_spec();
  const std::string before = parse_spec(json, "t").cases[0].hash;
  json["algorithms"][0]["sleep_ms"] = 1;
  json["stop"] = {{"epochs", 20}};
  EXPECT_EQ(parse_spec(json, "t").cases[0].hash, before);
}

// Results that are already there must not run again because the program has learnt a new key.
TEST(Spec, NewerKeysLeaveTheHashesOfOlderCasesAlone) {
  Json json = ruler_spec();
  const Spec before = parse_spec(json, "t");
  EXPECT_EQ(before.cases[0].resolved["evaluate"],
            (Json{{"every", 1}, {"train", false}, {"clip", false}}));
  EXPECT_EQ(before.cases[0].hash.substr(0, 10), "7cd4a2fe5a");
  json["evaluate"] = {{"user_groups", 0}};
  EXPECT_EQ(parse_spec(json, "t").cases[0].hash, before.cases[0].hash);
  json["evaluate"] = {{"user_groups", 10}};
  const Spec grouped = parse_spec(json, "t");
  EXPECT_NE(grouped.cases[0].hash, before.cases[0].hash);
  EXPECT_EQ(grouped.cases[0].evaluate.user_groups, 10);
  json["evaluate"] = {{"user_groups", 1001}};
  EXPECT_TRUE(contains(error_of(json), "$.evaluate.user_groups"));
}

TEST(Spec, KindsOfInitialFactorsHaveTheirOwnScale) {
  Json json = ruler_spec();
  const auto init = [&](const Json& given) {
    json["init"] = given;
    return parse_spec(json, "t").cases[0].init;
  };
  EXPECT_EQ(init({{"kind", "normal"}}).scale, 0.1);
  EXPECT_EQ(init({{"kind", "normal_over_factors"}}).scale, 1);
  const StartSpec cu2rec = init({{"kind", "normal_over_factors"}, {"scale", 2}});
  EXPECT_EQ(cu2rec.kind, InitKind::normal_over_factors);
  EXPECT_EQ(to_json(cu2rec), (Json{{"kind", "normal_over_factors"}, {"scale", 2.0}}));
  json["init"] = {{"kind", "normal_over_factor"}};
  EXPECT_TRUE(contains(error_of(json), "\"normal_over_factors\"")) << error_of(json);
  json["init"] = {{"kind", "uniform"}, {"scale", 2}};
  EXPECT_TRUE(contains(error_of(json), "$.init.scale"));
}

TEST(Spec, RulesWatchAValidationPartWhichIsCutWhereThereIsNone) {
  for (const Json& rule : {Json::object(), Json{{"monitor", "validation"}}}) {
    Json json = with("stop", {{"plateau", rule}});
    const Spec cut = parse_spec(json, "t");
    EXPECT_EQ(cut.cases[0].split.validation_fraction, 0.1);
    EXPECT_EQ(cut.cases[0].resolved["stop"]["plateau"]["monitor"], "validation");
    ASSERT_EQ(cut.warnings.size(), 1u);
    EXPECT_TRUE(contains(cut.warnings[0], "is cut for it")) << cut.warnings[0];
    json["split"] = {{"holdout", 0.2}, {"validation", 0.25}};
    const Spec given = parse_spec(json, "t");
    EXPECT_EQ(given.cases[0].split.validation_fraction, 0.25);
    EXPECT_TRUE(given.warnings.empty());
  }
  EXPECT_EQ(parse_spec(with("stop", {{"epochs", 3}}), "t").cases[0].split.validation_fraction, 0)
      << "no rule needs one";
}

// All cases of a data set train on the same ratings.
TEST(Spec, APartThatIsCutForOneAlgorithmIsCutForAll) {
  Json json = with("split", {{"holdout", 0.2}});
  json["algorithms"] = Json::array(
      {"sgd_serial",
       Json{{"name", "sgd_serial"}, {"factors", 3}, {"schedule", {{"kind", "plateau"}}}}});
  for (const Case& item : parse_spec(json, "t").cases) {
    EXPECT_EQ(item.split.validation_fraction, 0.1);
  }
  // Who has no learning rate ignores the schedule.
  json["algorithms"] =
      Json::array({Json{{"name", "als_cpu"}, {"schedule", {{"kind", "plateau"}}}}});
  EXPECT_EQ(parse_spec(json, "t").cases[0].split.validation_fraction, 0);
}

TEST(Spec, TheTestPartIsWatchedIfItIsAskedFor) {
  const Json json = with("stop", {{"plateau", {{"monitor", "test"}}}});
  const Spec spec = parse_spec(json, "t");
  EXPECT_EQ(spec.cases[0].split.validation_fraction, 0);
  EXPECT_EQ(rules_on_test(spec.cases[0]), std::vector<std::string>{"stop.plateau"});
  EXPECT_TRUE(spec.warnings.empty()) << "tables mark it";
}

TEST(Spec, OfAProgramThatEvaluatesItselfTheTestPartAloneIsWatched) {
  Json json = with("split", {{"holdout", 0.2}, {"validation", 0.1}});
  json["algorithms"] = Json::array({Json{{"name", "peer"}, {"library", "cumf_sgd"}}});
  EXPECT_EQ(error_of(json), "no error");
  for (const Json& rule :
       {Json{{"monitor", "validation"}}, Json{{"monitor", "train"}}, Json::object()}) {
    json["stop"] = {{"plateau", rule}};
    EXPECT_TRUE(contains(error_of(json), "stop.plateau.monitor: peer:") &&
                contains(error_of(json), "evaluates itself"))
        << error_of(json);
  }
  json["stop"] = {{"plateau", {{"monitor", "test"}}}};
  EXPECT_EQ(error_of(json), "no error");
}

TEST(Spec, AMetricThatIsNamedIsEvaluatedAndPartOfTheHash) {
  Json json = with("evaluate", {{"ranking", true}});
  const Case plain = parse_spec(json, "t").cases.at(0);
  json["target"] = {{"metric", "ndcg_100"}, {"value", 0.3}};
  json["stop"] = {{"target", {{"metric", "test_mae"}, {"value", 0.7}}}};
  EXPECT_FALSE(parse_spec(json, "t").cases.at(0).resolved["evaluate"].contains("metrics"))
      << "every ranked case has these";
  json.erase("stop");
  EXPECT_EQ(parse_spec(json, "t").cases.at(0).hash, plain.hash);
  json["target"]["metric"] = "ndcg@10";
  json["evaluate"]["metrics"] = {"precision@7", "test_rmse", "ndcg_10"};
  const Case more = parse_spec(json, "t").cases.at(0);
  EXPECT_EQ(more.resolved["evaluate"]["metrics"], (Json::array({"ndcg_10", "precision_7"})));
  json["stop"] = {{"plateau", {{"monitor", "mrr@5"}}}};
  std::vector<std::string> keys;
  for (const Metric one : ranking_of(parse_spec(json, "t").cases.at(0)).metrics) {
    keys.push_back(one.key());
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"recall_20", "recall_50", "ndcg_100", "map_10", "mrr_5",
                                            "ndcg_10", "precision_7"}));
  json["evaluate"]["metrics"] = {"ndcg@101"};
  EXPECT_TRUE(contains(error_of(json), "$.evaluate.metrics: found \"ndcg@101\"") &&
              contains(error_of(json), "a k from 1 to 100"))
      << error_of(json);
  json["evaluate"]["metrics"] = {"objective"};
  EXPECT_TRUE(contains(error_of(json), "$.evaluate.metrics: ")) << error_of(json);
}

TEST(Spec, SplitsOfDataSetsAndOfTheSpecAreToldApart) {
  Json json = with("datasets", {"ml-100k@u1"});
  const Spec spec = parse_spec(json, "t");
  EXPECT_EQ(spec.cases[0].data.given, "u1");
  EXPECT_EQ(spec.cases[0].split.kind, SplitSpec::Kind::given);
  json["datasets"] = Json::array(
      {Json{{"train", "a"}, {"test", "b"}, {"format", "csv"}, {"split", {{"holdout", 0.2}}}}});
  EXPECT_TRUE(contains(error_of(json), "are the split"));
}

TEST(Spec, ScheduleIsInheritedOverriddenAndSwept) {
  Json json = with("schedule", {{"learning_rate", {0.1, 0.2}}});
  json["algorithms"] = {Json{{"name", "ruler"}}, Json{{"name", "ruler"}, {"learning_rate", 0.3}}};
  const Spec spec = parse_spec(json, "t");
  std::set<double> rates;
  for (const auto& item : spec.cases) rates.insert(item.schedule.learning_rate);
  EXPECT_EQ(rates, (std::set<double>{0.1, 0.2, 0.3}));
  json["schedule"] = {{"rate", 1}};
  json["algorithms"] = Json::array({Json{{"name", "ruler"}}});
  EXPECT_TRUE(contains(error_of(json), "$.schedule.rate"));
}

TEST(Spec, AnEntryMayBeEvaluatedLessOftenAndIsNamedByIt) {
  Json json = ruler_spec();
  json["seeds"] = 1;
  json["evaluate"] = {{"every", 2}, {"train", true}};
  json["algorithms"] = {{{"name", "ruler"}},
                        {{"name", "ruler"}, {"evaluate", {{"every", {5, 10}}}}}};
  const Spec spec = parse_spec(json, "t");
  ASSERT_EQ(spec.cases.size(), 3U);
  const std::vector<std::int64_t> expected = {2, 5, 10};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(spec.cases[i].evaluate.every, expected[i]);
    EXPECT_TRUE(spec.cases[i].evaluate.train) << "the rest is the spec's";
    EXPECT_EQ(spec.cases[i].name, "ruler every=" + std::to_string(expected[i]));
  }
  Json single = json;
  single["evaluate"]["every"] = 10;
  single["algorithms"] = {"ruler"};
  EXPECT_EQ(parse_spec(single, "t").cases[0].hash, spec.cases[2].hash) << "wherever it stands";
  json["algorithms"][1]["evaluate"] = {{"train", false}};
  EXPECT_HAS(error_of(json), "$.algorithms[1].evaluate.train: unknown key");
}

TEST(Spec, MessagesAboutWhatWasInheritedNameItsPlace) {
  Json json = with("stop", {{"plateau", {{"patience", 0}}}});
  EXPECT_TRUE(contains(error_of(json), "$.stop.plateau.patience")) << error_of(json);
  json["algorithms"] = Json::array({Json{{"name", "ruler"}, {"stop", {{"epochs", 3}}}}});
  EXPECT_TRUE(contains(error_of(json), "$.stop.plateau.patience")) << "also where no entry does";
  json = ruler_spec();
  json["split"] = {{"given", "u1"}};
  EXPECT_TRUE(contains(error_of(json), "$.split.given: only data sets of the catalog"));
  json = ruler_spec();
  json["algorithms"][0]["stop"] = {{"epochs", Json::array()}};
  EXPECT_TRUE(contains(error_of(json), "$.algorithms[0].stop.epochs: an empty list"));
}

TEST(Spec, UnknownKeysAreAnsweredWithTheNearest) {
  Json renamed = ruler_spec();
  renamed["algoritms"] = renamed["algorithms"];
  renamed.erase("algorithms");
  const std::vector<std::pair<Json, std::string>> wrong = {
      {renamed, "$.algoritms: unknown key, did you mean \"algorithms\"?"},
      {with("schedule", {{"lr", 0.1}}),
       "$.schedule.lr: unknown key, did you mean \"learning_rate\"?"},
      {with("split", {{"test_size", 0.1}}),
       "$.split.test_size: unknown key, did you mean \"holdout\"?"},
      {with("stop", {{"n_epochs", 3}}), "$.stop.n_epochs: unknown key, did you mean \"epochs\"?"},
      {with("evaluate", {{"ranking", {{"n_users", 3}}}}),
       "$.evaluate.ranking.n_users: unknown key, did you mean \"users\"?"},
      {with("datasets", Json::array({{{"file", "a.csv"}}})),
       "$.datasets[0].file: unknown key, did you mean \"path\"?"},
      {with("datasets", Json::array({{{"path", "a"}, {"rating_scale", {{"minimum", 1}}}}})),
       "$.datasets[0].rating_scale.minimum: unknown key, did you mean \"min\"?"},
      {with("algorithms", Json::array({{{"name", "rular"}}})), "did you mean \"ruler\"?"},
      {with("algorithms", Json::array({{{"name", "sgd_serial"}, {"lambda", 0.1}}})),
       "$.algorithms[0].lambda: unknown key, did you mean \"reg\"?"}};
  for (const auto& [json, message] : wrong) {
    EXPECT_TRUE(contains(error_of(json), message)) << error_of(json);
  }
}

TEST(Spec, AKeyOfAnotherKindNamesTheKindsThatHaveIt) {
  Json json = with("schedule", {{"learning_rate", 0.1}, {"decay", 0.5}});
  EXPECT_EQ(error_of(json),
            "$.schedule.decay: found it with kind \"constant\", as it has no \"kind\", expected it "
            "only with plateau or exponential");
  json["schedule"] = {{"kinds", "exponential"}, {"decay", 0.5}};
  EXPECT_TRUE(contains(error_of(json), "$.schedule.kinds: unknown key, did you mean \"kind\"?"));
  json["schedule"] = {{"kind", "exponential"}, {"patience", 2}};
  EXPECT_EQ(error_of(json),
            "$.schedule.patience: found it with kind \"exponential\", expected it only with "
            "plateau");
  json["schedule"] = {{"kind", "exponential"}, {"decay", 0.5}};
  EXPECT_EQ(error_of(json), "no error");
}

TEST(Spec, ClippingNeedsAScale) {
  Json json = with("evaluate", {{"clip", true}});
  json["datasets"] = {"like:ml-100k"};
  EXPECT_EQ(error_of(json), "no error") << "a look-alike has that of its set";
  json["datasets"].push_back("./own.csv");
  EXPECT_EQ(error_of(json),
            "$.evaluate.clip: needs the rating scale of own.csv ($.datasets[1]): declare "
            "\"rating_scale\": {\"min\": 1, \"max\": 5, \"step\": 1} beside its files");
  json["datasets"][1] = {{"path", "own.csv"}, {"rating_scale", {{"min", 1}, {"max", 5}}}};
  EXPECT_EQ(error_of(json), "no error");
  json["datasets"][1]["implicit"] = {{"min_rating", 3}};
  EXPECT_TRUE(contains(error_of(json), "observed pairs have no scale"));
  json["datasets"][1]["implicit"]["value"] = "rating";
  EXPECT_EQ(error_of(json), "no error");
  json["datasets"][1] = "like:lastfm-360k:0.01";
  EXPECT_TRUE(contains(error_of(json), "without a scale"));
  json["datasets"][1] = "./own.csv";
  json["evaluate"] = {{"clip", false}};
  EXPECT_EQ(error_of(json), "no error");
}

TEST(Spec, ACaseThatStandsThereTwiceRunsOnceWithAWarning) {
  Json json = with("algorithms",
                   {{{"name", "sgd_serial"}, {"factors", {8, 8.0, 16}}}, {{"name", "fpsgd"}}});
  Spec spec = parse_spec(json, "t");
  EXPECT_EQ(spec.warnings, std::vector<std::string>{"$.datasets[0] with $.algorithms[0]: some of "
                                                    "its cases stand there twice; each runs once"});
  EXPECT_EQ(spec.cases.size(), 3 * json["seeds"].size());
  json["algorithms"] = {"sgd_serial", "fpsgd", "sgd_serial"};
  spec = parse_spec(json, "t");
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_TRUE(contains(spec.warnings[0], "with $.algorithms[2]"));
}

TEST(Spec, EveryNameHasAFolderOfItsOwnBelowThatOfResults) {
  std::set<std::string> folders;
  std::vector<std::string> names = {".",           "..",    "../..", "/",      "日本",
                                    "京都",        "日本1", "京都1", "größe",  "\xc2\x9b",
                                    "a b c",       "a/b c", "a-b-c", "a--b-c", ".hidden",
                                    "spec.hidden", "spec",  "~",     "\n"};
  for (const int length : {61, 62}) names.emplace_back(length, 'a');
  for (const auto& name : names) {
    Json json = ruler_spec();
    json["name"] = name;
    const std::string folder = parse_spec(json, "file.json").name;
    EXPECT_TRUE(folders.insert(folder).second) << name << " has the folder of another: " << folder;
    EXPECT_EQ(folder.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789._-"),
              std::string::npos)
        << folder;
    EXPECT_NE(folder.find_first_not_of("._-"), std::string::npos) << folder;
    EXPECT_LE(folder.size(), 60U);
  }
  Json json = with("name", "");
  EXPECT_EQ(parse_spec(json, "a/file.json").name, "file");
  json["name"] = "plain-name_1.2";
  EXPECT_EQ(parse_spec(json, "t").name, "plain-name_1.2");
}

TEST(Spec, TheScaleOfALookAlikeHasTheLimitsOfTheSchema) {
  const auto message = [](double scale) {
    Json json = ruler_spec();
    json["datasets"] = Json::array({{{"like", "ml-100k"}, {"scale", scale}}});
    return error_of(json);
  };
  for (const double scale : {1e-9, 0.5, 100.0}) EXPECT_EQ(message(scale), "no error") << scale;
  for (const double scale : {0.0, -1.0, 100.5, 1000.0}) {
    EXPECT_TRUE(contains(message(scale), "$.datasets[0].scale: found")) << message(scale);
  }
  EXPECT_TRUE(contains(spec_schema().dump(), R"("exclusiveMinimum":0,"maximum":100.0)"));
}

TEST(Spec, WordsAndObjectsNameTheSameData) {
  Json json = ruler_spec();
  const auto hash = [&](const Json& entry) {
    json["datasets"] = Json::array({entry});
    return parse_spec(json, "t").cases[0].hash;
  };
  EXPECT_EQ(hash("like:ml-1m:0.5"), hash({{"like", "ml-1m"}, {"scale", 0.5}}));
  EXPECT_EQ(hash("ml-100k@u1"), hash({{"name", "ml-100k"}, {"split", {{"given", "u1"}}}}));
  EXPECT_EQ(hash("a/r.csv"), hash({{"path", "a/r.csv"}}));
  EXPECT_EQ(hash("./a@b"), hash({{"path", "./a@b"}}));
  json["datasets"] = {"like:ml-1m:"};
  EXPECT_TRUE(contains(error_of(json), "$.datasets[0]: found the scale factor \"\""));
}

TEST(Spec, ALabelNamesADataSetAndDecidesNothing) {
  Json json = with("datasets", Json::array({Json{{"path", "a/r.csv"}}}));
  const Spec before = parse_spec(json, "t");
  EXPECT_TRUE(contains(before.cases[0].id, "-r.csv-s1-")) << before.cases[0].id;
  json["datasets"][0]["label"] = "my ratings, 2nd";
  const Spec after = parse_spec(json, "t");
  EXPECT_EQ(after.cases[0].hash, before.cases[0].hash);
  EXPECT_EQ(after.cases[0].resolved, before.cases[0].resolved);
  EXPECT_EQ(after.cases[0].data.label(), "my ratings, 2nd");
  EXPECT_TRUE(contains(after.cases[0].id, "-my-ratings-2nd-s1-")) << after.cases[0].id;
  json["datasets"][0]["label"] = "a\nb";
  EXPECT_TRUE(contains(error_of(json), "$.datasets[0].label"));
}

TEST(Spec, TwoDataSetsHaveTwoLabels) {
  Json json = with("datasets", {"a/r.csv", "b/r.csv"});
  EXPECT_TRUE(contains(error_of(json), "$.datasets[1]: another data set of this spec is named"));
  json["datasets"] = {"a/r.csv", Json{{"path", "b/r.csv"}, {"label", "other"}}};
  EXPECT_EQ(error_of(json), "no error");
  json["datasets"] = {"a/r.csv", Json{{"path", "./a/r.csv"}, {"split", {{"leave_out", 1}}}}};
  EXPECT_EQ(error_of(json), "no error") << "one data set, two splits";
}

}  // namespace
}  // namespace mf
