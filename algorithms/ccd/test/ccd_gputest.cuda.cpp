// ccd++ against ccd++_cpu.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/ccd/test/reference.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::ccd {
namespace {

using test::params_of;
using test::planted;
using test::start_for;

Model after(const std::string& name, const Json& changes, const Ratings& train, int epochs) {
  const Params params = params_of(name, changes);
  cuda::TestRunner runner(name, params, train,
                          start_for(train, static_cast<std::int32_t>(params.integer("factors"))));
  EXPECT_EQ(runner.run(1, epochs, 0), epochs * 2 * train.nnz());
  const FactorView view = runner.algorithm->factors();
  if (view.location == Location::host) return copy_model(view);
  const Model model = runner.model();
  EXPECT_TRUE(runner.padding_is_zero);
  return model;
}

void expect_the_cpus(const Json& changes, const Ratings& train, int epochs, double tolerance) {
  const Model cpu = after("ccd++_cpu", changes, train, epochs);
  const Model gpu = after("ccd++", changes, train, epochs);
  const std::string what = changes.dump() + " after " + std::to_string(epochs);
  cuda::expect_near(gpu.p, cpu.p, tolerance, "P " + what);
  cuda::expect_near(gpu.q, cpu.q, tolerance, "Q " + what);
}

class CcdFactors : public testing::TestWithParam<int> {};

TEST_P(CcdFactors, EpochsAreThoseOfTheCpu) {
  const Ratings train = planted(131, 77, 0.3, 1);
  for (const char* residual : {"separate", "fused"}) {
    for (const char* scale : {"plain", "rows"}) {
      for (const char* start : {"model", "zero"}) {
        for (const int inner : {1, 2, 3}) {
          const Json changes = {
              {"factors", GetParam()}, {"reg", scale == std::string("plain") ? 2.0 : 0.05},
              {"reg_scale", scale},    {"residual", residual},
              {"start", start},        {"inner_iterations", inner}};
          expect_the_cpus(changes, train, 1, 1e-3);
          expect_the_cpus(changes, train, 5, 5e-3);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ccd, CcdFactors, testing::Values(1, 2, 7, 33, 70));

// A user with 20,000 ratings, 40,000 users of whom most rated the first items: rows of many tasks,
// tiles of users, and segments from none to whole tiles.
Ratings with_giants() {
  std::vector<Rating> list;
  Rng rng(8);
  for (std::int32_t u = 0; u < 40'000; ++u) {
    for (std::int32_t i = 0; i < (u == 7 ? 20'000 : 50); ++i) {
      if (u != 7 && rng.uniform() < 0.3 + 0.014 * i) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(40'000, 20'000, list);
}

// A row each for 4 items: 70,000 users, tiles of them.
Ratings with_tall_items() {
  std::vector<Rating> list;
  Rng rng(9);
  for (std::int32_t u = 0; u < 70'000; ++u) {
    for (std::int32_t i = 0; i < 4; ++i) {
      if (i == 3 && u % 1000 != 0) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(70'000, 4, list);
}

// One rating a row: tiles are not worth it, and neither side fits shared memory.
Ratings with_short_rows() {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < 70'000; ++u) {
    list.push_back({u, u, static_cast<float>(1 + u % 5)});
    if (u % 7 == 0) list.push_back({u, u + 3, 2.0F});
  }
  return test::ratings_of(70'000, 70'009, list);
}

TEST(CcdDevice, LongRowsTilesAndWideIndicesAreThoseOfTheCpu) {
  for (const char* residual : {"separate", "fused"}) {
    const Json changes = {{"factors", 3}, {"reg", 1}, {"residual", residual}};
    expect_the_cpus(changes, with_giants(), 1, 2e-3);
    expect_the_cpus(changes, with_tall_items(), 1, 2e-3);
    expect_the_cpus(changes, with_tall_items(), 5, 1e-2);
    expect_the_cpus(changes, with_short_rows(), 1, 1e-3);
    expect_the_cpus(changes, with_short_rows(), 5, 5e-3);
  }
}

TEST(CcdDevice, SaysHowItGathers) {
  const auto facts = [](const Ratings& train) {
    const cuda::TestRunner runner("ccd++", params_of("ccd++", {{"factors", 2}}), train,
                                  start_for(train, 2));
    return runner.algorithm->facts();
  };
  const Json tall = facts(with_tall_items());
  EXPECT_GT(tall["user_tiles"], 1);
  EXPECT_EQ(tall["item_tiles"], 1);
  EXPECT_TRUE(tall["users_from_shared_memory"]);
  EXPECT_TRUE(tall["items_from_shared_memory"]);
  const Json shorts = facts(with_short_rows());
  EXPECT_EQ(shorts["user_tiles"], 1);
  EXPECT_FALSE(shorts["users_from_shared_memory"]);
  EXPECT_FALSE(shorts["items_from_shared_memory"]);
}

TEST(CcdDevice, RowsWithoutRatingsAreZeroAndRunsAreEqual) {
  const Ratings train = planted(300, 400, 0.2, 4);
  for (const char* scale : {"plain", "rows"}) {
    for (const double reg : {0.0, 0.05}) {
      const Json changes = {{"factors", 5}, {"reg", reg}, {"reg_scale", scale}};
      const Model one = after("ccd++", changes, train, 3);
      const Model two = after("ccd++", changes, train, 3);
      EXPECT_EQ(one.p, two.p);
      EXPECT_EQ(one.q, two.q);
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(one.p[k], 0.0F);      // user 0
        EXPECT_EQ(one.q[5 + k], 0.0F);  // item 1
        EXPECT_NE(one.p[5 + k], 0.0F);  // user 1
      }
    }
  }
}

TEST(CcdDevice, RunsOfLongRowsAreEqual) {
  const Ratings train = with_giants();
  const Model one = after("ccd++", {{"factors", 3}}, train, 2);
  const Model two = after("ccd++", {{"factors", 3}}, train, 2);
  EXPECT_EQ(one.p, two.p);
  EXPECT_EQ(one.q, two.q);
}

TEST(CcdDevice, AMatrixWithoutRatingsRuns) {
  const Model model = after("ccd++", {{"factors", 5}}, test::ratings_of(4, 3, {}), 2);
  for (const float x : model.p) EXPECT_EQ(x, 0.0F);
  for (const float x : model.q) EXPECT_EQ(x, 0.0F);
}

// Over many epochs the residuals' rounding does not show.
TEST(CcdDevice, TheObjectiveNeverRisesAndEndsAsThatOfTheCpu) {
  const Ratings train = planted(150, 90, 0.4, 5);
  for (const char* residual : {"separate", "fused"}) {
    const Json changes = {{"factors", 8}, {"reg", 1}, {"residual", residual}};
    const Params params = params_of("ccd++", changes);
    const Settings settings = read_settings(params);
    cuda::TestRunner device("ccd++", params, train, start_for(train, 8));
    double last = test::objective(train, settings, device.model());
    for (int epoch = 1; epoch <= 100; ++epoch) {
      device.run(epoch, 1, 0);
      const double now = test::objective(train, settings, device.model());
      EXPECT_LE(now, last * (1 + 1e-6)) << residual << epoch;
      last = now;
    }
    const double cpu = test::objective(train, settings, after("ccd++_cpu", changes, train, 100));
    EXPECT_NEAR(last, cpu, 1e-3 * cpu) << residual;
  }
}

TEST(CcdDevice, StopsBetweenFactorsAndGoesOn) {
  const Ratings train = planted(60, 50, 0.3, 6);
  const Params params = params_of("ccd++", {{"factors", 4}});
  cuda::TestRunner device("ccd++", params, train, start_for(train, 4));
  int polls = 0;
  device.context.stop_requested = [&] { return ++polls == 2; };
  EXPECT_EQ(device.run(1, 1, 0), 2 * train.nnz() / 2);
  const Model stopped = device.model();
  device.context.stop_requested = {};
  device.run(2, 20, 0);
  const Settings settings = read_settings(params);
  EXPECT_LT(test::objective(train, settings, device.model()),
            test::objective(train, settings, stopped));
}

}  // namespace
}  // namespace mf::ccd
