// The device's sampler against the host's: from the same numbers, the same draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/test_support.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::bpmf {
namespace {

Model start(const Ratings& train, const Params& params) {
  return initial_model_of(params, train, InitSpec{}, 1);
}

Params params_of(const char* name, const Json& changes) {
  return default_params(find_algorithm(name).params, changes);
}

struct OnDevice : cuda::TestRunner {
  OnDevice(const Ratings& train, const Json& changes)
      : TestRunner("bpmf", params_of("bpmf", changes), train,
                   start(train, params_of("bpmf", changes))) {}
  Model after(std::int64_t epochs) {
    for (std::int64_t i = 0; i < epochs; ++i) run(++epoch, 1, 0);
    const FactorView view = algorithm->factors();
    const auto column = [&](const float* from, std::int64_t stride, std::int32_t count) {
      AlignedVector<float> all(stride * (count - 1) + 1);
      cuda::download(View<float>(all), from, stream.get());
      AlignedVector<float> biases(count);
      for (std::int64_t i = 0; i < count; ++i) biases[i] = all[i * stride];
      return biases;
    };
    Model model;
    model.factors = view.factors;
    model.p = rows(view.p, view.p_stride, view.n_users, view.factors);
    model.q = rows(view.q, view.q_stride, view.n_items, view.factors);
    if (view.user_bias == nullptr) return model;
    model.user_bias = column(view.user_bias, view.user_bias_stride, view.n_users);
    model.item_bias = column(view.item_bias, view.item_bias_stride, view.n_items);
    return model;
  }
  std::int64_t epoch = 0;
};

// The largest difference, as a share of the largest number.
double difference(const AlignedVector<float>& a, const AlignedVector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(std::isfinite(a[i])) << i;
    apart = std::max(apart, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return largest == 0 ? apart : apart / largest;
}

void expect_same(const Model& device, const Model& host, double tolerance,
                 const std::string& what) {
  EXPECT_LT(difference(device.p, host.p), tolerance) << what << " P";
  EXPECT_LT(difference(device.q, host.q), tolerance) << what << " Q";
  if (host.user_bias.empty()) return;
  EXPECT_LT(difference(device.user_bias, host.user_bias), tolerance) << what << " b";
  EXPECT_LT(difference(device.item_bias, host.item_bias), tolerance) << what << " c";
}

void compare(const Ratings& train, Json params, std::int64_t epochs, double tolerance) {
  test::Trainer host("bpmf_cpu", params, train, start, 2);
  host.run(epochs);
  params["precision"] = "fp16x2";
  OnDevice device(train, params);
  expect_same(device.after(epochs), host.model(), tolerance, params.dump());
}

// Every number of block rows, with room for the rating and without, of one warp and of several.
TEST(Bpmf, DrawsWhatTheHostDraws) {
  const Ratings train = test::planted(90, 70, 0.3, 3, 0.8, 0.3);
  for (const std::int32_t f : {1, 3, 16, 24, 31, 45, 56, 63, 64, 100, 112, 126, 127, 180, 254}) {
    for (const char* center : {"none", "mean", "biases"}) {
      const Json params = {{"factors", f}, {"center", center}, {"alpha", f % 2 == 0 ? 0.0 : 1.5}};
      compare(train, params, 1, 2e-3);
    }
  }
}

// Differences grow from sweep to sweep, as in any chain.
TEST(Bpmf, StaysWithTheHostForSomeSweeps) {
  const Ratings train = test::planted(200, 70, 0.3, 4, 0.8, 0.3);
  for (const char* center : {"mean", "biases"}) {
    compare(train, {{"factors", 8}, {"center", center}, {"alpha", 0}}, 4, 1e-2);
  }
}

// An item of more ratings than one thread block takes.
TEST(Bpmf, SplitRowsAreThoseOfTheHost) {
  const Ratings train = test::planted(20'000, 12, 0.1, 5, 0.8, 0.3);
  for (const std::int32_t f : {5, 40, 64}) {
    compare(train, {{"factors", f}, {"center", "biases"}, {"alpha", 0}}, 1, 5e-3);
  }
}

TEST(Bpmf, RepeatsToTheBit) {
  const Ratings train = test::planted(300, 120, 0.3, 6, 0.8, 0.3);
  for (const std::int32_t f : {20, 64, 100}) {
    const Json params = {{"factors", f}, {"center", "biases"}, {"alpha", 0}};
    OnDevice one(train, params);
    OnDevice other(train, params);
    const Model a = one.after(3);
    const Model b = other.after(3);
    EXPECT_EQ(a.p, b.p);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.user_bias, b.user_bias);
  }
}

// fp16 rounds the rows of the other side: the draws are of equally near rows.
TEST(Bpmf, OneWordIsNearTwo) {
  const Ratings train = test::planted(300, 120, 0.3, 7, 0.8, 0.3);
  Json params = {{"factors", 12}};
  OnDevice one(train, params);
  params["precision"] = "fp16x2";
  OnDevice two(train, params);
  expect_same(one.after(1), two.after(1), 2e-2, "fp16");
}

TEST(Bpmf, RefusesRatingsBeyondItsWords) {
  for (const float value : {1e4F, std::numeric_limits<float>::infinity()}) {
    const Ratings train = test::ratings_of(2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 0, value}});
    try {
      OnDevice device(train, {{"center", "none"}});
      ADD_FAILURE() << "no error for " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_HAS(std::string(error.what()), "expected at most 512");
    }
  }
}

}  // namespace
}  // namespace mf::bpmf
