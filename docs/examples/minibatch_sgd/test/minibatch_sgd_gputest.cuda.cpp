// Against the equation, on the host, in double, in the order of the epoch.
#include <vector>

#include "algorithms/core/random.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

constexpr double kRate = 0.01, kReg = 0.05;

// Uneven rows; user 0 and item 1 have no rating.
Ratings some_ratings(std::int32_t users, std::int32_t items) {
  Rng rng(7);
  std::vector<Rating> list;
  for (std::int32_t u = 1; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (i == 1 || rng.uniform() > 2.0 / (1 + i)) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(users, items, list);
}

// Rows of both sides after a pass.
void reference_pass(const Ratings& train, std::int64_t batch, const Permutation& order,
                    std::int32_t f, std::vector<double>& p, std::vector<double>& q) {
  for (std::int64_t first = 0; first < train.nnz(); first += batch) {
    const auto p_old = p, q_old = q;
    for (std::int64_t at = first; at < std::min(first + batch, train.nnz()); ++at) {
      const Rating r = train[order(at)];
      const std::int64_t u = std::int64_t{r.user} * f, i = std::int64_t{r.item} * f;
      double e = r.value;
      for (int k = 0; k < f; ++k) e -= p_old[u + k] * q_old[i + k];
      for (int k = 0; k < f; ++k) {
        p[u + k] += kRate * (e * q_old[i + k] - kReg * p_old[u + k]);
        q[i + k] += kRate * (e * p_old[u + k] - kReg * q_old[i + k]);
      }
    }
  }
}

void expect_reference(std::int32_t f, std::int64_t batch) {
  const Ratings train = some_ratings(61, 37);
  const Model initial = initial_model(61, 37, f, ModelKind::plain, 3, InitSpec{}, 1);
  const Params params = default_params(find_algorithm("minibatch_sgd").params,
                                       Json{{"factors", f}, {"batch", batch}, {"reg", kReg}});
  cuda::TestRunner runner("minibatch_sgd", params, train, initial);
  std::vector<double> p(initial.p.begin(), initial.p.end()), q(initial.q.begin(), initial.q.end());
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    EXPECT_EQ(runner.run(epoch, 1, kRate), train.nnz());
    reference_pass(train, batch, epoch_order(train.nnz(), 1, epoch), f, p, q);
  }
  cuda::expect_near(runner.model().p, p, 1e-5, "P");
  cuda::expect_near(runner.model().q, q, 1e-5, "Q");
  EXPECT_TRUE(runner.padding_is_zero);
}

TEST(MinibatchSgd, IsTheEquationForAnyBatchAndRow) {
  for (const std::int32_t f : {1, 3, 32, 45, 100}) {
    for (const std::int64_t batch : {1, 7, 64, 100000}) expect_reference(f, batch);
  }
}

}  // namespace
}  // namespace mf
