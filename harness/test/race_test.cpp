// The feedback that `mfbench race` guesses, the spec that it writes, and the target from its
// trials.
#include "harness/race/race_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/experiment/study.hpp"

namespace mf {
namespace {

Feedback taken_for(const std::vector<float>& values) {
  return feedback_of({values.data(), std::ssize(values)});
}

TEST(Race, ValuesAreTakenForWhatTheyLookLike) {
  EXPECT_EQ(taken_for({1, 1, 1}), Feedback::pairs);
  EXPECT_EQ(taken_for({1, 5, 3, 4, 4}), Feedback::stars);
  EXPECT_EQ(taken_for({0.5, 5, 3.5}), Feedback::stars);
  EXPECT_EQ(taken_for({1, 1, 1, 2, 10}), Feedback::stars);      // up to ten
  EXPECT_EQ(taken_for({1, 1, 1, 2, 11}), Feedback::counts);     // beyond, and 1 most often
  EXPECT_EQ(taken_for({1, 90, 90, 70, 100}), Feedback::stars);  // per cent
  EXPECT_EQ(taken_for({5, 5, 13883, 7}), Feedback::counts);     // beyond any scale
  EXPECT_EQ(taken_for({-10, 1, 1, 1, 200}), Feedback::stars);   // counts have no sign
  EXPECT_EQ(taken_for({1, 1, 1, 200.5}), Feedback::stars);      // nor halves
}

RaceFrame frame() { return {"race-x", "", "like:ml-100k", 60, std::nullopt}; }

std::vector<std::string> names_in(const Json& spec) {
  std::vector<std::string> names;
  for (const auto& entry : spec["algorithms"]) names.push_back(entry["name"]);
  return names;
}

TEST(Race, TheSpecIsValidAndOfTheKindOfItsValues) {
  const Json stars = race_spec({Feedback::stars, 3.5, 1.1, 943}, frame());
  EXPECT_EQ(names_in(stars),
            (std::vector<std::string>{"sgd_serial", "hogwild", "fpsgd", "als_cpu"}));
  const Spec spec = parse_spec(stars, "race.json");
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.studies.size(), 4U);
  EXPECT_FALSE(target_of(spec));
  for (const Feedback kind : {Feedback::counts, Feedback::pairs}) {
    const Json implicit = race_spec({kind, 20, 5, 943}, frame());
    EXPECT_EQ(names_in(implicit), (std::vector<std::string>{"ials_cpu", "ials_pp_cpu", "popular",
                                                            "item_knn", "ease_cpu"}));
    const Spec of_pairs = parse_spec(implicit, "race.json");
    EXPECT_TRUE(of_pairs.warnings.empty()) << of_pairs.warnings.front();
    EXPECT_EQ(of_pairs.studies.size(), 4U) << "all but popular, which has no parameters";
    EXPECT_TRUE(is_implicit(of_pairs.studies.front().base));
  }
}

TEST(Race, EaseRunsUpToANumberOfItems) {
  for (const std::int32_t items : {5'000, 5'001}) {
    const auto names = names_in(race_spec({Feedback::pairs, 1, 0, 943, items}, frame()));
    EXPECT_EQ(std::count(names.begin(), names.end(), "ease_cpu"), items == 5'000 ? 1 : 0);
  }
}

// Else `race` would run the trials once more when it has set the target.
TEST(Race, TrialsStayTheSameWithTheTargetThatTheyGive) {
  Json json = race_spec({Feedback::pairs, 1, 0, 943}, frame());
  const Study before = parse_spec(json, "race.json").studies.front();
  json["target"] = {{"metric", "validation_ndcg_100"}, {"value", 0.2}};
  const Study after = parse_spec(json, "race.json").studies.front();
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(trial_case(after, 0, 0).hash, trial_case(before, 0, 0).hash);
}

TEST(Race, RangesFollowTheScaleOfTheValues) {
  const auto over = [](const RatingsLook& look) {
    return race_spec(look, frame())["algorithms"][0]["tune"]["over"];
  };
  const Json stars = over({Feedback::stars, 3.5, 1.1, 9});
  EXPECT_EQ(stars["reg"], (Json{0.01, 0.2, "log"}));
  EXPECT_EQ(stars["learning_rate"], (Json{0.002, 0.05, "log"}));
  const Json per_cent = over({Feedback::stars, 70, 22, 9});
  EXPECT_EQ(per_cent["reg"], (Json{0.2, 4.0, "log"}));
  EXPECT_EQ(per_cent["learning_rate"], (Json{0.0001, 0.0025, "log"}));
  EXPECT_EQ(over({Feedback::counts, 100, 500, 9})["alpha"], (Json{0.002, 10.0, "log"}));
}

TEST(Race, TheTimeIsSharedOutAmongTrialsAndCases) {
  const Json spec = race_spec({Feedback::stars, 3.5, 1.1, 9}, frame());
  double seconds = 0;
  for (const auto& entry : spec["algorithms"]) {
    seconds +=
        entry["tune"]["wall_s"].get<double>() + 3 * entry["stop"]["train_seconds"].get<double>();
  }
  EXPECT_NEAR(seconds, 60, 3);
}

FoundStudy study_that_reached(const Metric& metric, std::optional<double> score) {
  FoundStudy study;
  study.plan.metric = metric;
  TrialStanding one;
  one.outcome.score = score;
  study.state.standings.push_back(one);
  return study;
}

std::vector<FoundStudy> studies(const Metric& metric, const std::vector<double>& scores) {
  std::vector<FoundStudy> all;
  for (const double score : scores) all.push_back(study_that_reached(metric, score));
  return all;
}

TEST(Race, TheTargetIsWhatAllInTheRaceReach) {
  auto target = race_target(studies(kValidationRmse, {0.90, 0.88, 0.92}));
  ASSERT_TRUE(target);
  EXPECT_EQ(target->metric, kValidationRmse);
  EXPECT_EQ(target->value, 0.930);  // .9292, to the easier side
  // Who is further than 5 % off is not waited for.
  target = race_target(studies(kValidationRmse, {0.90, 0.88, 1.2}));
  EXPECT_EQ(target->value, 0.909);
  // But never of one study only.
  EXPECT_EQ(race_target(studies(kValidationRmse, {1.2, 0.88, 1.1}))->value, 1.12);  // 1.111
  // More is better: the lowest within 5 %, and lower.
  target = race_target(studies(kNdcg100, {0.40, 0.39, 0.2}));
  EXPECT_EQ(target->metric, on_validation(kNdcg100));
  EXPECT_EQ(target->value, 0.386);  // .3861
  auto failed = studies(kValidationRmse, {0.9});
  failed.push_back(study_that_reached(kValidationRmse, std::nullopt));
  EXPECT_EQ(race_target(failed)->value, 0.909);
  EXPECT_FALSE(race_target({study_that_reached(kValidationRmse, std::nullopt)}));
}

}  // namespace
}  // namespace mf
