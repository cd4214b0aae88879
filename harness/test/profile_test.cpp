// Runs for a profiler: which epochs are recorded, and where their results go.
#include <gtest/gtest.h>

#include "harness/run/session.hpp"
#include "harness/test/fake_device.hpp"

namespace mf {
namespace {

using testing::message_of;

TEST(Profile, RecordsItsEpochsAloneAndEvaluatesAtTheEnds) {
  Options options;
  options.profile = ProfileWindow{5, 7};
  options.rest = R"(, "stop": {"epochs": 3, "target_rmse": 100})";
  for (const char* name : {"fake_device", "ruler"}) {
    options.algorithm = std::string(R"({"name": ")") + name + R"("})";
    const Done done = run(options);
    EXPECT_EQ(done.result.status, Status::completed);
    EXPECT_EQ(done.result.reason, "profiled: 5 warm-up and 7 recorded epochs done");
    EXPECT_EQ(done.result.epochs, 12);
    EXPECT_EQ(done.file.trace.size(), 2u);
    EXPECT_EQ(done.file.header["profile"], (Json{{"warmup", 5}, {"epochs", 7}}));
    const auto begin = done.ranges.find("<profile");
    const auto end = done.ranges.find(">profile");
    ASSERT_TRUE(begin < end && end != std::string::npos);
    const std::string before = done.ranges.substr(0, begin);
    const std::string inside = done.ranges.substr(begin, end - begin);
    EXPECT_EQ(count_of(inside, "evaluate"), 0u);
    if (std::string(name) == "ruler") {
      EXPECT_EQ(count_of(before, "<epoch"), 5u);
      EXPECT_EQ(count_of(inside, "<epoch"), 7u);
    } else {
      EXPECT_EQ(count_of(before, "<solve"), 5u);
      EXPECT_EQ(count_of(inside, "<solve"), 7u);
    }
  }
}

TEST(Profile, MayStartAtTheFirstEpochAndEndsWhereTheCaseFails) {
  const Done done = run(
      {.algorithm = R"({"name": "fake_device", "fail_at": 2})", .profile = ProfileWindow{0, 4}});
  EXPECT_EQ(done.result.status, Status::error);
  EXPECT_LT(done.ranges.find("<profile"), done.ranges.find("<epoch"));
  EXPECT_EQ(count_of(done.ranges, ">profile"), 1u);
}

// The header of a run that was not profiled, and of one on the CPU.
TEST(Profile, IsNullWhereNothingWasProfiled) {
  const Done done = run({.algorithm = R"({"name": "ruler", "sleep_ms": 0})"});
  EXPECT_TRUE(done.file.header["profile"].is_null());
  EXPECT_TRUE(done.file.footer["clocks"]["train_device_s"].is_null());
  EXPECT_TRUE(done.file.footer["peak_device_bytes"].is_null());
  EXPECT_FALSE(done.file.footer["phases"]["epoch"].contains("device_s"));
}

TEST(Profile, NeverMixesWithMeasuredResults) {
  const TempFolder folder;
  const Spec spec =
      small_spec(R"(, "stop": {"epochs": 2}, "algorithms": [{"name": "ruler", "sleep_ms": 0}])");
  EXPECT_EQ(default_folder(spec, true), "results/runs/t-profile");
  const auto run_in = [&](const std::string& name, bool profile) {
    RunOptions options;
    if (profile) options.profile = ProfileWindow{};
    return testing::run_in(folder / name, spec, options).run;
  };
  EXPECT_EQ(run_in("measured", false), 1);
  EXPECT_EQ(run_in("profiled", true), 1);
  EXPECT_EQ(run_in("profiled", true), 1) << "profiled cases are run again";
  EXPECT_HAS(message_of([&] { run_in("measured", true); }), "of a measured run");
  EXPECT_HAS(message_of([&] { run_in("profiled", false); }), "of a profiled run");
  EXPECT_EQ(run_in("measured", false), 0) << "the measured result still stands";
}

}  // namespace
}  // namespace mf
