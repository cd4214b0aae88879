// Draws by their moments against double precision, and the sampler as a whole.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "algorithms/bpmf/noise.hpp"
#include "algorithms/bpmf/prior.hpp"
#include "algorithms/bpmf/row_draw.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "testing/test_support.hpp"
#include "testing/trainer.hpp"
#include "testing/triples.hpp"

namespace mf::bpmf {
namespace {

using als::cpu::FactorTable;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Sums of draws of a vector.
struct Sample {
  explicit Sample(std::int64_t size)
      : sum(VectorXd::Zero(size)), square(MatrixXd::Zero(size, size)) {}
  void add(const VectorXd& x) {
    sum += x;
    square += x * x.transpose();
    ++count;
  }
  VectorXd mean() const { return sum / count; }
  MatrixXd covariance() const { return square / count - mean() * mean().transpose(); }

  double count = 0;
  VectorXd sum;
  MatrixXd square;
};

// Within `sigmas` standard errors of a normal sample.
void expect_moments(const Sample& sample, const VectorXd& mean, const MatrixXd& covariance,
                    double sigmas = 5) {
  const MatrixXd found = sample.covariance();
  for (std::int64_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(sample.mean()(i), mean(i), sigmas * std::sqrt(covariance(i, i) / sample.count))
        << i;
    for (std::int64_t j = 0; j <= i; ++j) {
      const double variance =
          covariance(i, i) * covariance(j, j) + covariance(i, j) * covariance(i, j);
      EXPECT_NEAR(found(i, j), covariance(i, j), sigmas * std::sqrt(variance / sample.count))
          << i << " " << j;
    }
  }
}

MatrixXd some_matrix(std::int64_t rows, std::int64_t columns, Rng& rng) {
  MatrixXd m(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) m(i, j) = rng.normal();
  }
  return m;
}

// Many users with the same ratings, whose rows are draws from one conditional.
struct Twins {
  static constexpr std::int32_t kItems = 23;
  static constexpr double kAlpha = 1.7;

  Twins(std::int32_t factors, bool biased, std::int64_t copies)
      : columns{factors, biased}, items(kItems * columns.gathered()) {
    Rng rng(3);
    for (float& x : items) x = static_cast<float>(0.6 * rng.normal());
    for (std::int32_t i = 0; biased && i < kItems; ++i) {
      items[i * columns.gathered() + columns.one()] = 1;
    }
    const std::vector<float> ratings = {1.5F, -0.5F, 0.25F, 2, -1, 0.75F, -2};
    for (std::int64_t u = 0; u <= copies; ++u) offsets.push_back(u * std::ssize(ratings));
    for (std::int64_t u = 0; u < copies; ++u) {
      for (std::int32_t i = 0; i < std::ssize(ratings); ++i) {
        others.push_back(3 * i);
        values.push_back(ratings[i]);
      }
    }
    const std::int32_t size = columns.drawn();
    const MatrixXd root = some_matrix(size, size + 2, rng);
    prior = {some_matrix(size, 1, rng), root * root.transpose() / size};
  }

  als::Side side() const { return {offsets, others, values, "user"}; }
  const float* item(std::int32_t i) const { return items.data() + i * columns.gathered(); }

  // (q, 1) of a rating's item, and the rating less the item's bias.
  VectorXd regressors(std::int64_t k) const {
    VectorXd q(columns.drawn());
    for (std::int32_t j = 0; j < columns.drawn(); ++j) q(j) = item(others[k])[j];
    return q;
  }
  double target(std::int64_t k) const {
    return values[k] - (columns.biased ? item(others[k])[columns.bias()] : 0.0F);
  }

  Hyper conditional() const {
    MatrixXd a = prior.precision;
    VectorXd b = prior.precision * prior.mean;
    for (std::int64_t k = 0; k < offsets[1]; ++k) {
      a += kAlpha * regressors(k) * regressors(k).transpose();
      b += kAlpha * target(k) * regressors(k);
    }
    return {a.ldlt().solve(b), a};
  }

  FactorTable draw(std::vector<double>* residuals = nullptr) {
    ThreadTeam team(2);
    std::vector<std::int64_t> all;  // every item has a rating
    for (std::int64_t i = 0; i <= kItems; ++i) all.push_back(i);
    const FactorTable from(items, columns.gathered(), {all, {}, {}}, team);
    FactorTable to(AlignedVector<float>((offsets.size() - 1) * columns.gathered()),
                   columns.gathered(), side(), team);
    const auto kernels = als::cpu::formation_kernels(choose_isa("auto"));
    const RowPrior of_rows(prior);
    const RowDraw terms(columns, kernels, of_rows, kAlpha, key_of(1, 1, Drawn::users),
                        residuals != nullptr ? residuals->data() : nullptr);
    const als::Common common = {columns.gathered(), 0, als::CenterKind::none, {}};
    als::cpu::HalfStep step(common, als::Solver::cholesky, choose_isa("auto"), team);
    step.run(side(), als::cpu::make_row_plan(side(), columns.gathered(), 2), terms, from, to, team,
             {});
    return to;
  }

  RowColumns columns;
  AlignedVector<float> items;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> others;
  std::vector<float> values;
  Hyper prior;
};

VectorXd drawn_of(const RowColumns& columns, const float* row) {
  VectorXd x(columns.drawn());
  for (std::int32_t k = 0; k < columns.drawn(); ++k) x(k) = row[columns.place(k)];
  return x;
}

TEST(RowDraw, HasTheMomentsOfTheConditional) {
  for (const bool biased : {false, true}) {
    Twins twins(5, biased, 10'000);
    FactorTable rows = twins.draw();
    Sample sample(twins.columns.drawn());
    for (std::int64_t u = 0; u < 10'000; ++u) {
      sample.add(drawn_of(twins.columns, rows.row(u)));
      if (!biased) continue;
      EXPECT_EQ(rows.row(u)[twins.columns.one()], 1);
    }
    const Hyper expected = twins.conditional();
    expect_moments(sample, expected.mean, expected.precision.inverse());
  }
}

TEST(RowDraw, KnowsItsSquaredErrors) {
  for (const bool biased : {false, true}) {
    Twins twins(6, biased, 40);
    std::vector<double> residuals(40);
    FactorTable rows = twins.draw(&residuals);
    for (std::int64_t u = 0; u < 40; ++u) {
      const VectorXd x = drawn_of(twins.columns, rows.row(u));
      double expected = 0;
      for (std::int64_t k = twins.offsets[u]; k < twins.offsets[u + 1]; ++k) {
        const double error = twins.target(k) - x.dot(twins.regressors(k));
        expected += error * error - twins.values[k] * twins.values[k];
      }
      EXPECT_NEAR(residuals[u], expected, 1e-4 * (1 + std::abs(expected)));
    }
  }
}

TEST(Prior, GammaHasItsMeanAndVariance) {
  for (const double shape : {0.5, 1.0, 3.7, 250.0}) {
    Rng rng(1);
    Sample sample(1);
    for (int i = 0; i < 100'000; ++i) sample.add(VectorXd::Constant(1, draw_gamma(shape, rng)));
    EXPECT_NEAR(sample.mean()(0), shape, 5 * std::sqrt(shape / sample.count));
    EXPECT_NEAR(sample.covariance()(0, 0), shape, 0.05 * shape + 0.02);
  }
}

// E W = nu I, Var W_ij = nu (1 + [i = j]).
TEST(Prior, BartlettIsWishart) {
  constexpr int kDraws = 20'000;
  constexpr double kNu = 6.5;
  Rng rng(2);
  MatrixXd sum = MatrixXd::Zero(4, 4);
  MatrixXd square = MatrixXd::Zero(4, 4);
  for (int i = 0; i < kDraws; ++i) {
    const MatrixXd a = draw_bartlett(4, kNu, rng);
    const MatrixXd w = a * a.transpose();
    sum += w;
    square += w.cwiseProduct(w);
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const double variance = kNu * (i == j ? 2 : 1);
      const double mean = sum(i, j) / kDraws;
      EXPECT_NEAR(mean, i == j ? kNu : 0, 5 * std::sqrt(variance / kDraws));
      EXPECT_NEAR(square(i, j) / kDraws - mean * mean, variance, 0.1 * variance);
    }
  }
}

// E Lambda = nu M^-1, E mu = s / beta, Cov mu = M / (beta (nu - d - 1)), with M written from the
// paper's equation 14.
TEST(Prior, HasTheMomentsOfTheNormalWishart) {
  constexpr int kDraws = 20'000;
  constexpr double kBeta0 = 2;
  constexpr double kNu0 = 3;
  Rng rng(4);
  const MatrixXd x = (0.5 * some_matrix(3, 40, rng)).colwise() + VectorXd::Constant(3, 0.3);
  const Moments rows = {40, x.rowwise().sum(), x * x.transpose()};
  const VectorXd mean = x.rowwise().mean();
  const MatrixXd apart = x.colwise() - mean;
  const MatrixXd m = MatrixXd::Identity(3, 3) + apart * apart.transpose() +
                     kBeta0 * 40 / (kBeta0 + 40) * mean * mean.transpose();
  MatrixXd precision = MatrixXd::Zero(3, 3);
  Sample mu(3);
  for (int i = 0; i < kDraws; ++i) {
    const Hyper hyper = draw_hyper(kBeta0, kNu0, rows, rng);
    precision += hyper.precision / kDraws;
    mu.add(hyper.mean);
  }
  const MatrixXd expected = 43 * m.inverse();
  EXPECT_LT((precision - expected).norm(), 0.01 * expected.norm());
  expect_moments(mu, 40 * mean / 42, m / (42.0 * (43 - 3 - 1)), 6);
}

TEST(Prior, AlphaHasItsMean) {
  Rng rng(5);
  Sample sample(1);
  for (int i = 0; i < 20'000; ++i) {
    sample.add(VectorXd::Constant(1, draw_alpha(30, 99, rng)));
  }
  EXPECT_NEAR(sample.mean()(0), 100.0 / 31, 0.02);
  EXPECT_NEAR(sample.covariance()(0, 0), 2 * 100.0 / (31 * 31), 0.01);
}

TEST(Prior, SquaresAreSummedTheSameByAnyNumberOfThreads) {
  std::vector<float> values;
  Rng rng(6);
  for (int i = 0; i < 200'000; ++i) values.push_back(static_cast<float>(3 + rng.normal()));
  ThreadTeam one(1);
  ThreadTeam three(3);
  const double sum = sum_of_squares(values, 3, one);
  EXPECT_EQ(sum, sum_of_squares(values, 3, three));
  EXPECT_NEAR(sum, 200'000, 3000);
}

struct Sampler : test::Trainer {
  Sampler(const Ratings& train, const Json& changes, int threads = 1)
      : Trainer(
            "bpmf_cpu", changes, train,
            [](const Ratings& ratings, const Params& of) {
              return initial_model_of(of, ratings, InitSpec{}, 1);
            },
            threads) {}
  FactorView after(std::int64_t epochs) {
    run(epochs);
    return algorithm->factors();
  }
};

double predict(const Model& m, std::int32_t user, std::int32_t item) {
  double sum = m.biased() ? m.mean + m.user_bias[user] + m.item_bias[item] : 0;
  for (std::int32_t k = 0; k < m.factors; ++k) {
    sum += static_cast<double>(m.p[std::int64_t{user} * m.factors + k]) *
           m.q[std::int64_t{item} * m.factors + k];
  }
  return sum;
}

const Json kKinds = Json::array({{{"center", "none"}, {"alpha", 2}},
                                 {{"center", "mean"}, {"alpha", 0}},
                                 {{"center", "biases"}, {"alpha", 0}}});

TEST(BpmfCpu, IsTheSameForAnyNumberOfThreads) {
  // An item with more ratings than a part.
  const Ratings train = test::planted(12'000, 30, 0.1, 7, 0.8, 0.3);
  for (Json params : kKinds) {
    params["factors"] = 6;
    Sampler one(train, params);
    Sampler three(train, params, 3);
    const Model a = copy_model(one.after(3));
    const Model b = copy_model(three.after(3));
    EXPECT_EQ(a.p, b.p);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.item_bias, b.item_bias);
  }
}

TEST(BpmfCpu, CountsDrawsAfterBurnInAndKeepsEmptyRowsAtZero) {
  const Ratings train = test::planted(60, 40, 0.3, 8, 0.8, 0.3);
  for (Json params : kKinds) {
    params["factors"] = 4;
    params["burn_in"] = 2;
    Sampler sampler(train, params);
    EXPECT_EQ(sampler.after(0).draw, 0);
    EXPECT_EQ(sampler.after(2).draw, 0);
    const FactorView view = sampler.after(3);
    EXPECT_EQ(view.draw, 3);
    const Model model = copy_model(view);
    for (std::int32_t k = 0; k < 4; ++k) {
      EXPECT_EQ(model.p[k], 0);      // user 0
      EXPECT_EQ(model.q[4 + k], 0);  // item 1
      EXPECT_NE(model.p[4 + k], 0);
    }
    if (params["center"] == "biases") {
      EXPECT_EQ(model.user_bias[0], 0);
      EXPECT_NE(model.user_bias[1], 0);
      EXPECT_NE(model.item_bias[2], 0);
    }
  }
}

// The mean of the draws' predictions comes close to the planted model, much closer than the noise.
TEST(BpmfCpu, FindsWhatWasPlanted) {
  const Ratings noisy = test::planted(300, 80, 0.4, 9, 0.8, 0.5);
  const Ratings clean = test::planted(300, 80, 0.4, 9, 0.8, 0);
  for (Json params : kKinds) {
    params["factors"] = 6;
    Sampler sampler(noisy, params);
    sampler.run(20);
    std::vector<double> mean(noisy.nnz(), 0.0);
    constexpr int kDraws = 40;
    for (int draw = 0; draw < kDraws; ++draw) {
      const Model model = copy_model(sampler.after(1));
      for (std::int64_t k = 0; k < noisy.nnz(); ++k) {
        mean[k] += predict(model, noisy[k].user, noisy[k].item) / kDraws;
      }
    }
    double square = 0;
    double with_noise = 0;
    for (std::int64_t k = 0; k < noisy.nnz(); ++k) {
      // The same pairs: the draws of noise do not depend on its size.
      ASSERT_EQ(noisy[k].item, clean[k].item);
      square += std::pow(mean[k] - clean[k].value, 2);
      with_noise += std::pow(noisy[k].value - clean[k].value, 2);
    }
    EXPECT_LT(square, 0.2 * with_noise) << params.dump();
  }
}

}  // namespace
}  // namespace mf::bpmf
