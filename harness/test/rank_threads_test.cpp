// Ranks that are threads of the process, as `mfbench run` starts them: what comes of a case where
// one of them fails or hangs.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/log.hpp"
#include "base/ranks/communicator.hpp"
#include "harness/cli.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::TempFolder;

// Waits for all ranks in each epoch; rank 1 does as told.
class OfRanks : public Algorithm, public OnRanks {
 public:
  explicit OfRanks(const Params& params) : how_(params.choice("how")) {}
  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    nnz_ = train.nnz();
    model_ = initial;
    if (context.ranks == nullptr) return;
    act(context, "prepare");
    warn("by rank {}", context.ranks->group->rank());
  }
  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    if (context.ranks == nullptr) return nnz_;
    act(context, "epoch");
    if (how_ == "hang" && context.ranks->group->rank() == 1)
      std::this_thread::sleep_for(std::chrono::hours(1));
    context.ranks->group->barrier();
    return nnz_;
  }
  FactorView factors() override { return model_.view(); }
  Work work_per_epoch() const override { return {}; }

 private:
  void act(Context& context, const std::string& where) const {
    if (how_ == where && context.ranks->group->rank() == 1) fail(ErrorKind::memory, "no room");
  }

  std::string how_;
  std::int64_t nnz_ = 0;
  Model model_;
};

AlgorithmInfo info_of_ranks() {
  AlgorithmInfo info;
  info.name = "of_ranks";
  info.family = "test";
  info.params = {ParamSpec::integer("factors", 2, 1, 1024, ""), ranks_param(),
                 ParamSpec::choice("how", "not", {"not", "prepare", "epoch", "hang"}, "")};
  info.ranks = std::make_shared<const RankInfo>();
  return info;
}

const RegisterInfo registered(info_of_ranks());
const RegisterFactory registered_factory("of_ranks", [](const Params& params) {
  return std::make_unique<OfRanks>(params);
});

int run(const std::string& folder, const std::string& how) {
  std::ofstream(folder + "/s.json")
      << R"({"name": "s", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 2},
             "algorithms": [{"name": "of_ranks", "ranks": 3, "how": ")"
      << how << R"("}]})";
  std::vector<std::string> words = {
      "mfbench",       "run",     folder + "/s.json", "--out",
      folder + "/out", "--quiet", "--trace",          folder + "/trace"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return cli_main(static_cast<int>(argv.size()), argv.data());
}

Json footer_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/out")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream lines(entry.path());
    Json last;
    for (std::string line; std::getline(lines, line);) last = Json::parse(line);
    return last;
  }
  return {};
}

TEST(RankThreads, OnlyRank0TellsOfACase) {
  const TempFolder folder;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run(folder.path(), "not"), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warning: by rank 0\n");
  const Json footer = footer_in(folder.path());
  EXPECT_EQ(footer.at("status"), "completed");
  ASSERT_EQ(footer.at("ranks").size(), 2U);
  EXPECT_GT(footer.at("peak_host_bytes"), 0);  // of all
  EXPECT_TRUE(footer.at("ranks")[0].at("peak_host_bytes").is_null());
  EXPECT_TRUE(footer.at("ranks")[0].at("train_use").is_null());
}

TEST(RankThreads, OneThatFailsEndsTheRunWithTheResult) {
  for (const char* how : {"prepare", "epoch"}) {
    const TempFolder folder;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run(folder.path(), how), static_cast<int>(ErrorKind::memory)) << how;
    EXPECT_HAS(::testing::internal::GetCapturedStderr(), "rank 1: no room");
    const Json footer = footer_in(folder.path());
    EXPECT_EQ(footer.at("status"), "oom");
    EXPECT_HAS(footer.at("stop_reason").get<std::string>(), "rank 1: no room");
  }
}

TEST(RankThreadsDeathTest, OneThatHangsIsGivenUpWithTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TempFolder own;
  mf::test::Environment environment;
  const char* given = std::getenv("MF_TEST_FOLDER");  // in the process that is to end
  const std::string folder = given != nullptr ? given : own.path();
  environment.set("MF_TEST_FOLDER", folder);
  environment.set("MFBENCH_RANK_PATIENCE", "0.3");
  EXPECT_EXIT(std::exit(100 + run(folder, "hang")),
              ::testing::ExitedWithCode(static_cast<int>(ErrorKind::io)), "rank 1: was waited for");
  const Json footer = footer_in(folder);
  EXPECT_EQ(footer.at("status"), "error");
  EXPECT_HAS(footer.at("stop_reason").get<std::string>(), "rank 1: was waited for");
}

}  // namespace
}  // namespace mf
