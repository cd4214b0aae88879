#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/core/model.hpp"
#include "algorithms/core/params.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/rows.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

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
  try {
    find_algorithm("test_desent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"test_descent\"?"), std::string::npos);
  }
}

TEST(Registry, AnAlgorithmWithoutImplementationSaysWhatIsMissing) {
  AlgorithmInfo info = info_named("test_gpu");
  info.hardware = Hardware::cuda;
  register_info(info);
  EXPECT_FALSE(is_built("test_gpu"));
  try {
    make_algorithm("test_gpu", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_STREQ(error.what(), "test_gpu needs CUDA; this build has none");
  }
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

TEST(InitialModel, UniformProductsStartAtTheMean) {
  InitSpec init;
  init.kind = InitKind::uniform;
  const Model m = initial_model(400, 400, 32, ModelKind::plain, 3.5, init, 2);
  double sum = 0;
  for (int u = 0; u < 400; ++u) {
    for (int k = 0; k < 32; ++k) sum += static_cast<double>(m.p[u * 32 + k]) * m.q[u * 32 + k];
  }
  EXPECT_NEAR(sum / 400, 3.5, 0.1);
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
