// Comparisons of results that are made by hand, so that every number is known.
#include "harness/results/compare/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "base/json/json_values.hpp"
#include "base/rng.hpp"
#include "harness/results/cards.hpp"
#include "harness/results/compare/compare_report.hpp"
#include "harness/results/compare/compared_case.hpp"
#include "harness/results/files/load_json.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::TempFolder;

// A run of `epoch_s.size()` epochs that ends at `rmse.back()`, every epoch evaluated.
struct Made {
  int seed = 1;
  std::vector<double> epoch_s = {1, 1, 1};
  std::vector<double> rmse = {1.0, 0.9, 0.8};
  double prepare_s = 0.5;
  double transfer_s = 0.25;
  std::string status = "completed";
  std::string algorithm = "fpsgd";
  Json params = {{"factors", 50}, {"reg", 0.05}};
  std::string content = "aaaa";
  int every = 1;
  Json target_rmse = nullptr;
  std::optional<Contention> contention = {};  // nothing: not known
  bool gpu = false;
  std::string process = {}, host = {};  // empty: of an older file
  Json method = nullptr;
  std::string card = {};  // empty: a machine without one
  double watts = 0;
};

Json environment_of(const Made& run) {
  Json environment = {{"git_sha", "0123456789ab"}, {"cpu", "a CPU"}, {"cores", 2}, {"host", "vm"}};
  if (!run.card.empty()) environment["gpu"] = run.card;
  if (run.process.empty()) return environment;
  environment["process"] = run.process;
  environment["host"] = run.host;
  return environment;
}

Json header_of(const Made& run) {
  return {{"type", "header"},
          {"case_id", "case-" + std::to_string(run.seed)},
          {"algorithm",
           {{"name", run.algorithm},
            {"hardware", run.gpu ? "cuda" : "cpu"},
            {"method", run.method},
            {"params", run.params}}},
          {"dataset",
           {{"name", "ml"},
            {"content_hash", run.content},
            {"split", {{"holdout", 0.2}, {"seed", run.seed}}}}},
          {"seed", run.seed},
          {"target_rmse", run.target_rmse},
          {"schedule", {{"kind", "constant"}, {"learning_rate", 0.01}}},
          {"init", {{"kind", "uniform"}}},
          {"stop", {{"epochs", 3}}},
          {"evaluate", {{"every", run.every}}},
          {"profile", nullptr},
          {"environment", environment_of(run)}};
}

std::vector<Json> trace_of(const Made& run) {
  std::vector<Json> trace = {{{"type", "trace"}, {"epoch", 0}, {"train_s", 0}, {"test_rmse", 2.0}}};
  double train = 0;
  for (std::size_t e = 0; e < run.epoch_s.size(); ++e) {
    train += run.epoch_s[e];
    trace.push_back(
        {{"type", "trace"}, {"epoch", e + 1}, {"train_s", train}, {"test_rmse", run.rmse[e]}});
    if (run.watts > 0) trace.back()["train_energy_j"] = run.watts * train;
  }
  return trace;
}

void write(const std::string& folder, const Made& run) {
  std::filesystem::create_directories(folder);
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  ResultWriter writer(folder + "/" + std::to_string(n) + ".jsonl");
  writer.append(header_of(run));
  const auto trace = trace_of(run);
  for (const auto& point : trace) writer.append(point);
  std::vector<EpochGroup> epochs;
  for (const double seconds : run.epoch_s) epochs.push_back({1, seconds});
  Json footer = {{"type", "footer"},
                 {"status", run.status},
                 {"updates", 1},
                 {"epochs", run.epoch_s.size()},
                 {"clocks",
                  {{"prepare_s", run.prepare_s},
                   {"transfer_s", run.transfer_s},
                   {"train_s", trace.back()["train_s"]}}},
                 {"first_epoch_s", or_null(epoch_times(epochs).first_s)},
                 {"steady_epoch_s", or_null(epoch_times(epochs).steady_s)}};
  if (run.contention) set_contention(footer, *run.contention);
  writer.append(footer);
}

// Runs of the seeds 1, 2, ... that take `seconds` an epoch, the first ten times as long.
void write_runs(const std::string& folder, const std::vector<double>& seconds, Made run = {}) {
  for (const double s : seconds) {
    run.epoch_s = {10 * s, s, s};
    write(folder, run);
    ++run.seed;
  }
}

struct Folders {
  TempFolder at;
  std::string a = at / "a";
  std::string b = at / "b";
  ComparisonReport compare(const CompareOptions& options = {}) const {
    return compare_results(a, b, options);
  }
};

// ---- definitions on traces by hand
// ----------------------------------------------------------------

TEST(ComparedCase, AnAnswerIsReadyAfterPrepareTransferAndTraining) {
  const TempFolder folder;
  const auto one = [&](const Made& run) {
    const std::string path = folder / std::to_string(run.seed);
    write(path, run);
    const ResultFile file = *read_result_file(path + "/0.jsonl");
    return *compared_case(path + "/0.jsonl", file, named_target(file.header));
  };
  const ComparedCase whole = one({.seed = 1, .target_rmse = 0.9});
  EXPECT_EQ(whole.at_target.answer_s, 0.5 + 0.25 + 2);
  EXPECT_EQ(whole.at_target.train_s, 2);
  EXPECT_EQ(whole.at_end.answer_s, 0.5 + 0.25 + 3);
  const ComparedCase diverged = one({.seed = 2, .status = "diverged", .target_rmse = 0.9});
  EXPECT_EQ(diverged.at_target.answer_s, 2.75) << "it was there before";
  EXPECT_EQ(diverged.at_end.answer_s, kNever) << "its end is no answer";
  EXPECT_EQ(one({.seed = 3, .target_rmse = 0.1}).at_target.answer_s, kNever);
  EXPECT_EQ(one({.seed = 4, .epoch_s = {9, 1, 3}}).epoch_s, 2) << "steady";
  EXPECT_EQ(one({.seed = 5, .epoch_s = {9}, .rmse = {1}}).epoch_s, 9) << "all there is";
}

TEST(ComparedCase, RunsFromTheStartHaveNoTimeOfAnEpoch) {
  const TempFolder folder;
  ResultFile file;
  file.header = {{"seed", 1}, {"facts", {{"restarts", true}}}};
  file.trace = {{{"epoch", 0}, {"train_s", 0}},
                {{"epoch", 5}, {"train_s", 3}},
                {{"epoch", 10}, {"train_s", 2}}};  // by noise
  file.footer = {{"status", "completed"}, {"epochs", 10}, {"steady_epoch_s", nullptr}};
  EXPECT_EQ(compared_case("a", file, {})->epoch_s, std::nullopt);
  file.header["facts"]["restarts"] = false;
  EXPECT_EQ(compared_case("a", file, {})->epoch_s, 0.2) << "evaluated at its end only";
}

struct Compare : ::testing::Test {
  const Folders f;
};

TEST_F(Compare, IsByTheMetricOfRunsThatCompleted) {
  write(f.a, {.seed = 1, .status = "timeout"});
  write_runs(f.a, {1, 1.1, 0.9}, {.seed = 2});
  write_runs(f.b, {1, 1.1, 0.9}, {.seed = 2});
  // The one that was stopped had only the RMSE; the others are judged by NDCG.
  for (const auto& name : {f.a, f.b}) {
    for (const auto& entry : std::filesystem::directory_iterator(name)) {
      ResultFile file = *read_result_file(entry.path());
      if (*file.status() != Status::completed) continue;
      for (Json& point : file.trace) {
        point["test_rmse"] = nullptr;
        point["ndcg_100"] = 0.5;
      }
      std::filesystem::remove(entry.path());
      ResultWriter writer(entry.path());
      writer.append(file.header);
      for (const Json& point : file.trace) writer.append(point);
      writer.append(file.footer);
    }
  }
  const auto row = f.compare().rows.at(0);
  EXPECT_EQ(row.metric, kNdcg100);
  EXPECT_EQ(row.quality.pairs, 3);
}

// ---- grouping of runs
// ----------------------------------------------------------------------------

TEST_F(Compare, PairsRunsBySeedAndTakesARunForOne) {
  write_runs(f.a, {1, 2, 4});
  write_runs(f.b, {1.1, 2.4, 4.2});
  const auto row = f.compare().rows.at(0);
  const double logs[] = {std::log(1.1), std::log(1.2), std::log(1.05)};
  const double mean = (logs[0] + logs[1] + logs[2]) / 3;
  double squares = 0;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double error = std::sqrt(squares / 2 / 3);
  EXPECT_EQ(row.epoch_time.pairs, 3);
  EXPECT_NEAR(*row.epoch_time.value, std::exp(mean), 1e-12);
  EXPECT_NEAR(row.epoch_time.interval->high, std::exp(mean + 4.30265 * error), 1e-5);
  EXPECT_NEAR(*row.epoch_time.p, student_t_tails(mean / error, 2), 1e-12);
  EXPECT_NEAR(*row.epoch_time.first.middle, 2, 1e-12) << "the geometric mean";
}

TEST_F(Compare, GivesNoVerdictOnTimesOfAMachineThatWasShared) {
  const Contention single{std::vector<std::string>{}, std::nullopt};
  const Contention shared{std::vector<std::string>{"training: other programs"}, std::nullopt};
  write_runs(f.a, {1, 1.001, 0.999}, {.contention = single});
  write_runs(f.b, {2, 2.001}, {.contention = single});
  write_runs(f.b, {1.999}, {.seed = 3, .contention = shared});
  CompareOptions options;
  auto row = f.compare(options).rows.at(0);
  for (const Compared* time : {&row.epoch_time, &row.answer_time}) {
    EXPECT_EQ(time->verdict, Verdict::contended);
    EXPECT_EQ(time->first.contended, 0);
    EXPECT_EQ(time->second.contended, 1);
    EXPECT_GT(*time->value, 1.9) << "the ratio is still said";
    EXPECT_FALSE(time->p_adjusted);
  }
  EXPECT_EQ(row.quality.verdict, Verdict::same) << "other programs do not change the model";
  EXPECT_EQ(headline(row), "contended");
  const ComparisonReport report = f.compare(options);
  EXPECT_HAS(to_text(report), "contended: 0 of 3, 1 of 3");
  EXPECT_HAS(to_text(report), "--allow-contended");
  EXPECT_TRUE(has(report, Complaint::undecided));
  EXPECT_FALSE(has(report, Complaint::slower));
  options.allow_contended = true;
  row = f.compare(options).rows.at(0);
  EXPECT_EQ(row.epoch_time.verdict, Verdict::slower);
  EXPECT_EQ(row.answer_time.verdict, Verdict::slower);
  EXPECT_EQ(row.epoch_time.second.contended, 1) << "counted all the same";
}

TEST_F(Compare, CountsProcessesAndHosts) {
  for (const int seed : {1, 2, 3}) {
    const std::string process = "process-" + std::to_string(seed);
    write_runs(f.a, {1}, {.seed = seed, .process = "process-0", .host = "host-1"});
    write_runs(f.b, {2},
               {.seed = seed, .process = process, .host = seed == 1 ? "host-1" : "host-2"});
  }
  const ComparisonReport report = f.compare();
  EXPECT_EQ(report.rows.at(0).first_origins.processes.size(), 1U);
  EXPECT_EQ(report.rows.at(0).second_origins.hosts.size(), 2U);
  const std::string text = to_text(report);
  EXPECT_HAS(text, "made by 1 process on 1 host; the second by 3 processes on 2 hosts");
  EXPECT_HAS(text, "warning: the sides are of different hosts (host-1; the second host-1, host-2)");
  EXPECT_HAS(headline(report.rows[0]), " on different hosts");
  EXPECT_TRUE(contains(text, "--apart")) << "runs of the first share a process\n" << text;
  const Json json = to_json(report);
  EXPECT_EQ(json["second"]["origins"]["processes"], 3);
  EXPECT_EQ(json["rows"][0]["origins"]["first"]["hosts"], Json::array({"host-1"}));
  EXPECT_EQ(json["rows"][0]["hosts_differ"], true);
}

TEST_F(Compare, SaysNothingOfHostsWhereOlderFilesDoNot) {
  write_runs(f.a, {1, 1.001, 0.999});
  write_runs(f.b, {2, 2.001, 1.999}, {.process = "process-1", .host = "host-1"});
  const std::string text = to_text(f.compare());
  EXPECT_FALSE(contains(text, "different hosts")) << text;
  EXPECT_HAS(text, "made by unknown processes; the second by 1 process");
}

TEST_F(Compare, JudgesEpochsOfADeviceOnABusyHostButNotTheirAnswer) {
  const Contention busy_host{std::vector<std::string>{},
                             std::vector<std::string>{"prepare: other programs"}};
  write_runs(f.a, {1, 1.001, 0.999}, {.contention = busy_host, .gpu = true});
  write_runs(f.b, {2, 2.001, 1.999}, {.contention = busy_host, .gpu = true});
  const auto row = f.compare().rows.at(0);
  EXPECT_EQ(row.epoch_time.verdict, Verdict::slower);
  EXPECT_EQ(row.answer_time.verdict, Verdict::contended);
  EXPECT_EQ(headline(row), "epochs slower, answer contended");
}

TEST_F(Compare, GivesNoVerdictForFewerThanThreeRunsASide) {
  write_runs(f.a, {1, 1});
  write_runs(f.b, {2, 2, 2, 2});
  const auto report = f.compare();
  const auto& one = report.rows.at(0).epoch_time;
  EXPECT_EQ(one.verdict, Verdict::too_few);
  EXPECT_FALSE(one.interval);
  EXPECT_NEAR(*one.value, 2, 1e-12) << "the ratio is shown all the same";
  EXPECT_HAS(to_text(report), "too few runs: 1 more in the first");
  EXPECT_TRUE(has(report, Complaint::undecided));
  EXPECT_FALSE(has(report, Complaint::slower));
}

TEST_F(Compare, WithoutPairsTheSidesStandAgainstEachOther) {
  write_runs(f.a, {1.00, 1.01, 0.99});
  write_runs(f.b, {1.20, 1.21, 1.19, 1.20}, {.seed = 11});
  const auto row = f.compare().rows.at(0);
  EXPECT_EQ(row.epoch_time.pairs, 0);
  EXPECT_EQ(row.epoch_time.verdict, Verdict::slower);
  EXPECT_HAS(to_text(f.compare()), "3 and 4 runs");
}

TEST_F(Compare, TheKeyHasContentSplitAndEvaluation) {
  write_runs(f.a, {1, 1, 1});
  write_runs(f.b, {1, 1, 1}, {.content = "bbbb"});
  write_runs(f.b, {1, 1, 1}, {.every = 2});
  const auto report = f.compare();
  EXPECT_TRUE(report.rows.empty());
  ASSERT_EQ(report.only_first.size(), 1u);
  ASSERT_EQ(report.only_second.size(), 2u);
  const std::string text = to_text(report);
  EXPECT_HAS(text, "dataset.content_hash bbbb against aaaa");
  EXPECT_HAS(text, "evaluate.every 2 against 1");
  EXPECT_HAS(text, "3 completed");
  EXPECT_TRUE(has(report, Complaint::missing));
}

TEST_F(Compare, WhatIsIgnoredMayDiffer) {
  write_runs(f.a, {1, 1, 1});
  write_runs(f.b, {1, 1, 1}, {.every = 2});
  EXPECT_EQ(f.compare({.ignored = {"evaluate.every"}}).rows.size(), 1u);
  EXPECT_EQ(f.compare({.ignored = {"evaluate"}}).rows.size(), 1u) << "a section";
  const std::string unknown = message_of([&] { f.compare({.ignored = {"evaluate.evry"}}); });
  EXPECT_HAS(unknown, "did you mean \"evaluate.every\"");
  write_runs(f.a, {1}, {.params = {{"factors", 50}, {"reg", 0.1}}});
  const std::string alike = message_of([&] { f.compare({.ignored = {"params.reg"}}); });
  EXPECT_HAS(alike, "are the same case with seed 1");
}

TEST_F(Compare, HasNoVerdictOnTheQualityOfDifferentData) {
  write_runs(f.a, {1, 1, 1});
  write_runs(f.b, {2, 2.01, 1.99}, {.rmse = {1.0, 0.9, 0.7}, .content = "bbbb"});
  const auto report = f.compare({.ignored = {"dataset.content_hash"}});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].quality.verdict, Verdict::unlike);
  EXPECT_FALSE(report.rows[0].quality.value);
  EXPECT_EQ(headline(report.rows[0]), "slower, rmse of different data");
  EXPECT_FALSE(has(report, Complaint::worse));
  EXPECT_TRUE(has(report, Complaint::undecided));
}

// ---- cards --------------------------------------------------------------------------------------

class Cards : public ::testing::Test {
 protected:
  void write_on(const std::string& card, double seconds, Made run = {}) {
    run.card = card;
    write_runs(f.at / card, {seconds, 1.01 * seconds, 0.99 * seconds}, run);
    if (folders.empty() || folders.back() != f.at / card) folders.push_back(f.at / card);
  }

  Json compare(const std::string& over = "", const CompareOptions& options = {}) const {
    return compare_cards(folders, over, options);
  }

  static const Json& rows_of(const Json& compared, std::size_t card) {
    return compared.at("cards").at(card).at("compared").at("rows");
  }

  Folders f;
  std::vector<std::string> folders;
};

TEST_F(Cards, AreComparedBesideTheirRates) {
  write_on("NVIDIA H100 80GB HBM3", 2, {.target_rmse = 0.9, .watts = 3});
  write_on("NVIDIA H200", 1, {.target_rmse = 0.9, .watts = 4});
  const Json compared = compare();
  EXPECT_EQ(compared.at("over"), "NVIDIA H100 80GB HBM3");
  const Json& row = rows_of(compared, 1).at(0);  // the target is met after 22 and 11 s
  EXPECT_NEAR(row.at("answer_time").at("second").at("median").get<double>(), 11.75, 1e-9);
  EXPECT_NEAR(row.at("target_time").at("ratio").get<double>(), 0.5, 1e-9);
  const Json& rates = compared.at("cards").at(1);
  EXPECT_NEAR(rates.at("memory_bytes_per_s").at("ratio").get<double>(), 1.433, 1e-3);
  EXPECT_EQ(rates.at("tensor_flops_per_s").at("ratio"), 1.0);
  const std::string text = cards_text(compared);
  EXPECT_HAS(text, "2.00 [2.00, 2.00]");
  EXPECT_HAS(text, "66 J -> 44 J");
}

TEST_F(Cards, OfAnyNameAndNumberTakePart) {
  for (const char* card : {"One", "Two", "My own"}) write_on(card, 1);
  write_on("My own", 5, {.content = "bbbb"});
  write_runs(f.a, {1, 1, 1}, {.card = "My own"});  // on a second host
  folders.push_back(f.a);
  const Json compared = compare("Two");
  ASSERT_EQ(compared.at("cards").size(), 3u);
  EXPECT_TRUE(compared.at("cards").at(2).at("memory_bytes_per_s").at("value").is_null());
  EXPECT_HAS(cards_text(compared), "memory unknown; tensor cores unknown");
  ASSERT_EQ(rows_of(compared, 2).size(), 1u) << "other content is other work";
  EXPECT_EQ(rows_of(compared, 2).at(0).at("answer_time").at("second").at("runs"), 6);
}

TEST_F(Cards, StandBesideABaselineOnTheSameCard) {
  for (const char* card : {"One", "Two"}) {
    write_on(card, 1);
    write_on(card, 4, {.algorithm = "hogwild", .params = {{"factors", 50}}});
    write_on(card, 9, {.algorithm = "hogwild", .params = {{"factors", 64}}});
  }
  CompareOptions options;
  options.baseline = parse_side("hogwild", "--baseline");
  const Json ratio = rows_of(compare("", options), 1).at(0).at("over_baseline").at("second");
  EXPECT_NEAR(ratio.at("ratio").get<double>(), 48.75 / 12.75, 1e-3) << "with as many factors";
  options.baseline = parse_side("als", "--baseline");
  EXPECT_HAS(message_of([&] { compare("", options); }), "no case is 'als'");
}

TEST_F(Cards, AreRefusedByAPartOfNoName) {
  write_on("One", 1);
  EXPECT_HAS(message_of([&] { compare(); }), "found One, expected cases of two cards");
  write_on("Two", 1);
  EXPECT_HAS(message_of([&] { compare("Three"); }), "expected a part of one card's name: One, Two");
}

// ---- inside one run -----------------------------------------------------------------------------

// Two algorithms in one folder, as a spec of both leaves them.
CompareOptions between(const std::string& first, const std::string& second) {
  CompareOptions options;
  options.between = {parse_side(first), parse_side(second)};
  return options;
}

TEST(Between, ComparesTwoAlgorithmsOfOneFolder) {
  const Folders f;
  write_runs(f.a, {1, 1.001, 0.999}, {.params = {{"factors", 50}, {"reg", 0.05}}});
  write_runs(f.a, {2, 2.001, 1.999},
             {.algorithm = "hogwild", .params = {{"factors", 50}, {"reg", 0.1}, {"lanes", 4}}});
  write_runs(f.a, {9, 9, 9}, {.algorithm = "wavefront"});
  const auto report = compare_results(f.a, f.a, between("fpsgd", "hogwild"));
  ASSERT_EQ(report.rows.size(), 1u);
  const auto& row = report.rows[0];
  EXPECT_EQ(row.label, "fpsgd -> hogwild factors=50 on ml");
  EXPECT_EQ(row.epoch_time.verdict, Verdict::slower);
  EXPECT_EQ(row.epoch_time.pairs, 3) << "by seed";
  EXPECT_EQ(row.differs, "params.reg 0.05 against 0.1") << "what only one has is its own";
  EXPECT_TRUE(report.only_first.empty() && report.only_second.empty());
  EXPECT_EQ(report.first.files, 3) << "the third algorithm is on no side";
  EXPECT_HAS(to_text(report), ", hogwild: 3 files");
  EXPECT_EQ(to_json(report)["second"]["side"], "hogwild");
}

TEST(Between, WhatBothSidesSweepHasToAgree) {
  const Folders f;
  for (const int factors : {8, 16}) {
    write_runs(f.a, {1, 1, 1}, {.params = {{"factors", factors}}});
    write_runs(f.a, {1, 1, 1}, {.algorithm = "hogwild", .params = {{"factors", factors}}});
  }
  write_runs(f.a, {1, 1, 1}, {.algorithm = "hogwild", .params = {{"factors", 32}}});
  const auto report = compare_results(f.a, f.a, between("fpsgd", "hogwild"));
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].label, "fpsgd -> hogwild factors=16 on ml");
  ASSERT_EQ(report.only_second.size(), 1u);
  EXPECT_HAS(report.only_second[0].differs, "params.factors 32 against");
}

TEST(Between, ASettingNamesOneOfSeveralConfigurations) {
  const Folders f;
  for (const char* solver : {"cg", "lu"}) {
    write_runs(f.a, {1, 1, 1},
               {.algorithm = "als_cpu", .params = {{"solver", solver}, {"reg", 0.05}}});
  }
  write_runs(f.a, {2, 2, 2}, {.params = {{"reg", 0.05}}});
  const auto message = [&](const std::string& first, const std::string& second) {
    return message_of([&] { compare_results(f.a, f.a, between(first, second)); });
  };
  EXPECT_HAS(message("als_cpu", "fpsgd"), "name one: \"als_cpu solver=cg\"");
  EXPECT_EQ(compare_results(f.a, f.a, between("als_cpu solver=cg", "fpsgd")).rows.size(), 1u);
  EXPECT_EQ(
      compare_results(f.a, f.a, between("als_cpu solver=cg reg=.05", "als_cpu params.solver=lu"))
          .rows.size(),
      1u);
  EXPECT_HAS(message("als_cpu", "als_cpu solver=lu"), "is on both sides");
  EXPECT_HAS(message("als_cpu solver=qr", "fpsgd"), "have solver cg, lu");
  EXPECT_HAS(message("als_cpu rg=1", "fpsgd"), "no setting \"rg\"");
  EXPECT_HAS(message("asl_cpu", "fpsgd"), "did you mean \"als_cpu\"?");
  EXPECT_TRUE(contains(message("als_cpu cg", "fpsgd"), "found 'cg'")) << "no setting";
}

TEST(Between, EpochsOfAnotherMethodAreOtherWork) {
  const Folders f;
  write_runs(f.a, {1, 1, 1}, {.method = "sgd"});
  write_runs(f.a, {1, 1, 1}, {.algorithm = "als_cpu", .method = "als"});
  write_runs(f.a, {1, 1, 1}, {.algorithm = "hogwild", .method = "sgd"});
  const auto text = [&](const std::string& second) {
    return to_text(compare_results(f.a, f.a, between("fpsgd", second)));
  };
  EXPECT_HAS(text("als_cpu"), "epochs of sgd and als do different work");
  EXPECT_FALSE(contains(text("hogwild"), "do different work"));
}

// ---- verdicts
// -------------------------------------------------------------------------------------

TEST_F(Compare, RunsThatMissTheTargetAreInfinitelyLate) {
  write_runs(f.a, {1, 1, 1, 1, 1}, {.target_rmse = 0.8});
  write_runs(f.b, {1, 1, 1}, {.target_rmse = 0.8});
  write_runs(f.b, {1, 1}, {.seed = 4, .rmse = {1.0, 0.9, 0.85}, .target_rmse = 0.8});
  const auto some = f.compare().rows.at(0);
  EXPECT_EQ(some.answer_time.second.never, 2);
  EXPECT_EQ(*some.answer_time.value, 1) << "the median of the five is there";
  EXPECT_EQ(some.answer_time.verdict, Verdict::ambiguous);
  EXPECT_EQ(some.epoch_time.verdict, Verdict::same);
  EXPECT_HAS(to_text(f.compare()), "5 and 5 (2 never) runs");
  const auto earlier = f.compare({.target = TargetSpec{kTestRmse, 0.9}}).rows.at(0);
  EXPECT_EQ(earlier.answer_time.second.never, 0) << "all meet an easier one";
  EXPECT_EQ(earlier.answer_time.pairs, 5);
}

TEST_F(Compare, ATargetThatInitialFactorsMeetTakesNoTraining) {
  write_runs(f.a, {1, 1, 1}, {.target_rmse = 2.5});
  write_runs(f.b, {1, 1, 1}, {.target_rmse = 2.5});
  const auto report = f.compare();
  EXPECT_EQ(report.rows.at(0).answer_time.pairs, 3) << "preparing takes as long as ever";
  EXPECT_HAS(to_text(report), "0 s: the initial factors meet it");
}

TEST_F(Compare, AllRunsThatMissTheTargetAreSlower) {
  write_runs(f.a, {1, 1, 1, 1, 1}, {.target_rmse = 0.8});
  write_runs(f.b, {1, 1, 1, 1, 1}, {.rmse = {1.0, 0.9, 0.85}, .target_rmse = 0.8});
  const auto report = f.compare();
  const auto& row = report.rows.at(0);
  EXPECT_EQ(row.answer_time.verdict, Verdict::slower);
  EXPECT_TRUE(std::isinf(*row.answer_time.value));
  EXPECT_EQ(row.quality.verdict, Verdict::worse);
  EXPECT_EQ(headline(row), "epochs same, answer slower at worse rmse");
  EXPECT_TRUE(has(report, Complaint::slower));
  EXPECT_HAS(to_text(report), "never");
  EXPECT_TRUE(to_json(report)["rows"][0]["answer_time"]["ratio"].is_null())
      << "JSON has no infinity";
}

TEST_F(Compare, DivergedAndFailedRunsAreShownAndNeverAnswer) {
  write_runs(f.a, {1, 1, 1, 1, 1});
  write_runs(f.b, {1, 1, 1});
  write_runs(f.b, {1}, {.seed = 4, .status = "diverged"});
  write_runs(f.b, {1}, {.seed = 5, .status = "error"});
  const auto report = f.compare();
  const auto& row = report.rows.at(0);
  EXPECT_EQ(row.epoch_time.pairs, 3) << "of completed runs";
  EXPECT_EQ(row.answer_time.second.never, 2);
  EXPECT_TRUE(has(report, Complaint::failed));
  EXPECT_HAS(to_text(report), "in the second 3 completed, 1 diverged, 1 error");
}

// Their headers have only the name of the data: the split did not exist yet.
void fail_while_loading(const std::string& folder, int seed) {
  ResultWriter writer(folder + "/unloaded-" + std::to_string(seed) + ".jsonl");
  Json header = header_of({.seed = seed});
  header["dataset"] = {{"name", "ml"}};
  writer.append(header);
  writer.append({{"type", "footer"},
                 {"status", "oom"},
                 {"updates", 0},
                 {"epochs", 0},
                 {"clocks", {{"prepare_s", 0}, {"transfer_s", 0}, {"train_s", 0}}}});
}

TEST_F(Compare, RunsThatFailedWhileLoadingAreOfTheirConfiguration) {
  write_runs(f.a, {1, 1, 1, 1, 1});
  write_runs(f.b, {1, 1, 1});
  fail_while_loading(f.b, 4);
  fail_while_loading(f.b, 5);
  const auto report = f.compare();
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_TRUE(report.only_second.empty());
  EXPECT_EQ(report.rows[0].answer_time.second.never, 2);
  EXPECT_TRUE(has(report, Complaint::failed));
}

TEST_F(Compare, AllRunsThatFailedWhileLoadingAreARow) {
  write_runs(f.a, {1, 1, 1});
  std::filesystem::create_directories(f.b);
  for (const int seed : {1, 2, 3}) fail_while_loading(f.b, seed);
  EXPECT_EQ(f.compare().rows.size(), 1u);
  write_runs(f.a, {1, 1, 1}, {.content = "bbbb"});  // theirs is one of two
  EXPECT_TRUE(f.compare().rows.empty());
}

TEST_F(Compare, UnfinishedAndProfiledFilesAreListed) {
  write_runs(f.a, {1, 1, 1});
  write_runs(f.b, {1, 1, 1});
  ResultWriter(f.b + "/unfinished.jsonl").append(header_of({.seed = 9}));
  Json header = header_of({.seed = 8});
  header["profile"] = {{"warmup", 2}, {"epochs", 3}};
  ResultWriter profiled(f.b + "/profiled.jsonl");
  profiled.append(header);
  profiled.append(
      {{"type", "footer"}, {"status", "completed"}, {"updates", 1}, {"clocks", {{"train_s", 1}}}});
  const auto report = f.compare();
  EXPECT_EQ(report.rows.at(0).second.at("completed"), 3);
  EXPECT_EQ(report.second.left_out,
            (std::vector<std::string>{"profiled.jsonl: a profiled run, whose times are no results",
                                      "unfinished.jsonl: unfinished"}));
}

TEST_F(Compare, FasterAtWorseQualityIsSaidSo) {
  write_runs(f.a, {1.00, 1.01, 0.99, 1, 1}, {.rmse = {1, 0.9, 0.800}});
  write_runs(f.b, {0.90, 0.91, 0.89, 0.9, 0.9}, {.rmse = {1, 0.9, 0.804}});
  const auto worse = f.compare().rows.at(0);
  EXPECT_EQ(headline(worse), "faster at worse rmse");
  EXPECT_NEAR(*worse.quality.value, 0.004, 1e-12);
  EXPECT_EQ(headline(f.compare({.quality_margin = 0.01}).rows.at(0)), "faster")
      << "0.5 % is within the margin";
  const auto back = compare_results(f.b, f.a, {});
  EXPECT_EQ(headline(back.rows.at(0)), "slower at better rmse");
}

TEST_F(Compare, AnEditedTargetCountsForWhatTheSpecLists) {
  write_runs(f.a, {1, 1, 1}, {.target_rmse = 0.9});
  write_runs(f.b, {1, 1, 1}, {.target_rmse = 0.9});
  write_runs(f.b, {1}, {.seed = 4, .target_rmse = 0.8});
  EXPECT_TRUE(f.compare().rows.at(0).targets_differ);
  Json stated = {{"target_rmse", 0.8}, {"cases", {"0", "1", "2", "3"}}};
  for (const auto& folder : {f.a, f.b}) std::ofstream(folder + "/spec.json") << stated;
  const auto row = f.compare().rows.at(0);
  EXPECT_FALSE(row.targets_differ);
  EXPECT_EQ(row.target.value().value, 0.8);
  stated["cases"] = {"0"};
  std::ofstream(f.b + "/spec.json") << stated;
  EXPECT_EQ(f.compare().rows.at(0).epoch_time.second.runs, 1) << "the others are of another spec";
}

TEST_F(Compare, EachRowPaysForTheOthers) {
  // 4.4 % with p of about 0.02: a finding on its own, none among five rows.
  const std::vector<double> slower = {1.02, 1.08, 1.03, 1.07, 1.02};
  for (int factors = 1; factors <= 5; ++factors) {
    write_runs(f.a, {1, 1, 1, 1, 1}, {.params = {{"factors", factors}}});
    write_runs(f.b, factors == 1 ? slower : std::vector<double>{1.0, 1.01, 0.99, 1.01, 1.0},
               {.params = {{"factors", factors}}});
  }
  const auto row = f.compare().rows.at(0);
  EXPECT_LT(*row.epoch_time.p, 0.05);
  EXPECT_GT(*row.epoch_time.p_adjusted, 0.05);
  EXPECT_EQ(row.epoch_time.verdict, Verdict::ambiguous);
}

TEST(Judge, NeedsTheTestAndTheMargin) {
  EXPECT_EQ(judge_time(1.10, {1.05, 1.15}, 0.01, 0.02), Verdict::slower);
  EXPECT_EQ(judge_time(0.90, {0.85, 0.95}, 0.01, 0.02), Verdict::faster);
  EXPECT_EQ(judge_time(1.00, {0.99, 1.01}, 0.60, 0.02), Verdict::same);
  EXPECT_EQ(judge_time(1.10, {0.95, 1.20}, 0.20, 0.02), Verdict::ambiguous);
  EXPECT_EQ(judge_time(1.10, {1.05, 1.15}, 0.06, 0.02), Verdict::ambiguous) << "Holm's";
  EXPECT_EQ(judge_time(1.015, {1.005, 1.025}, 0.01, 0.02), Verdict::ambiguous);
  EXPECT_EQ(judge_quality(kTestRmse, 0.1, {0.05, 0.15}, 0.01, 0.02), Verdict::worse);
  EXPECT_EQ(judge_quality(kNdcg100, 0.1, {0.05, 0.15}, 0.01, 0.02), Verdict::better);
  EXPECT_EQ(judge_quality(kTestRmse, 0.1, {-0.05, 0.25}, 0.3, 0.02), Verdict::ambiguous);
}

// ---- how often it is right
// ------------------------------------------------------------------------

// A run's epochs: its own level, and noise around it that lasts from epoch to epoch, as from other
// work on the machine. Scatter of both: 0.5 %.
std::vector<double> scattered_epochs(double seconds, Rng& rng) {
  const double level = 1 + 0.005 * rng.normal();
  double drift = 0.005 * rng.normal();
  std::vector<double> epochs;
  for (int e = 0; e < 20; ++e) {
    epochs.push_back(seconds * level * (1 + drift) * (e == 0 ? 1.5 : 1));
    drift = 0.9 * drift + 0.005 * std::sqrt(1 - 0.81) * rng.normal();
  }
  return epochs;
}

// Tables of five configurations with five runs a side, and the share of both times and the quality
// with a verdict of `wanted`.
double share_of(double ratio, const std::vector<Verdict>& wanted) {
  Rng rng(20260102);
  int count = 0;
  int all = 0;
  for (int table = 0; table < 25; ++table) {
    const Folders f;
    for (const auto& [folder, seconds] : {std::pair(f.a, 1.0), std::pair(f.b, ratio)}) {
      for (int factors = 1; factors <= 5; ++factors) {
        for (int seed = 1; seed <= 5; ++seed) {
          const double rmse = 0.9 * (1 + 0.002 * rng.normal());
          write(folder, {.seed = seed,
                         .epoch_s = scattered_epochs(seconds, rng),
                         .rmse = std::vector<double>(20, rmse),
                         .params = {{"factors", factors}}});
        }
      }
    }
    for (const auto& row : f.compare().rows) {
      for (const auto* one : {&row.epoch_time, &row.answer_time, &row.quality}) {
        if (ratio != 1 && one == &row.quality) continue;
        ++all;
        count += std::count(wanted.begin(), wanted.end(), one->verdict) > 0 ? 1 : 0;
      }
    }
  }
  return static_cast<double>(count) / all;
}

TEST_F(Compare, OfTheSameTwiceSaysSoOrNothing) {
  EXPECT_LE(share_of(1, {Verdict::faster, Verdict::slower, Verdict::better, Verdict::worse}), 0.02);
}

TEST_F(Compare, FindsFivePercentWithFiveRunsASide) {
  EXPECT_GE(share_of(1.05, {Verdict::slower}), 0.9);
}

}  // namespace
}  // namespace mf
