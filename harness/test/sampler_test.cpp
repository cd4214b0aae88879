// A sampler is judged by the mean of the predictions of its draws, whenever it is evaluated.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "harness/evaluate/evaluator.hpp"
#include "harness/evaluate/user_groups.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::message_of;
using testing::random_ratings;
using testing::run_in;
using testing::spec_from;
using testing::TempFolder;

Model draw_of(const Ratings& train, std::uint64_t seed) {
  InitSpec init;
  init.scale = 1;
  init.seed = seed;
  return initial_model(train.n_users(), train.n_items(), 4, ModelKind::biased, 3.0, init, 1);
}

FactorView view_of(const Model& model, std::int64_t draw) {
  FactorView view = model.view();
  view.draw = draw;
  return view;
}

double predict(const Model& m, const Rating& r) {
  double sum = m.mean + m.user_bias[r.user] + m.item_bias[r.item];
  for (std::int64_t k = 0; k < 4; ++k) sum += double{m.p[r.user * 4 + k]} * m.q[r.item * 4 + k];
  return sum;
}

// The error of the mean over the models, clipped to 1 to 5.
double rmse_of_mean(const std::vector<Model>& draws, const Ratings& part) {
  double square = 0;
  for (std::int64_t k = 0; k < part.nnz(); ++k) {
    double mean = 0;
    for (const Model& draw : draws)
      mean += predict(draw, part[k]) / static_cast<double>(draws.size());
    square += std::pow(part[k].value - std::min(5.0, std::max(1.0, mean)), 2);
  }
  return std::sqrt(square / static_cast<double>(part.nnz()));
}

struct Drawn {
  Drawn() : evaluator(split.train) {
    evaluator.set_clip(ClipRange{1, 5});
    for (std::uint64_t seed = 1; seed <= 3; ++seed) draws.push_back(draw_of(split.train, seed));
  }
  Split split = [] {
    Split made;
    made.train = random_ratings(50, 40, 0.6, 1);
    made.test = random_ratings(50, 40, 0.3, 2);
    return made;
  }();
  Evaluator evaluator;
  ThreadTeam team{2};
  std::vector<Model> draws;
};

TEST(Draws, AreAveragedBeforeTheyAreClipped) {
  Drawn with;
  std::vector<Model> taken;
  const double of_last =
      with.evaluator.evaluate(with.draws[2].view(), with.split.test, with.team).rmse;
  for (std::int64_t k = 0; k < 3; ++k) {
    taken.push_back(with.draws[k]);
    const double expected = rmse_of_mean(taken, with.split.test);
    for (int again = 0; again < 2; ++again) {  // each draw is taken once
      const auto found =
          with.evaluator.evaluate(view_of(with.draws[k], k + 1), with.split.test, with.team);
      EXPECT_NEAR(found.rmse, expected, 1e-6) << k;
    }
  }
  EXPECT_LT(rmse_of_mean(taken, with.split.test), of_last);
}

TEST(Draws, OfEachPartAreApartAndGroupsAreOfTheirMean) {
  Drawn with;
  for (std::int64_t k = 0; k < 3; ++k) {
    for (const Ratings* part : {&with.split.test, &with.split.train}) {
      with.evaluator.evaluate(view_of(with.draws[k], k + 1), *part, with.team);
    }
  }
  const auto groups =
      evaluate_user_groups(with.evaluator, with.draws[0].view(), with.split, 5, with.team);
  double test = 0;
  double train = 0;
  for (const UserGroup& group : groups) {
    test += group.test.rmse * group.test.rmse * static_cast<double>(group.test.count);
    train += group.train.rmse * group.train.rmse * static_cast<double>(group.train.count);
  }
  EXPECT_NEAR(std::sqrt(test / static_cast<double>(with.split.test.nnz())),
              rmse_of_mean(with.draws, with.split.test), 1e-6);
  EXPECT_NEAR(std::sqrt(train / static_cast<double>(with.split.train.nnz())),
              rmse_of_mean(with.draws, with.split.train), 1e-6);
}

Spec spec_of(const std::string& more) {
  return spec_from(R"({"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 6},
                     "algorithms": [{"name": "bpmf_cpu", "factors": 4, "burn_in": 2}])" +
                   more + "}");
}

ResultFile result_of(const std::string& evaluate, const std::string& folder) {
  const Spec spec = spec_of(R"(, "evaluate": )" + evaluate);
  RunOptions options;
  options.model_folder = folder + "/models";
  run_in(folder, spec, options);
  return testing::result_of(folder, spec.cases[0]);
}

TEST(SamplerCase, HasTheSameMeanHoweverOftenItIsEvaluated) {
  const TempFolder folder;
  const ResultFile each = result_of(R"({"every": 1, "user_groups": 3})", folder / "a");
  const ResultFile last = result_of(R"({"every": 6, "train": true})", folder / "b");
  ASSERT_EQ(each.trace.size(), 7u);
  ASSERT_EQ(last.trace.size(), 2u);
  for (const char* error : {"test_rmse", "train_rmse"}) {
    EXPECT_EQ(each.trace.back()[error], last.trace.back()[error]) << error;
    EXPECT_NE(each.trace[5][error], each.trace[6][error]) << error;
  }
  EXPECT_EQ(each.footer["user_groups"].size(), 3u);
  EXPECT_FALSE(
      std::filesystem::exists(folder / "a/models/" + each.header["case_id"].get<std::string>()));
}

TEST(SamplerCase, RanksNothing) {
  const auto refusal = [](const std::string& more) { return message_of([&] { spec_of(more); }); };
  EXPECT_HAS(refusal(R"(, "evaluate": {"ranking": true})"), "which ranks no items");
  EXPECT_EQ(refusal(R"(, "evaluate": {"ranking": false})"), "no error");
}

}  // namespace
}  // namespace mf
