#include "harness/model_io.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/evaluator.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::random_ratings;
using testing::TempFolder;

class ModelIo : public ::testing::TestWithParam<ModelKind> {};

TEST_P(ModelIo, PredictsInOriginalIdsAsTheEvaluatorDoes) {
  const TempFolder folder;
  const Ratings train = random_ratings(30, 20, 0.2, 3);
  Model model = initial_model(30, 20, 5, GetParam(), 3.2, InitSpec{}, 1);
  for (auto& b : model.user_bias) b = 0.5F;
  save_model(folder / "m", model.view(), train, {{"algorithm", "t"}});
  save_model(folder / "m", model.view(), train, {{"algorithm", "t"}});  // replaces
  const SavedModel saved = load_model(folder / "m");
  const Evaluator evaluator(train);
  for (std::int32_t u = 0; u < 30; ++u) {
    for (std::int32_t i = 0; i < 20; ++i) {
      EXPECT_NEAR(saved.predict(10 * (u + 1), 10 * (i + 1)), evaluator.predict(model.view(), u, i),
                  1e-5);
    }
  }
  EXPECT_NEAR(saved.predict(7, 7), GetParam() == ModelKind::biased ? 3.2 : mean_rating(train), 1e-5)
      << "ids never seen";
}

TEST_P(ModelIo, RecommendsTheBestUnseenItemsInOrder) {
  const TempFolder folder;
  const Ratings train = random_ratings(30, 20, 0.3, 3);
  const Model model = initial_model(30, 20, 5, GetParam(), 3.2, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, {});
  const SavedModel saved = load_model(folder / "m");
  const auto top = saved.recommend(40, 5, false);
  ASSERT_EQ(top.size(), 5u);
  for (std::size_t k = 1; k < top.size(); ++k) EXPECT_GE(top[k - 1].second, top[k].second);
  for (const auto& [item, score] : top) {
    EXPECT_EQ(score, saved.predict(40, item));
    for (auto at = train.user_offsets()[3]; at < train.user_offsets()[4]; ++at) {
      EXPECT_NE(item, 10 * (train[at].item + 1)) << "rated in training";
    }
  }
  EXPECT_EQ(saved.recommend(40, 100, true).size(), 20u);
  EXPECT_TRUE(contains(message_of([&] { saved.recommend(41, 5, false); }), "no user 41"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ModelIo, ::testing::Values(ModelKind::biased, ModelKind::plain),
                         [](const auto& kind) {
                           return kind.param == ModelKind::biased ? "biased" : "plain";
                         });

TEST(ModelIoErrors, NameTheFile) {
  const TempFolder folder;
  EXPECT_TRUE(contains(message_of([&] { load_model(folder / "none"); }), "model.json"));
  const Ratings train = random_ratings(4, 4, 1, 3);
  const Model model = initial_model(4, 4, 2, ModelKind::plain, 3, InitSpec{}, 1);
  save_model(folder / "m", model.view(), train, {});
  std::filesystem::remove(folder / "m/Q.npy");
  EXPECT_TRUE(contains(message_of([&] { load_model(folder / "m"); }), "Q.npy: found no such file"));
}

}  // namespace
}  // namespace mf
