// The device ruler through the whole harness: the clocks of the device against known times.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/evaluate/model_io.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/session.hpp"
#include "harness/test/runs.hpp"
#include "testing/cuda/testing.hpp"

namespace mf {
namespace {

using testing::TempFolder;

// One case of ruler_device on a small look-alike in which no user of the test part is cold.
ResultFile run(const std::string& params, const std::string& rest) {
  return testing::run_one(
      testing::spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}], )" +
                         rest + R"(, "algorithms": [{"name": "ruler_device", )" + params + "}]}"));
}

double number(const Json& json, const char* key) { return json[key].get<double>(); }

TEST(RulerDevice, TrainingTimeComesOutAsKnown) {
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
  const ResultFile file = run(R"("spin_us": 10, "prepare_ms": 40)", R"("stop": {"epochs": 1})");
  const Json& clocks = file.footer["clocks"];
  EXPECT_GE(number(clocks, "prepare_s"), 0.0199);
  EXPECT_GE(number(clocks, "transfer_s"), 0.0199);
  EXPECT_LT(number(clocks, "transfer_s"), 0.0300) << "the work before it is not on its clock";
  EXPECT_LT(number(clocks, "train_s"), 0.0100) << "the work of prepare is not on its clock";
}

TEST(RulerDevice, ShortEpochsRunInGroups) {
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
  const ResultFile file = run(R"("spin_us": 10, "factors": 1000)", R"("stop": {"epochs": 1})");
  const Json& dataset = file.header["dataset"];
  const ProblemShape shape = {dataset["n_users"].get<std::int64_t>(),
                              dataset["n_items"].get<std::int64_t>(), 0};
  const double ruler = 1001.0 * 4 * static_cast<double>(shape.n_users + shape.n_items);
  const double peak = number(file.footer, "peak_device_bytes");
  EXPECT_GE(peak, ruler + 12 * number(dataset, "nnz_test"));
  EXPECT_LE(peak, kPlanFactor * number(file.footer, "planned_device_bytes"));
}

// A case that saves its model, and its training and evaluation data.
struct Saved {
  SavedModel model;
  CaseData data;
  ResultFile file;
};

Saved train_and_save(const std::string& algorithm, const std::string& rest) {
  const TempFolder folder;
  const Spec spec =
      testing::spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k", "scale": 0.05}],
                     "save_model": true, )" +
                         rest + R"(, "algorithms": [)" + algorithm + "]}");
  EXPECT_EQ(testing::run_in(folder / "r", spec).failed, 0);
  const Case& item = spec.cases[0];
  return {load_model(folder / ("r/models/" + item.id)), DataStore().get(item),
          testing::result_of(folder / "r", item)};
}

// After an epoch every user's bias is offset x decay = 1; the rest is zero.
TEST(RulerDevice, TheModelThatIsSavedIsTheKnownOne) {
  const Saved saved =
      train_and_save(R"({"name": "ruler_device", "spin_us": 2000, "offset": 2, "factors": 5})",
                     R"("stop": {"epochs": 1})");
  const Ratings& train = saved.data.split->train;
  const Model& model = saved.model.model;
  EXPECT_EQ(model.mean, mean_rating(train));
  EXPECT_EQ(std::ssize(model.p), std::int64_t{train.n_users()} * 5);
  EXPECT_EQ(std::ssize(model.q), std::int64_t{train.n_items()} * 5);
  EXPECT_EQ(std::ssize(model.user_bias), train.n_users());
  EXPECT_EQ(std::ssize(model.item_bias), train.n_items());
  for (const float x : model.user_bias) EXPECT_EQ(x, 1);
  for (const auto* zeros : {&model.p, &model.q, &model.item_bias}) {
    for (const float x : *zeros) ASSERT_EQ(x, 0);
  }
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    const float known = static_cast<float>(mean_rating(train)) + 1;
    ASSERT_EQ(saved.model.predict(saved.model.user(train[k].user), train[k].item), known);
  }
}

// Rows that are padded on the device, by the error that was measured there.
TEST(DeviceFactors, TheModelThatIsSavedHasTheErrorMeasuredOnTheDevice) {
  for (const char* kind : {"biased", "plain"}) {
    const Saved saved = train_and_save(
        R"({"name": "sgd_tiled", "factors": 10, "model": ")" + std::string(kind) + R"("})",
        R"("stop": {"epochs": 3})");
    const Ratings& test = saved.data.split->test;
    double square = 0;
    for (std::int64_t k = 0; k < test.nnz(); ++k) {
      const double guess = saved.model.predict(saved.model.user(test[k].user), test[k].item);
      square += (test[k].value - guess) * (test[k].value - guess);
    }
    const double rmse = std::sqrt(square / static_cast<double>(test.nnz()));
    const double measured = number(saved.file.footer, "final_test_rmse");
    EXPECT_NEAR(rmse, measured, 2e-6 * measured) << kind;
    EXPECT_NE(measured, number(saved.file.trace[0], "test_rmse")) << "it has learned";
  }
}

}  // namespace
}  // namespace mf
