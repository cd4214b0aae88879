#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

AlgorithmInfo info_named(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "test";
  return info;
}

TEST(Registry, RejectsASecondRegistrationAndNamesTheNearest) {
  register_info(info_named("test_descent"));
  EXPECT_THROW(register_info(info_named("test_descent")), std::logic_error);
  EXPECT_HAS(test::error_of([] { find_algorithm("test_desent"); }).what(),
             "did you mean \"test_descent\"?");
}

TEST(Registry, AnAlgorithmWithoutImplementationSaysWhatIsMissing) {
  AlgorithmInfo info = info_named("test_gpu");
  info.hardware = Hardware::cuda;
  register_info(info);
  EXPECT_FALSE(is_built("test_gpu"));
  const Error error = test::error_of([] { make_algorithm("test_gpu", {}); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_STREQ(error.what(), "test_gpu needs CUDA; this build lacks it");
}

TEST(Params, DefaultsRangesAndUnknownKeys) {
  const std::vector<ParamSpec> specs = {ParamSpec::integer("factors", 8, 1, 100, "rank"),
                                        ParamSpec::number("reg", 0.02, 0, 10, "lambda"),
                                        ParamSpec::choice("solver", "cg", {"cg", "lu"}, "solver"),
                                        ParamSpec::boolean("stride", false, "stride")};
  const Params params = default_params(specs, Json{{"factors", 16}, {"stride", true}});
  EXPECT_EQ(params.integer("factors"), 16);
  EXPECT_EQ(params.number("reg"), 0.02);
  EXPECT_EQ(params.choice("solver"), "cg");
  EXPECT_TRUE(params.boolean("stride"));
  EXPECT_THROW(default_params(specs, Json{{"factors", 0}}), Error);
  EXPECT_THROW(default_params(specs, Json{{"factor", 3}}), Error);
  EXPECT_THROW(params.number("undeclared"), std::logic_error);
  EXPECT_EQ(default_params(specs, params.to_json()).to_json(), params.to_json());
}

TEST(Params, ASilentDefaultIsReadAndNotTold) {
  const std::vector<ParamSpec> specs = {ParamSpec::integer("ranks", 3, 1, 9, "").silent(),
                                        ParamSpec::number("reg", 0.5, 0, 1, "")};
  for (const Json& given : {Json::object(), Json{{"ranks", 3}}}) {
    const Params params = default_params(specs, given);
    EXPECT_EQ(params.integer("ranks"), 3);
    EXPECT_EQ(params.to_json(), (Json{{"reg", 0.5}}));
  }
  Params other = default_params(specs, {{"ranks", 2}});
  EXPECT_EQ(other.integer("ranks"), 2);
  EXPECT_EQ(other.to_json(), (Json{{"ranks", 2}, {"reg", 0.5}}));
  other = default_params(specs);
  other.set("ranks", std::int64_t{3});
  EXPECT_EQ(other.to_json().at("ranks"), 3) << "it was set";
}

TEST(Params, AnotherDefaultIsToldAndTheSilentValueStays) {
  const std::vector<ParamSpec> specs = with_defaults(
      {ParamSpec::integer("ranks", 3, 1, 9, "").silent()}, {{"ranks", std::int64_t{5}}});
  EXPECT_EQ(default_params(specs).to_json(), (Json{{"ranks", 5}}));
  EXPECT_EQ(default_params(specs, {{"ranks", 3}}).to_json(), Json::object());
}

TEST(Params, AFixedOneIsInTheCaseAndInNoSpec) {
  const std::vector<ParamSpec> specs = {ParamSpec::constant("batch", std::int64_t{0}),
                                        ParamSpec::constant("normal", "auto")};
  const Json none = Json::object();
  JsonReader reader(none, "$");
  EXPECT_EQ(read_params(specs, reader).to_json(), (Json{{"batch", 0}, {"normal", "auto"}}));
  const Json set = {{"batch", 0}};
  JsonReader other(set, "$");
  read_params(specs, other);
  EXPECT_THROW(other.finish(), Error);
  EXPECT_EQ(default_params(specs, {{"batch", 7}}).integer("batch"), 7);
}

TEST(InitialModel, IsTheSameForAnyNumberOfThreadsAndSeparatesPFromQ) {
  const InitSpec init;
  const Model a = initial_model(9000, 5000, 7, ModelKind::biased, 3.5, init, 1);
  const Model b = initial_model(9000, 5000, 7, ModelKind::biased, 3.5, init, 3);
  EXPECT_EQ(a.p, b.p);
  EXPECT_EQ(a.q, b.q);
  EXPECT_NE(a.p[0], a.q[0]);
  double square = 0;
  for (const float x : a.p) square += static_cast<double>(x) * x;
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(a.p.size())), 0.1, 0.002);
}

// Mean and standard deviation of the products of all pairs.
RatingLevel products_of(const Model& m) {
  double sum = 0;
  double squares = 0;
  for (int u = 0; u < m.n_users; ++u) {
    for (int i = 0; i < m.n_items; ++i) {
      double dot = 0;
      for (int k = 0; k < m.factors; ++k) {
        dot += static_cast<double>(m.p[u * m.factors + k]) * m.q[i * m.factors + k];
      }
      sum += dot;
      squares += dot * dot;
    }
  }
  const double pairs = static_cast<double>(m.n_users) * m.n_items;
  const double mean = sum / pairs;
  return {mean, std::sqrt(squares / pairs - mean * mean)};
}

Model uniform_model(const RatingLevel& level, std::int32_t factors) {
  InitSpec init;
  init.kind = InitKind::uniform;
  return initial_model(500, 400, factors, ModelKind::plain, level, init, 2);
}

// The start of committed results: a number of U[0, 2 sqrt(mu / f)) a draw, for any d.
TEST(InitialModel, UniformFactorsOfAPositiveMeanStayWhatTheyWere) {
  for (const double deviation : {0.0, 1.1, 50.0}) {
    const Model m = uniform_model({3.5, deviation}, 8);
    Rng user(1, (std::uint64_t{1} << 40) + 3);
    Rng item(1, (std::uint64_t{2} << 40) + 7);
    const double top = 2 * std::sqrt(3.5 / 8);
    for (int k = 0; k < 8; ++k) {
      EXPECT_EQ(m.p[3 * 8 + k], static_cast<float>(top * user.uniform()));
      EXPECT_EQ(m.q[7 * 8 + k], static_cast<float>(top * item.uniform()));
    }
  }
}

// Not in the saddle point P = Q = 0, nor far from the mean: products of U[-h, h) with
// h^2 = d / f have the variance f (h^2 / 3)^2 = d^2 / (9 f).
TEST(InitialModel, UniformFactorsDoNotVanishWithTheMean) {
  for (const double mean : {0.0, -1e-12, 1e-12, 0.04, -0.04}) {
    for (const int factors : {1, 16}) {
      const RatingLevel products = products_of(uniform_model({mean, 5}, factors));
      EXPECT_NEAR(products.mean, mean, 0.15) << mean;
      EXPECT_NEAR(products.deviation, 5 / (3 * std::sqrt(factors)), 0.15) << mean;
    }
  }
  EXPECT_NEAR(products_of(uniform_model({-1, 5}, 16)).mean, -1, 0.1);
  for (const float x : uniform_model({0, 0}, 16).p) EXPECT_EQ(x, 0) << "all ratings are 0";
}

TEST(InitialModel, OfRatingsKnowsTheirMeanAndDeviation) {
  const Ratings train = test::ratings_of(2, 2, {{0, 0, -4}, {0, 1, 1}, {1, 0, 0}});
  const std::vector<ParamSpec> specs = {ParamSpec::integer("factors", 8, 1, 100, "")};
  InitSpec init;
  init.kind = InitKind::uniform;
  const Model found = initial_model_of(default_params(specs, Json::object()), train, init, 2);
  const RatingLevel level{-1, std::sqrt((9.0 + 4 + 1) / 3)};
  EXPECT_EQ(found.q, initial_model(2, 2, 8, ModelKind::plain, level, init, 1).q);
}

TEST(InitialModel, NormalOverFactorsIsTheNormalDrawDividedByTheRank) {
  InitSpec init;
  init.scale = 1;
  const Model normal = initial_model(50, 30, 8, ModelKind::plain, 3.5, init, 1);
  init.kind = InitKind::normal_over_factors;
  const Model divided = initial_model(50, 30, 8, ModelKind::plain, 3.5, init, 2);
  for (int k = 0; k < 50 * 8; ++k) EXPECT_EQ(divided.p[k] * 8, normal.p[k]);
  for (int k = 0; k < 30 * 8; ++k) EXPECT_EQ(divided.q[k] * 8, normal.q[k]);
}

TEST(MakeView, APlainModelHasNeitherMeanNorBiases) {
  const float number = 0;
  const ModelShape biased{ModelKind::biased, 4, 3, 2, 3.5};
  FactorView view = make_view(biased, Location::device, &number, &number, 8, &number, &number);
  EXPECT_EQ(view.location, Location::device);
  EXPECT_EQ(view.q_stride, 8);
  EXPECT_EQ(view.mean, 3.5);
  EXPECT_EQ(view.user_bias, &number);
  ModelShape plain = biased;
  plain.kind = ModelKind::plain;
  view = make_view(plain, Location::device, &number, &number, 8, &number, &number);
  EXPECT_EQ(view.mean, 0);
  EXPECT_EQ(view.item_bias, nullptr);
}

TEST(Rows, BeginOnWholeUnits) {
  EXPECT_EQ(row_stride(5, 4), 8);
  EXPECT_EQ(row_stride(5, 8), 6);
  EXPECT_EQ(row_stride(5, 2), 8);
  EXPECT_EQ(row_stride(16, 4, kLineBytes), 16);
  EXPECT_EQ(row_stride(17, 4, kLineBytes), 32);
}

TEST(CopyModel, FollowsStrides) {
  const std::vector<float> p = {1, 2, 9, 3, 4, 9};
  const std::vector<float> q = {5, 6, 9};
  FactorView view;
  view.n_users = 2;
  view.n_items = 1;
  view.factors = 2;
  view.p = p.data();
  view.q = q.data();
  view.p_stride = view.q_stride = 3;
  view.user_bias = p.data() + 2;
  view.item_bias = q.data() + 2;
  view.user_bias_stride = view.item_bias_stride = 3;
  view.mean = 2;
  const Model model = copy_model(view);
  EXPECT_EQ(model.p, (AlignedVector<float>{1, 2, 3, 4}));
  EXPECT_EQ(model.user_bias, (AlignedVector<float>{9, 9}));
  EXPECT_EQ(model.view().mean, 2);
}

}  // namespace
}  // namespace mf
