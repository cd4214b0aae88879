// A case's exception is its result, and the run goes on; files that others left in the folder of
// results never end a run or a comparison.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "algorithms/core/registry.hpp"
#include "harness/results/compare/compare.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::result_of;
using testing::run_in;
using testing::spec_from;
using testing::TempFolder;

void throw_it(const std::string& what) {
  if (what == "exception") throw std::logic_error("a bug \xff in it");
  if (what == "number") throw 42;
  if (what == "bad_alloc") throw std::bad_alloc();
  if (what == "io") fail(ErrorKind::io, "scratch.bin: cannot be read");
  if (what == "thread") {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  if (what == "length") throw std::length_error("vector::_M_default_append");
}

// A ruler that throws `what` in prepare or in epoch 2, on a thread of its team.
class Thrower : public Algorithm {
 public:
  explicit Thrower(const Params& params)
      : what_(params.choice("what")), where_(params.choice("where")) {
    if (where_ == "constructor") throw_it(what_);
  }
  void prepare(const Ratings& train, const Model& initial, Context&) override {
    if (where_ == "prepare") throw_it(what_);
    nnz_ = train.nnz();
    model_ = initial;
  }
  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (where_ == "epoch" && args.epoch == 2) context.team->run([&](int) { throw_it(what_); });
    return nnz_;
  }
  FactorView factors() override { return model_.view(); }
  Work work_per_epoch() const override { return {}; }

 private:
  std::string what_, where_;
  std::int64_t nnz_ = 0;
  Model model_;
};

AlgorithmInfo thrower_info() {
  AlgorithmInfo info;
  info.name = "thrower";
  info.family = "test";
  info.params = {ParamSpec::integer("factors", 2, 1, 1024, ""),
                 ParamSpec::choice(
                     "what", "nothing",
                     {"nothing", "exception", "number", "bad_alloc", "io", "thread", "length"}, ""),
                 ParamSpec::choice("where", "epoch", {"epoch", "prepare", "constructor"}, "")};
  return info;
}

const RegisterInfo registered(thrower_info());
const RegisterFactory registered_factory("thrower", [](const Params& params) {
  return std::make_unique<Thrower>(params);
});

Spec spec_of(const std::string& algorithms) {
  return spec_from(
      R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2],
                     "stop": {"epochs": 3}, "algorithms": [)" +
      algorithms + "]}");
}

// Whatever was thrown, and wherever: its status, its reason, and the other cases run.
TEST(FailingCase, IsAResultAndTheRunGoesOn) {
  const struct {
    const char* what;
    const char* status;
    const char* reason;
  } expected[] = {
      {"exception", "error", "a bug \uFFFD in it"}, {"number", "error", "an unknown exception"},
      {"bad_alloc", "oom", "fewer `factors`"},      {"io", "error", "scratch.bin: cannot be read"},
      {"thread", "oom", "temporarily unavailable"}, {"length", "error", "_M_default_append"}};
  for (const std::string where : {"epoch", "prepare", "constructor"}) {
    for (const auto& one : expected) {
      const TempFolder folder;
      const Spec spec = spec_of(R"({"name": "thrower", "what": ")" + std::string(one.what) +
                                R"(", "where": ")" + where + R"("}, "thrower")");
      const SessionSummary summary = run_in(folder / "r", spec);
      EXPECT_EQ(summary.run, 4);
      EXPECT_EQ(summary.failed, 2);
      for (const Case& item : spec.cases) {
        const ResultFile file = result_of(folder / "r", item);
        ASSERT_TRUE(file.finished()) << where << " " << one.what;
        const bool throws = item.params.choice("what") != "nothing";
        EXPECT_EQ(file.footer["status"], throws ? one.status : "completed");
        if (!throws) continue;
        EXPECT_HAS(file.footer["stop_reason"].get<std::string>(), one.reason);
        EXPECT_EQ(file.trace.size(), where == "epoch" ? 2u : 0u) << "what was measured stays";
        EXPECT_EQ(file.footer["final_test_rmse"].is_null(), where != "epoch");
      }
    }
  }
}

// An error while a result is reported is the run's: nothing can be measured any more.
TEST(FailingCase, AResultThatCannotBeToldEndsTheRun) {
  class Closed : public Progress {
   public:
    void begin_case(const Case&, std::size_t, std::size_t) override {}
    void trace(const TracePoint&) override { throw std::runtime_error("the pipe is closed"); }
    void end_case(const CaseResult&, const std::string&) override {}
  };
  const TempFolder folder;
  Closed progress;
  RunOptions options;
  options.folder = folder / "r";
  EXPECT_THROW(run_session(spec_of(R"("thrower")"), options, progress), std::runtime_error);
}

TEST(FailingCase, AModelThatCannotBeWrittenEndsTheRun) {
  const TempFolder folder;
  std::ofstream(folder / "file") << "x";
  RunOptions options;
  options.model_folder = folder / "file/models";
  const std::string message =
      message_of([&] { run_in(folder / "r", spec_of(R"("thrower")"), options); });
  EXPECT_TRUE(contains(message, "file/models") && contains(message, "cannot be created"))
      << message;
}

// A split that leaves a needed part empty: an error before training with a remedy, and never
// "diverged".
TEST(EmptyPart, IsAnErrorBeforeTraining) {
  const struct {
    const char* ratings;
    const char* spec;
    const char* reason;
  } all[] = {
      {"1 1 3\n", "", "the test part is empty"},
      {"1 1 3\n1 2 4\n2 1 5\n", R"(, "split": {"leave_out": 5})", "the test part is empty"},
      {"1 1 3\n1 2 4\n2 1 5\n", R"(, "split": {"holdout": 0.999999})", "no rating to train on"},
      {"1 1 3\n1 2 4\n2 1 5\n2 2 1\n3 1 1\n",
       R"(, "split": {"validation": 0.1}, "stop": {"plateau": {"monitor": "validation"}})",
       "the validation part is empty"},
  };
  for (const auto& one : all) {
    const TempFolder folder;
    std::ofstream(folder / "d.txt") << one.ratings;
    const Spec spec = spec_from(R"({"name": "t", "datasets": [{"path": ")" + folder / "d.txt" +
                                R"("}], "algorithms": ["thrower"])" + one.spec + "}");
    const SessionSummary summary = run_in(folder / "r", spec);
    EXPECT_EQ(summary.failed, 1);
    EXPECT_EQ(summary.bad_data, 1) << one.reason << ": the ratings are too few for the split";
    const Json footer = result_of(folder / "r", spec.cases[0]).footer;
    EXPECT_EQ(footer["status"], "error");
    EXPECT_EQ(footer["epochs"], 0);
    EXPECT_HAS(footer["stop_reason"].get<std::string>(), one.reason);
  }
}

TEST(BadData, IsCountedApartAndTheOtherSetsRun) {
  const TempFolder folder;
  std::ofstream(folder / "bad.txt") << "1 2 3\n1 2.5 3\n";
  const Spec spec = spec_from(R"({"name": "t", "datasets": ["like:ml-100k:0.05", {"path": ")" +
                              folder / "bad.txt" + R"("}], "algorithms": ["thrower"]})");
  const SessionSummary summary = run_in(folder / "r", spec);
  EXPECT_EQ(summary.run, 2);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(summary.bad_data, 1);
  EXPECT_EQ(result_of(folder / "r", spec.cases[0]).footer["status"], "completed");
  const Json footer = result_of(folder / "r", spec.cases[1]).footer;
  EXPECT_HAS(footer["stop_reason"].get<std::string>(), "bad.txt:2:3");
}

TEST(Preflight, NamesWhatLimitsTheMemory) {
  const MemoryBound box{1 << 30, "/sys/fs/cgroup/box/memory.max"};
  EXPECT_FALSE(why_not_in_memory(1 << 30, box));
  EXPECT_HAS(why_not_in_memory(3e9, box).value_or(""),
             "needs at least 2.8 GiB of memory, 1.0 GiB are available "
             "(/sys/fs/cgroup/box/memory.max)");
  EXPECT_TRUE(why_not_in_memory(1, {0, "ulimit -v"})) << "a full one leaves nothing";
  EXPECT_FALSE(why_not_in_memory(3e9, {})) << "where the system tells nothing, nothing is refused";
}

const char* const kDamaged[] = {
    "",
    "garbage\n",
    "{\"type\":1}\n",
    "{\"type\":\"header\"}\n",
    "{\"type\":\"header\"}\n{\"type\":\"footer\"}\n",
    "{\"type\":\"header\"}\n{\"type\":\"footer\",\"status\":\"completed\",\"updates\":1}\n",
    "{\"type\":\"header\"}\n{\"type\":\"trace\"}\n{\"type\":\"footer\",\"status\":1}\n",
    "{\"type\":\"footer\",\"status\":\"completed\",\"updates\":1,\"clocks\":{\"train_s\":1}}\n",
};

TEST(DamagedResults, AreRunAgainWithAWarningThatNamesTheFile) {
  const Spec spec = spec_of(R"("thrower")");
  for (const std::string text : kDamaged) {
    const TempFolder folder;
    run_in(folder / "r", spec);
    const std::string path = folder / "r/" + spec.cases[0].id + ".jsonl";
    std::ofstream(path) << text;
    EXPECT_FALSE(summary_table(folder / "r", spec).empty());
    ::testing::internal::CaptureStderr();
    const SessionSummary summary = run_in(folder / "r", spec);
    const std::string warning = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(summary.run, 1) << text;
    EXPECT_EQ(summary.finished_before, 1) << text;
    EXPECT_TRUE(result_of(folder / "r", spec.cases[0]).finished()) << text;
    EXPECT_TRUE(std::filesystem::exists(path + ".partial-1")) << text;
    // Unfinished is how a killed run leaves it, and no damage.
    const bool unfinished = text.empty() || text == kDamaged[3];
    EXPECT_EQ(contains(warning, "warning: " + path + ": line "), !unfinished) << text << warning;
  }
}

TEST(DamagedResults, AreLeftOutOfAComparison) {
  const Spec spec = spec_of(R"("thrower")");
  const TempFolder folder;
  run_in(folder / "a", spec);
  run_in(folder / "b", spec);
  const ResultFile whole = result_of(folder / "b", spec.cases[0]);
  const std::string path = folder / "b/" + spec.cases[0].id + ".jsonl";
  const auto compared_seeds = [&](const std::string& text) {
    std::ofstream(path) << text;
    ::testing::internal::CaptureStderr();
    const auto all = compare_results(folder / "a", folder / "b", {}).rows;
    ::testing::internal::GetCapturedStderr();
    return all.at(0).quality.pairs;
  };
  for (const char* text : kDamaged) EXPECT_EQ(compared_seeds(text), 1) << text;
  const std::string rest = whole.trace.at(0).dump() + "\n" + whole.footer.dump() + "\n";
  for (const char* key : {"algorithm", "dataset", "schedule", "seed"}) {
    for (const Json& wrong : {Json(), Json(3), Json("x"), Json::array()}) {
      Json header = whole.header;
      header[key] = wrong;
      if (wrong.is_null()) header.erase(key);
      // One number is a seed like another.
      EXPECT_EQ(compared_seeds(header.dump() + "\n" + rest), 1) << header;
    }
  }
  EXPECT_EQ(compared_seeds(whole.header.dump() + "\n" + rest), 2);
}

}  // namespace
}  // namespace mf
