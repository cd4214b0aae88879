// ials_fused over devices: the factors of one, but for the order of the sums in the Gram matrix.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/ials/test/reference.hpp"
#include "algorithms/ials/test/trainer.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/rank_devices.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/triples.hpp"

namespace mf::ials {
namespace {

using test::rows_of;

struct Outcome {
  Model model;
  std::int64_t updates = 0;
  Work work;
  Json facts, exchanged;
};

Outcome train(const Ratings& ratings, const Json& changes, Communicator* ranks) {
  const Params params = default_params(find_algorithm("ials_fused").params, changes);
  const Model start =
      test::start_for(ratings, static_cast<std::int32_t>(params.integer("factors")));
  cuda::TestRunner runner("ials_fused", params, ratings, start, 1, ranks);
  Outcome outcome;
  outcome.updates = runner.run(1, 3, 0);
  runner.of_ranks().gather_factors(runner.context);
  outcome.work = runner.algorithm->work_per_epoch();
  outcome.facts = runner.algorithm->facts();
  outcome.exchanged = runner.of_ranks().exchanged();
  if (ranks == nullptr || ranks->leads()) outcome.model = runner.model();
  return outcome;
}

// |v - w| / |w|
double difference(const AlignedVector<float>& v, const AlignedVector<float>& w, std::int32_t rows) {
  const auto expected = rows_of(w, rows);
  return (rows_of(v, rows) - expected).norm() / expected.norm();
}

void expect_like(const Outcome& many, const Outcome& single, Communicator& ranks,
                 const std::string& what) {
  EXPECT_EQ(many.updates, single.updates) << what;
  EXPECT_EQ(many.work.flops, single.work.flops) << what;
  if (!ranks.leads()) return;
  EXPECT_LT(difference(many.model.p, single.model.p, single.model.n_users), 2e-3) << what;
  EXPECT_LT(difference(many.model.q, single.model.q, single.model.n_items), 2e-3) << what;
}

// Values of 0, which are not pairs, among the others.
Ratings with_zeros(const Ratings& ratings) {
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < ratings.nnz(); ++k) {
    list.push_back({ratings[k].user, ratings[k].item, k % 5 == 0 ? 0.0F : ratings[k].value});
  }
  return mf::test::ratings_of(ratings.n_users(), ratings.n_items(), list);
}

class IalsDevices : public testing::TestWithParam<int> {};

TEST_P(IalsDevices, HaveTheFactorsOfOne) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::clicks(300, 170, 0.15, 3);
    for (const Json& changes : {Json{{"factors", 16}}, Json{{"factors", 64}, {"split_rows", 40}},
                                Json{{"factors", 32}, {"normal", "formed"}},
                                Json{{"factors", 32}, {"precision", "fp16x2"}}}) {
      const Outcome many = train(ratings, changes, &ranks);
      expect_like(many, train(ratings, changes, nullptr), ranks, changes.dump());
      EXPECT_GT(many.exchanged["bytes_received"], 0);
    }
  });
}

TEST_P(IalsDevices, LeaveOutValuesOfZero) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = with_zeros(test::clicks(300, 170, 0.15, 3));
    const Json changes = {{"factors", 24}};
    expect_like(train(ratings, changes, &ranks), train(ratings, changes, nullptr), ranks, "zeros");
  });
}

// Some ranks have no row of one side, or of both.
TEST_P(IalsDevices, MayHaveNothingToDo) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    for (const auto& [users, items] : {std::pair{1, 1}, {1, 30}, {30, 1}}) {
      std::vector<Rating> list;
      for (std::int32_t user = 0; user < users; ++user) {
        for (std::int32_t item = 0; item < items; ++item) {
          list.push_back({user, item, static_cast<float>(1 + (user + item) % 3)});
        }
      }
      const Ratings ratings = mf::test::ratings_of(users, items, list);
      // With one row the Gram matrix has one direction and reg: with a small reg, fp16's rounding
      // in the others would exceed the limit.
      const Json changes = {{"factors", 4}, {"reg", 5}, {"precision", "fp16x2"}};
      expect_like(train(ratings, changes, &ranks), train(ratings, changes, nullptr), ranks,
                  std::to_string(users) + " x " + std::to_string(items));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, IalsDevices, testing::Values(2, 3, 4));

}  // namespace
}  // namespace mf::ials
