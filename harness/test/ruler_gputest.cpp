// The device ruler through the whole harness: the clocks of the device against known times.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/core/cuda/testing.hpp"
#include "harness/device.hpp"
#include "harness/device_clock.hpp"
#include "harness/nvml.hpp"
#include "harness/preflight.hpp"
#include "harness/result_file.hpp"
#include "harness/session.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::TempFolder;

// One case of ruler_device on a small look-alike in which no user of the test part is cold.
ResultFile run(const std::string& params, const std::string& rest) {
  const TempFolder folder;
  const std::string json = R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}], )" +
                           rest + R"(, "algorithms": [{"name": "ruler_device", )" + params + "}]}";
  const Spec spec = parse_spec(parse_json(json, "t"), "t.json");
  RunOptions options;
  options.folder = folder / "r";
  const auto progress = make_progress(ProgressMode::quiet, stdout);
  run_session(spec, options, *progress);
  return *read_result_file(folder / ("r/" + spec.cases[0].id + ".jsonl"));
}

double number(const Json& json, const char* key) { return json[key].get<double>(); }

TEST(RulerDevice, TrainingTimeComesOutAsKnown) {
  MF_REQUIRE_DEVICE();
  const ResultFile file = run(R"("spin_us": 2000, "rest_us": 1000)", R"("stop": {"epochs": 20})");
  ASSERT_EQ(file.footer["status"], "completed") << file.footer["stop_reason"];
  const Json& clocks = file.footer["clocks"];
  const double device = number(clocks, "train_device_s");
  EXPECT_GE(device, 0.999 * 20 * 3e-3);
  EXPECT_LE(device, 1.03 * 20 * 3e-3);
  EXPECT_GE(number(clocks, "train_s"), device);
  EXPECT_LE(number(clocks, "train_s"), device + 20 * 1e-3) << "waiting costs far less than 1 ms";
  const double parts = number(clocks, "load_s") + number(clocks, "prepare_s") +
                       number(clocks, "transfer_s") + number(clocks, "train_s") +
                       number(clocks, "evaluate_s");
  EXPECT_LE(parts, number(clocks, "wall_s") + 1e-6) << "no time is counted twice";
  for (std::size_t e = 1; e < file.trace.size(); ++e) {
    EXPECT_NEAR(number(file.trace[e], "train_device_s"), static_cast<double>(e) * 3e-3,
                0.03 * static_cast<double>(e) * 3e-3);
    EXPECT_GE(number(file.trace[e], "train_s"), number(file.trace[e], "train_device_s"));
  }
}

TEST(RulerDevice, PhasesComeOutAsKnownAndSumToTheEpochs) {
  MF_REQUIRE_DEVICE();
  const ResultFile file = run(R"("spin_us": 2000, "rest_us": 1000)", R"("stop": {"epochs": 20})");
  const Json& phases = file.footer["phases"];
  const double spin = number(phases["spin"], "device_s");
  const double rest = number(phases["rest"], "device_s");
  EXPECT_NEAR(spin, 20 * 2e-3, 0.03 * 20 * 2e-3);
  EXPECT_NEAR(rest, 20 * 1e-3, 0.03 * 20 * 1e-3);
  const double device = number(file.footer["clocks"], "train_device_s");
  EXPECT_LE(spin + rest, device + 1e-9);
  EXPECT_NEAR(spin + rest, device, 0.02 * device);
  EXPECT_EQ(phases["spin"]["count"], 20);
  EXPECT_FALSE(phases["evaluate"].contains("device_s"));
}

TEST(RulerDevice, PrepareAndTransferContainTheirDeviceWork) {
  MF_REQUIRE_DEVICE();
  const ResultFile file = run(R"("spin_us": 10, "prepare_ms": 40)", R"("stop": {"epochs": 1})");
  const Json& clocks = file.footer["clocks"];
  EXPECT_GE(number(clocks, "prepare_s"), 0.0199);
  EXPECT_GE(number(clocks, "transfer_s"), 0.0199);
  EXPECT_LT(number(clocks, "transfer_s"), 0.0300) << "the work before it is not on its clock";
  EXPECT_LT(number(clocks, "train_s"), 0.0100) << "the work of prepare is not on its clock";
}

TEST(RulerDevice, ShortEpochsRunInGroups) {
  MF_REQUIRE_DEVICE();
  const ResultFile file =
      run(R"("spin_us": 20)", R"("stop": {"epochs": 2000}, "evaluate": {"every": 100})");
  ASSERT_EQ(file.trace.size(), 21u);
  const auto ranges = file.footer["phases"]["epoch"]["count"].get<int>();
  EXPECT_LE(ranges, 30) << "1, 8, 64, 27, then one a hundred";
  const double device = number(file.footer["clocks"], "train_device_s");
  EXPECT_GE(device, 0.99 * 2000 * 20e-6);
  EXPECT_LE(device, 2.0 * 2000 * 20e-6) << "events and launches between the kernels";
  EXPECT_GE(number(file.footer["clocks"], "train_s"), device);
  EXPECT_NEAR(number(file.trace.back(), "epoch_s"), device / 2000, 0.5 * device / 2000);
  EXPECT_EQ(file.footer["phases"]["spin"]["count"], 2000);
}

// RMSE(e)^2 = s^2 + (d - offset decay^e)^2: two points give s and d, the others must agree.
TEST(RulerDevice, TheRmseCurveComesOutAsKnown) {
  MF_REQUIRE_DEVICE();
  const ResultFile file = run(R"("spin_us": 3000, "offset": 2)", R"("stop": {"epochs": 6})");
  ASSERT_EQ(file.trace.size(), 7u);
  ASSERT_EQ(file.header["dataset"]["cold_users"], 0);
  const auto y = [&](std::size_t e) { return std::pow(number(file.trace[e], "test_rmse"), 2); };
  const auto x = [](std::size_t e) { return 2 * std::pow(0.5, static_cast<double>(e)); };
  const double d = ((x(0) * x(0) - x(6) * x(6)) - (y(0) - y(6))) / (2 * (x(0) - x(6)));
  const double s2 = y(0) - std::pow(d - x(0), 2);
  EXPECT_GT(s2, 0.5);
  for (std::size_t e = 0; e <= 6; ++e) EXPECT_NEAR(y(e), s2 + std::pow(d - x(e), 2), 1e-4) << e;
}

TEST(RulerDevice, PeakMemoryIsThatOfTheRulerAndTheEvaluator) {
  MF_REQUIRE_DEVICE();
  const ResultFile file = run(R"("spin_us": 10, "factors": 1000)", R"("stop": {"epochs": 1})");
  const Json& dataset = file.header["dataset"];
  const ProblemShape shape = {dataset["n_users"].get<std::int64_t>(),
                              dataset["n_items"].get<std::int64_t>(), 0};
  const double ruler = 1001.0 * 4 * static_cast<double>(shape.n_users + shape.n_items);
  const double peak = number(file.footer, "peak_device_bytes");
  EXPECT_GE(peak, ruler + 12 * number(dataset, "nnz_test"));
  EXPECT_LE(peak, ruler + device_evaluator_bytes({shape.n_users, shape.n_items,
                                                  dataset["nnz_test"].get<std::int64_t>()}));
}

TEST(RulerDevice, TheModelIsSavedFromTheDevice) {
  MF_REQUIRE_DEVICE();
  const TempFolder folder;
  const Spec spec =
      parse_spec(parse_json(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}],
                     "save_model": true, "stop": {"epochs": 1},
                     "algorithms": [{"name": "ruler_device", "spin_us": 10, "offset": 2}]})",
                            "t"),
                 "t.json");
  RunOptions options;
  options.folder = folder / "r";
  const auto progress = make_progress(ProgressMode::quiet, stdout);
  EXPECT_EQ(run_session(spec, options, *progress).failed, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / ("r/models/" + spec.cases[0].id + "/P.npy")));
}

TEST(DeviceClock, SeesTheClockAndTheMemory) {
  MF_REQUIRE_DEVICE();
  const auto clock = open_device();
  const auto device = find_device();
  EXPECT_GT(clock->free_bytes(), 0);
  EXPECT_LE(clock->free_bytes(), device->memory_bytes);
  EXPECT_EQ(device->pci_bus_id.size(), 12u) << device->pci_bus_id;
  const auto nvml = open_nvml(device->pci_bus_id);
  if (!nvml) GTEST_SKIP() << "no NVML";
  EXPECT_GT(nvml->power_limit_w().value_or(0), 10);
  EXPECT_NE(nvml->driver_version().value_or("").find('.'), std::string::npos);
  const auto hertz = clock->sm_clock_hz();
  ASSERT_TRUE(hertz);
  EXPECT_GT(*hertz, 50'000'000);
  EXPECT_LE(*hertz, device->clock_hz);
}

TEST(DeviceClock, MarksMeasureAndAreReused) {
  MF_REQUIRE_DEVICE();
  const auto clock = open_device();
  for (int round = 0; round < 3; ++round) {
    clock->clear_marks(4);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(clock->mark(), i);
    clock->synchronize();
    EXPECT_GE(clock->seconds(0, 9), 0);
    EXPECT_LT(clock->seconds(0, 9), 0.1);
  }
}

}  // namespace
}  // namespace mf
