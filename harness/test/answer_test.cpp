// Definitions of times on traces made by hand: the target, the answer, the first epoch and the
// steady one, and the summary that shows them.
#include <gtest/gtest.h>

#include <fstream>

#include "harness/experiment/spec.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/compare/headline.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/results/summary.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::spec_from;
using testing::TempFolder;

Json point(int epoch, double train_s, Json rmse) {
  return {{"type", "trace"}, {"epoch", epoch}, {"train_s", train_s}, {"test_rmse", rmse}};
}

Json footer(double prepare_s, double transfer_s, double train_s) {
  return {{"type", "footer"},
          {"status", "completed"},
          {"updates", 100},
          {"clocks", {{"prepare_s", prepare_s}, {"transfer_s", transfer_s}, {"train_s", train_s}}}};
}

ResultFile descending() {
  ResultFile file;
  file.header = Json::object();
  file.trace = {point(0, 0, 2.0), point(1, 2, 1.0), point(2, 4, 0.9), point(3, 6, 0.8)};
  file.footer = footer(0.5, 0.25, 6);
  return file;
}

// The validation part is best at epoch 2, the test part at epoch 3.
ResultFile chosen() {
  ResultFile file = descending();
  const double validation[] = {0.5, 1.1, 0.95, 1.2};  // epoch 0 is not a result
  for (int i = 0; i < 4; ++i) file.trace[i]["validation_rmse"] = validation[i];
  return file;
}

TEST(Headline, IsTheTestValueAtTheEpochThatValidationChose) {
  const auto found = headline_of(chosen(), kTestRmse);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at.value, 0.9);
  EXPECT_EQ(found->at.epoch, 2);
  EXPECT_EQ(found->chosen_by, kValidationRmse);
  EXPECT_EQ(best_seen(chosen(), kTestRmse)->value, 0.8) << "which the test part chose";
}

TEST(Headline, WithoutAValidationPartIsThatOfTheLastEpoch) {
  ResultFile file = descending();
  file.trace[3]["test_rmse"] = 1.3;
  const auto found = headline_of(file, kTestRmse);
  EXPECT_EQ(found->at.value, 1.3);
  EXPECT_FALSE(found->chosen_by);
  EXPECT_EQ(best_seen(file, kTestRmse)->epoch, 2);
}

TEST(Headline, TheInitialModelIsNoBest) {
  ResultFile file = descending();
  file.trace[0]["test_rmse"] = 0.1;
  EXPECT_EQ(best_seen(file, kTestRmse)->value, 0.8);
  file.trace.resize(1);
  EXPECT_FALSE(best_seen(file, kTestRmse));
  EXPECT_TRUE(headline_of(file, kTestRmse)) << "it completed: nothing was to be trained";
  file.footer["status"] = "timeout";
  EXPECT_FALSE(headline_of(file, kTestRmse));
}

TEST(Headline, OfImplicitFeedbackIsChosenByTheRankingOfTheValidationPart) {
  ResultFile file = descending();
  const double validation[] = {0.9, 0.2, 0.3, 0.25}, test[] = {0.9, 0.21, 0.22, 0.4};
  for (int i = 0; i < 4; ++i) {
    file.trace[i].erase("test_rmse");
    file.trace[i]["ndcg_100"] = test[i];
    file.trace[i]["validation_ndcg_100"] = validation[i];
  }
  EXPECT_EQ(judged_by(file), kNdcg100);
  EXPECT_EQ(headline_of(file, kNdcg100)->at.value, 0.22);
  EXPECT_EQ(best_seen(file, kNdcg100)->value, 0.4);
}

TEST(Headline, RulesThatWatchedTheTestPartAreKnownByTheHeader) {
  Json header = {{"algorithm", {{"name", "sgd_serial"}}},
                 {"schedule", {{"kind", "plateau"}, {"monitor", "test"}}},
                 {"stop", {{"plateau", {{"monitor", "ndcg_10"}}}}}};
  EXPECT_EQ(rules_on_test(header), (std::vector<std::string>{"schedule", "stop.plateau"}));
  header["algorithm"]["name"] = "als_cpu";
  EXPECT_EQ(rules_on_test(header), std::vector<std::string>{"stop.plateau"})
      << "has no learning rate";
  header["trial"] = {{"judged_by", "validation"}};
  EXPECT_TRUE(rules_on_test(header).empty()) << "sees no test part";
}

TEST(RankedValidation, IsKnownByTheHeader) {
  Json header = {{"ranking", Json::object()},
                 {"dataset", {{"nnz_validation", 7}, {"split", {{"holdout", 0.2}}}}}};
  EXPECT_TRUE(ranked_validation(header));
  Json other = header;
  other["ranking"]["seen"] = "train + validation";
  EXPECT_FALSE(ranked_validation(other));
  other = header;
  other["dataset"]["nnz_validation"] = 0;
  EXPECT_FALSE(ranked_validation(other));
  other = header;
  other["dataset"]["split"] = {{"users", 0.1}};
  EXPECT_FALSE(ranked_validation(other)) << "its users are others";
  other = header;
  other["trial"] = Json::object();
  EXPECT_FALSE(ranked_validation(other)) << "ranks the validation part";
  other = header;
  other.erase("ranking");
  EXPECT_FALSE(ranked_validation(other));
}

constexpr TargetSpec rmse(double value) { return {kTestRmse, value}; }

TEST(Answer, IsAtTheFirstEvaluatedPointThatMeetsTheTargetNotBetweenTwo) {
  const auto reached = answer_at(descending(), rmse(0.95));  // between 2 s and 4 s
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->train_s, 4);
  EXPECT_EQ(reached->answer_s, 0.5 + 0.25 + 4);
}

TEST(Answer, OnAPointIsThatPointAndAStartBelowIsTheStart) {
  EXPECT_EQ(answer_at(descending(), rmse(1.0))->train_s, 2);
  const auto start = answer_at(descending(), rmse(3.0));
  EXPECT_EQ(start->train_s, 0);
  EXPECT_EQ(start->answer_s, 0.75) << "what came before training was waited for";
}

TEST(Answer, CountsTheFirstPointEvenIfTheErrorRisesAgainAndPassesOverUnknownOnes) {
  ResultFile file = descending();
  file.trace = {point(0, 0, 2.0), point(1, 1, nullptr), point(2, 3, 0.8), point(3, 5, 1.0)};
  EXPECT_EQ(answer_at(file, rmse(0.9))->train_s, 3);
}

TEST(Answer, IsNoneWhereTheTargetIsMissedOrTheMetricWasNotComputed) {
  EXPECT_FALSE(answer_at(descending(), rmse(0.7)));
  EXPECT_FALSE(answer_at(descending(), {kNdcg100, 0.1}));
  EXPECT_FALSE(answer_at_end(ResultFile{}));
}

TEST(Answer, OfARankingMetricIsAtOrAboveIt) {
  ResultFile file = descending();
  for (int i = 0; i < 4; ++i) file.trace[i]["ndcg_100"] = 0.1 * i;
  EXPECT_EQ(answer_at(file, {kNdcg100, 0.15})->train_s, 4);
}

TEST(Answer, HasTheEnergyOfItsPointAndNoneWithoutIt) {
  ResultFile file = descending();
  EXPECT_FALSE(answer_at_end(file)->energy_j);
  for (int i = 0; i < 4; ++i) file.trace[i]["train_energy_j"] = 700 * i;
  EXPECT_EQ(answer_at(file, rmse(0.95))->energy_j, 1400);
  EXPECT_EQ(answer_at_end(file)->energy_j, 2100);
}

TEST(Answer, IsUnknownBeforeTheFooterButTheTrainingTimeIsNot) {
  ResultFile file = descending();
  file.footer = Json();
  EXPECT_EQ(answer_at(file, rmse(0.95))->train_s, 4);
  EXPECT_FALSE(answer_at(file, rmse(0.95))->answer_s);
}

// Start and load are in no answer, whoever paid for them.
TEST(Answer, HasWhatAnEarlierCaseHadPreparedAndTransferred) {
  ResultFile file = descending();
  file.footer["clocks"]["start_s"] = 100;
  file.footer["clocks"]["load_s"] = 200;
  EXPECT_EQ(to_training_s(file.footer), 0.75);
  file.footer["shared"] = Json::object();
  EXPECT_EQ(to_training_s(file.footer), 0.75);
  file.footer["shared"] = {{"start", {{"first_case_s", 50}}},
                           {"load", {{"ratings_s", 60}}},
                           {"prepare", {{"views_s", 2}, {"order_s", 4}}},
                           {"transfer", {{"upload_s", 8}}}};
  EXPECT_EQ(to_training_s(file.footer), 14.75);
  EXPECT_EQ(answer_at(file, rmse(0.95))->answer_s, 18.75);
  EXPECT_EQ(answer_at_end(file)->answer_s, 20.75);
  EXPECT_FALSE(to_training_s(Json()));
}

TEST(FileToModel, IsMeasuredUpToTheEndAndLessTheTrainingAfterATarget) {
  ResultFile file = descending();
  file.footer["clocks"]["load_s"] = 3;
  file.footer["file_to_model_s"] = 20;
  EXPECT_EQ(answer_at_end(file)->file_to_model_s, 20);
  EXPECT_EQ(answer_at(file, rmse(0.95))->file_to_model_s, 18);
  EXPECT_FALSE(file_to_training(file)->summed);
}

TEST(FileToModel, IsTheSumOfClocksWhereItWasNotMeasured) {
  ResultFile file = descending();
  EXPECT_FALSE(file_to_training(file)) << "nothing is known of loading";
  file.footer["file_to_model_s"] = nullptr;
  file.footer["clocks"]["load_s"] = 3;
  EXPECT_TRUE(file_to_training(file)->summed);
  EXPECT_EQ(file_to_training(file)->seconds, 3.75) << "older files have no start";
  file.footer["clocks"]["start_s"] = 0.5;
  file.footer["shared"] = {{"start", {{"first_case_s", 8}}}, {"load", {{"ratings_s", 16}}}};
  EXPECT_EQ(file_to_training(file)->seconds, 20.25) << "needs no context of a device";
  file.header["algorithm"]["hardware"] = "cuda";
  EXPECT_EQ(file_to_training(file)->seconds, 28.25);
  EXPECT_EQ(answer_at(file, rmse(0.95))->file_to_model_s, 32.25);
  file.header["facts"]["library"] = "implicit";
  EXPECT_EQ(file_to_training(file)->seconds, 20.25) << "starts a process of its own";
}

TEST(EpochTimes, TheFirstIsByItselfAndTheOthersHaveAMedian) {
  const EpochTimes times = epoch_times({{1, 9}, {1, 2}, {1, 4}, {1, 3}});
  EXPECT_EQ(times.first_s, 9);
  EXPECT_EQ(times.steady_s, 3);
}

TEST(EpochTimes, AnEpochOfAGroupCountsWithTheMeanOfTheGroup) {
  // 1, 2, 2, 2, 5, 5: between 2 and 2.
  EXPECT_EQ(epoch_times({{1, 7}, {2, 10}, {3, 6}, {1, 1}}).steady_s, 2);
  // 1, 1, 3, 3: between 1 and 3.
  EXPECT_EQ(epoch_times({{1, 7}, {2, 6}, {2, 2}}).steady_s, 2);
}

TEST(EpochTimes, AreUnknownWhereTheFirstWasTimedWithOthersOrThereAreNoOthers) {
  EXPECT_FALSE(epoch_times({{10, 7}, {10, 5}}).first_s);
  EXPECT_EQ(epoch_times({{10, 7}, {10, 5}}).steady_s, 0.5);
  EXPECT_EQ(epoch_times({{1, 7}}).first_s, 7);
  EXPECT_FALSE(epoch_times({{1, 7}}).steady_s);
  EXPECT_FALSE(epoch_times(std::vector<EpochGroup>{}).first_s);
}

TEST(Clock, MovedByMoreThanTwoPercentOfItsHighestValue) {
  const auto moved = [](double low, double high) {
    return clock_moved({{"sm_clock_seen_hz", {{"min", low}, {"max", high}}}});
  };
  EXPECT_TRUE(moved(1740e6, 1935e6));
  EXPECT_FALSE(moved(1980e6, 1980e6));
  EXPECT_FALSE(moved(980e6, 1000e6));
  EXPECT_TRUE(moved(979e6, 1000e6));
  EXPECT_FALSE(clock_moved({{"sm_clock_seen_hz", nullptr}}));
  EXPECT_FALSE(clock_moved(Json()));
}

TEST(Transfer, InsideOfAnEpochIsTraining) {
  Ranges ranges;
  const auto nested = [&](const char* outer) {
    const PhaseScope around(&ranges, outer);
    const PhaseScope transfer(&ranges, "transfer");
  };
  nested("epoch");
  EXPECT_EQ(ranges.transfer_s(), 0);
  const double in_epoch = ranges.seconds("transfer");
  EXPECT_GT(in_epoch, 0);
  nested("prepare");
  EXPECT_GT(ranges.transfer_s(), 0);
  EXPECT_NEAR(ranges.transfer_s(), ranges.seconds("transfer") - in_epoch, 1e-12);
}

// ---- the summary ------------------------------------------------------------------------------

class Summary : public ::testing::Test {
 protected:
  // Two algorithms of different methods, three seeds.
  explicit Summary(const std::string& target = R"("target_rmse": 0.95)",
                   const std::string& algorithms = R"(["sgd_serial", "als_cpu"])")
      : spec_(spec_from(R"({"name": "t", "datasets": ["like:ml-100k"],
            "seeds": [1, 2, 3], "algorithms": )" +
                        algorithms + ", " + target + "}")) {}

  void write(const Case& item, const ResultFile& file) const {
    std::ofstream out(folder_ / (item.id + ".jsonl"));
    Json header = file.header;
    header["type"] = "header";
    out << header << "\n";
    for (const Json& one : file.trace) out << one << "\n";
    out << file.footer << "\n";
  }

  // The line of the table that begins with the data set and `name`.
  static std::string line(const std::string& text, const std::string& name) {
    const auto at = text.find(name);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  }

  TempFolder folder_;
  Spec spec_;
};

TEST_F(Summary, ShowsTrainingAndAnswerToTheTargetAndASeedThatMissesIsLate) {
  for (const Case& item : spec_.cases) {
    ResultFile file = descending();
    if (item.algorithm == "als_cpu") {
      for (Json& one : file.trace) one["train_s"] = one["train_s"].get<double>() / 100;
      file.footer["clocks"]["prepare_s"] = 10;
      if (item.seed != 2) file.trace.resize(2);  // two of three miss
    }
    write(item, file);
  }
  const std::string text = summary_table(folder_.path(), spec_);
  const std::string head = text.substr(0, text.find('\n'));
  EXPECT_TRUE(contains(head, "train to 0.95") && contains(head, "answer to 0.95")) << head;
  const std::string sgd = line(text, "sgd_serial");
  EXPECT_TRUE(contains(sgd, "6.0 s       6.8 s") && contains(sgd, "4.0 s") &&
              contains(sgd, "4.8 s") && !contains(sgd, "completed"))
      << sgd;
  const std::string als = line(text, "als_cpu");
  // The one seed that reached is not the median: neither time to the target is known.
  EXPECT_HAS(als,
             "10.3 s              -              -               -             -  2 missed the "
             "target");
}

TEST_F(Summary, MediansAreOfRunsThatCameToTheEnd) {
  for (const Case& item : spec_.cases) {
    ResultFile file = descending();
    if (item.seed > 1 && item.algorithm == "sgd_serial") {
      file.footer["status"] = item.seed == 2 ? "diverged" : "timeout";
      file.footer["clocks"]["train_s"] = 0.001;  // given up early
      file.trace.resize(1);
    }
    if (item.seed > 1 && item.algorithm == "als_cpu") {
      file.footer["status"] = "skipped";
      file.footer["clocks"]["train_s"] = 0;
      file.trace.clear();
    }
    write(item, file);
  }
  const std::string text = summary_table(folder_.path(), spec_);
  const std::string sgd = line(text, "sgd_serial");
  EXPECT_TRUE(contains(sgd, "0.8000  [0.8000, 0.8000]        0.8000       6.0 s           - "))
      << "the epochs of the one that completed; most have no answer: " << sgd;
  EXPECT_HAS(sgd, "1 timeout, 2 missed the target");
  const std::string als = line(text, "als_cpu");
  EXPECT_HAS(als, "0.8000  [0.8000, 0.8000]        0.8000       6.0 s       6.8 s");
  EXPECT_TRUE(contains(als, "1 completed, 2 skipped") && !contains(als, "missed")) << als;
}

TEST_F(Summary, SaysOnceWhatADevicesStartTook) {
  const auto text_of = [&](const char* hardware) {
    for (const Case& item : spec_.cases) {
      ResultFile file = descending();
      file.header["algorithm"] = {{"hardware", hardware}};
      file.footer["clocks"]["start_s"] = item.seed == 1 ? 0.5 : 0.001;
      write(item, file);
    }
    return summary_table(folder_.path(), spec_);
  };
  const std::string text = text_of("cuda");
  EXPECT_HAS(text, "start and load, once for each process and in no answer: 500.0 ms and ");
  EXPECT_TRUE(contains(line(text, "sgd_serial"), "6.8 s")) << "prepare .5, transfer .25, train 6";
  EXPECT_FALSE(contains(text_of("cpu"), "start and load")) << "a CPU has none to speak of";
}

// As for peers of libraries that cannot resume: the run of three epochs took less than the run of
// two, so the times of the last column would contradict one another without a mark.
TEST_F(Summary, MarksTimesThatAreOfSeveralRuns) {
  const auto text_of = [&](bool restarts) {
    for (const Case& item : spec_.cases) {
      ResultFile file = descending();
      if (item.algorithm == "als_cpu" && restarts) {
        file.header["facts"]["restarts"] = true;
        file.trace[3]["train_s"] = file.footer["clocks"]["train_s"] = 3;
      }
      write(item, file);
    }
    return summary_table(folder_.path(), spec_);
  };
  const std::string text = text_of(true);
  EXPECT_HAS(line(text, "als_cpu"),
             "3.0 s +     3.8 s +            - +        4.0 s +         4.8 s +           - +");
  EXPECT_FALSE(contains(line(text, "sgd_serial"), "+")) << text;
  EXPECT_HAS(text, "\n+ runs from the start for each evaluated point");
  const std::string without = text_of(false);
  EXPECT_FALSE(contains(without, "runs from the start") || contains(without, " s +"));
}

TEST_F(Summary, HasTheLastEpochBesideTheOneThatValidationChose) {
  const auto text_of = [&](const ResultFile& file) {
    for (const Case& item : spec_.cases) write(item, file);
    return summary_table(folder_.path(), spec_);
  };
  const std::string text = text_of(chosen());
  EXPECT_HAS(text.substr(0, text.find('\n')),
             "test rmse        [min, max]  last epoch  best on test");
  EXPECT_TRUE(
      contains(line(text, "sgd_serial"), "0.9000  [0.9000, 0.9000]      0.8000        0.8000"))
      << text;
  EXPECT_HAS(text, "last epoch: of the model that --save-model keeps");
  EXPECT_FALSE(contains(text_of(descending()), "last epoch")) << "where it is the same";
}

class SummaryOfThreads : public Summary {
 protected:
  SummaryOfThreads()
      : Summary(R"("target_rmse": 0.95)",
                R"([{"name": "als_cpu", "factors": [4, 8], "threads": [1, 2, 4]}])") {}
};

TEST_F(SummaryOfThreads, MarksThoseThatTakeTwiceTheCpuTimeOfOne) {
  for (const Case& item : spec_.cases) {
    ResultFile file = descending();
    const std::int64_t threads = item.params.integer("threads");
    const bool waits = threads == 4 && item.params.integer("factors") == 8;
    file.footer["host_load"]["train"]["cpu_s"] = waits ? 15.0 : 6.0 + static_cast<double>(threads);
    write(item, file);
  }
  const std::string text = summary_table(folder_.path(), spec_);
  EXPECT_HAS(line(text, "als_cpu factors=8 threads=4"), "2.1 x the CPU time of one thread");
  EXPECT_EQ(text.find("CPU time of"), text.rfind("CPU time of")) << text;
}

}  // namespace
}  // namespace mf
