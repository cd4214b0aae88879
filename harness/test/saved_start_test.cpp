#include <gtest/gtest.h>

#include "harness/evaluate/model_io.hpp"
#include "harness/run/prepared.hpp"
#include "harness/test/runs.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::random_ratings;
using testing::spec_from;
using testing::TempFolder;

std::string spec_text(const std::string& algorithm, const std::string& model) {
  return R"({"name": "t", "datasets": [{"like": "ml-100k"}], "algorithms": [{)" + algorithm +
         R"(, "init": {"model": ")" + model + R"("}}]})";
}

class SavedStart : public ::testing::Test {
 protected:
  // The model of a case before its first epoch.
  Model start(const std::string& algorithm, const Ratings& train) {
    const Spec spec = spec_from(spec_text(algorithm, folder_ / "m"));
    PreparedCase prepared(spec.cases.at(0), train, facts_of(train, 1), {});
    start_ = prepared.start();
    Model copy;
    return copy_model(prepared.host_factors(copy));
  }
  std::string refused(const std::string& algorithm, const Ratings& train) {
    return message_of([&] { start(algorithm, train); });
  }
  void save(const Model& model, const Ratings& train) {
    save_model(folder_ / "m", model.view(), train, Predictor(train), {}, {});
  }

  const TempFolder folder_;
  const Ratings train_ = random_ratings(30, 20, 0.4, 3);
  Json start_;
};

constexpr const char* kPlain = R"("name": "sgd_serial", "model": "plain", "factors": 5)";
constexpr const char* kBiased = R"("name": "sgd_serial", "model": "biased", "factors": 5)";

TEST_F(SavedStart, IsTheModelWithItsBiasesAndItsMean) {
  Model model = initial_model(30, 20, 5, ModelKind::biased, 2.25, {InitKind::normal, 1, 9}, 1);
  for (std::size_t k = 0; k < model.user_bias.size(); ++k)
    model.user_bias[k] = 0.5F + static_cast<float>(k);
  for (std::size_t k = 0; k < model.item_bias.size(); ++k)
    model.item_bias[k] = -1.5F * static_cast<float>(k);
  save(model, train_);
  const Model found = start(kBiased, train_);
  EXPECT_EQ(found.mean, 2.25);
  EXPECT_EQ(found.user_bias, model.user_bias);
  EXPECT_EQ(found.item_bias, model.item_bias);
  for (std::int64_t u = 0; u < 30; ++u) {
    const bool rated = train_.user_offsets()[u] < train_.user_offsets()[u + 1];
    for (int k = 0; k < 5; ++k) EXPECT_EQ(found.p[5 * u + k], rated ? model.p[5 * u + k] : 0);
  }
  EXPECT_EQ(start_["model"], folder_ / "m");
  const Json hash = start_["hash"];
  model.q.front() += 1;
  save(model, train_);
  start(kBiased, train_);
  EXPECT_NE(start_["hash"], hash);
}

TEST_F(SavedStart, HasTheFactorsAndBiasesOfTheAlgorithm) {
  save(initial_model(30, 20, 4, ModelKind::plain, 3, InitSpec{}, 1), train_);
  EXPECT_TRUE(
      contains(refused(kPlain, train_),
               "found a plain model of 4 factors, expected a plain one of 5 for sgd_serial"));
  save(initial_model(30, 20, 5, ModelKind::biased, 3, InitSpec{}, 1), train_);
  EXPECT_TRUE(
      contains(refused(kPlain, train_), "found a biased model of 5 factors, expected a plain one"));
  EXPECT_TRUE(contains(refused(R"("name": "als_cpu", "factors": 5)", train_),
                       "ALS has biases by \"center\""));
}

TEST_F(SavedStart, HasTheUsersAndItemsOfTheData) {
  save(initial_model(30, 20, 5, ModelKind::plain, 3, InitSpec{}, 1), train_);
  const std::string other = refused(kPlain, random_ratings(31, 20, 0.4, 3));
  EXPECT_TRUE(contains(other, "found 30 users and 20 items, expected the 31 and 20")) << other;
  const Ratings renamed = test::ratings_of(30, 20, {{0, 0, 1}}, {1000, 1}, {1, 1});
  EXPECT_TRUE(contains(refused(kPlain, renamed), "with the same ids"));
}

TEST_F(SavedStart, SawNothingThatTheTrainingPartLacks) {
  save(initial_model(30, 20, 5, ModelKind::plain, 3, InitSpec{}, 1), train_);
  std::vector<Rating> fewer;
  for (std::int64_t k = 0; k < train_.nnz() - 1; ++k) fewer.push_back(train_[k]);
  const Ratings held_out = test::ratings_of(30, 20, fewer, {10, 10}, {10, 10});
  EXPECT_TRUE(contains(refused(kPlain, held_out), "expected a model of the same split and seed"));
  save(initial_model(30, 20, 5, ModelKind::plain, 3, InitSpec{}, 1), held_out);
  EXPECT_EQ(refused(kPlain, train_), "no error") << "more ratings have come since";
}

TEST(SavedStartSpec, IsForAlgorithmsThatStartFromFactorsInOneProcess) {
  const auto error = [](const std::string& algorithm) {
    return message_of([&] { spec_from(spec_text(algorithm, "m")); });
  };
  EXPECT_EQ(error(kPlain), "no error");
  for (const char* wrong : {R"("name": "popular")", R"("name": "als", "devices": 4)"}) {
    EXPECT_TRUE(contains(error(wrong), "$.algorithms[0].init.model: found it with"))
        << error(wrong);
  }
  const Spec spec = spec_from(spec_text(kPlain, "m"));
  EXPECT_EQ(to_json(spec.cases[0].init), (Json{{"kind", "uniform"}, {"model", "m"}}));
}

}  // namespace
}  // namespace mf
