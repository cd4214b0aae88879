// The ruler through the whole harness: known times, known RMSE curve.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "harness/results/compare/compare.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::result_of;
using testing::run_in;
using testing::spec_from;
using testing::TempFolder;

struct Outcome {
  SessionSummary summary;
  std::vector<ResultFile> files;
};

Outcome run(const std::string& json, const std::string& folder) {
  const Spec spec = spec_from(json);
  Outcome done{run_in(folder, spec), {}};
  for (const auto& item : spec.cases) done.files.push_back(result_of(folder, item));
  return done;
}

std::string spec_of(const std::string& algorithm, const std::string& rest = "") {
  return R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}])" + rest +
         R"(, "algorithms": [)" + algorithm + "]}";
}

double number(const Json& json, const char* key) { return json[key].get<double>(); }

TEST(Ruler, TheRmseCurveComesOutAsKnown) {
  const TempFolder folder;
  const Outcome done = run(
      spec_of(
          R"({"name": "ruler", "sleep_ms": 0, "offset": 2, "decay": 0.5, "stop": {"epochs": 6}})"),
      folder / "r");
  const auto& trace = done.files[0].trace;
  ASSERT_EQ(trace.size(), 7u);
  // RMSE(e)^2 - s^2 = (d - offset decay^e)^2 has two unknowns, s and d; two points give them, the
  // others must agree.
  const auto y = [&](std::size_t e) { return std::pow(number(trace[e], "test_rmse"), 2); };
  const auto x = [](std::size_t e) { return 2 * std::pow(0.5, static_cast<double>(e)); };
  const double d = ((x(0) * x(0) - x(6) * x(6)) - (y(0) - y(6))) / (2 * (x(0) - x(6)));
  const double s2 = y(0) - std::pow(d - x(0), 2);
  EXPECT_GT(s2, 0.5);
  for (std::size_t e = 0; e <= 6; ++e) {
    EXPECT_NEAR(y(e), s2 + std::pow(d - x(e), 2), 1e-4) << e;
    EXPECT_EQ(number(trace[e], "epoch"), static_cast<double>(e));
    EXPECT_NEAR(number(trace[e], "passes"), static_cast<double>(e), 1e-12);
  }
  EXPECT_EQ(done.files[0].footer["status"], "completed");
}

// Clocks may run late on a busy machine but never early, and no clock may count another's time.
TEST(Ruler, TheClocksComeOutAsKnown) {
  const TempFolder folder;
  const Outcome done = run(spec_of(R"({"name": "ruler", "sleep_ms": 10, "prepare_ms": 40, "stop":
                                 {"epochs": 5}})"),
                           folder / "r");
  const auto& trace = done.files[0].trace;
  const Json& clocks = done.files[0].footer["clocks"];
  EXPECT_GE(number(clocks, "train_s"), 0.050);
  EXPECT_GE(number(clocks, "prepare_s"), 0.020);
  EXPECT_GE(number(clocks, "transfer_s"), 0.020);
  const double parts = number(clocks, "load_s") + number(clocks, "prepare_s") +
                       number(clocks, "transfer_s") + number(clocks, "train_s") +
                       number(clocks, "evaluate_s");
  EXPECT_LE(parts, number(clocks, "wall_s") + 1e-6) << "no time is counted twice";
  double sum = 0;
  for (std::size_t e = 1; e < trace.size(); ++e) {
    EXPECT_GE(number(trace[e], "epoch_s"), 0.010);
    sum += number(trace[e], "epoch_s");
    EXPECT_NEAR(number(trace[e], "train_s"), sum, 1e-9);
  }
  const Json& phases = done.files[0].footer["phases"];
  EXPECT_EQ(phases["epoch"]["count"], 5);
  EXPECT_EQ(phases["evaluate"]["count"], 6);
  EXPECT_EQ(phases["transfer"]["count"], 1);
}

TEST(Ruler, EvaluationsAreOffTheTrainingClockAndTheLastEpochIsAlwaysEvaluated) {
  const TempFolder folder;
  const Outcome done = run(spec_of(R"({"name": "ruler", "sleep_ms": 0, "stop": {"epochs": 7}})",
                                   R"(, "evaluate": {"every": 3, "train": true})"),
                           folder / "r");
  std::vector<int> epochs;
  for (const auto& point : done.files[0].trace) epochs.push_back(point["epoch"].get<int>());
  EXPECT_EQ(epochs, (std::vector<int>{0, 3, 6, 7}));
  EXPECT_TRUE(done.files[0].trace[1]["train_rmse"].is_number());
  EXPECT_TRUE(done.files[0].trace[1]["validation_rmse"].is_null());
}

TEST(Ruler, DivergenceAndErrorsAreResults) {
  const TempFolder folder;
  const Outcome done = run(spec_of(R"({"name": "ruler", "sleep_ms": 0, "decay": 2, "offset": 1},
                                  {"name": "ruler", "sleep_ms": 0, "fail_at": 3})"),
                           folder / "r");
  EXPECT_EQ(done.files[0].footer["status"], "diverged");
  EXPECT_EQ(done.files[1].footer["status"], "error");
  EXPECT_HAS(done.files[1].footer["stop_reason"].get<std::string>(), "fails in epoch 3");
  EXPECT_EQ(done.files[1].trace.size(), 3u) << "what was measured before stays";
  EXPECT_EQ(done.summary.failed, 1) << "divergence is a finding, an error is a failure";
}

TEST(Session, AFailedCaseStandsAndCountsUntilItIsRetried) {
  const TempFolder folder;
  const Spec spec = spec_from(spec_of(R"({"name": "ruler", "sleep_ms": 0, "fail_at": [0, 1]})"));
  EXPECT_EQ(run_in(folder / "r", spec).failed, 1);
  const SessionSummary again = run_in(folder / "r", spec);
  EXPECT_EQ(again.run, 0);
  EXPECT_EQ(again.failed, 1);
  RunOptions options;
  options.retry = true;
  const SessionSummary retried = run_in(folder / "r", spec, options);
  EXPECT_EQ(retried.run, 1) << "only the failed one";
  EXPECT_EQ(retried.failed, 1);
}

TEST(Session, MissingDataIsSaidBeforeAnythingRuns) {
  const TempFolder folder;
  ::setenv("MFBENCH_DATA", (folder / "no-data").c_str(), 1);
  ::setenv("MFBENCH_CACHE", (folder / "no-cache").c_str(), 1);
  const std::string spec = R"({"datasets": ["like:ml-100k", "ml-1m"], "algorithms": ["ruler"]})";
  const std::string message = testing::message_of([&] { run(spec, folder / "r"); });
  ::unsetenv("MFBENCH_DATA");
  ::unsetenv("MFBENCH_CACHE");
  EXPECT_TRUE(contains(message, "ml-1m") && contains(message, "fetch")) << message;
  EXPECT_FALSE(std::filesystem::exists(folder / "r"));
}

// Five runs of a ruler that sleeps so long in each epoch.
std::string run_ruler(const TempFolder& folder, const std::string& ms) {
  const std::string path = folder / ms;
  run(spec_of(R"({"name": "ruler", "sleep_ms": )" + ms + R"(, "stop": {"epochs": 6}})",
              R"(, "seeds": [1, 2, 3, 4, 5])"),
      path);
  return path;
}

Comparison compare_rulers(const std::string& first, const std::string& second) {
  CompareOptions options;
  options.ignored = {"params.sleep_ms"};
  options.allow_contended = true;  // it sleeps; other tests run at the same time
  return compare_results(first, second, options).rows.at(0);
}

TEST(Compare, FindsAKnownSlowdownAndAKnownEquality) {
  const TempFolder folder;
  const std::string fast = run_ruler(folder, "5");
  const std::string slow = run_ruler(folder, "25");
  const Comparison slower = compare_rulers(fast, slow);
  EXPECT_EQ(slower.epoch_time.pairs, 5);
  EXPECT_EQ(slower.epoch_time.verdict, Verdict::slower);
  EXPECT_GT(slower.epoch_time.value.value(), 1.5);
  EXPECT_EQ(slower.quality.verdict, Verdict::same);
  EXPECT_EQ(compare_rulers(slow, fast).epoch_time.verdict, Verdict::faster);
  EXPECT_EQ(compare_rulers(fast, fast).epoch_time.verdict, Verdict::same);
}

}  // namespace
}  // namespace mf
