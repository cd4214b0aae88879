#include <gtest/gtest.h>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/test/reference.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "testing/models.hpp"
#include "testing/test_support.hpp"
#include "testing/trainer.hpp"

namespace mf::als {
namespace {

using test::common_of;
using test::planted;

constexpr std::int32_t kUsers = 120;
constexpr std::int32_t kItems = 70;

struct Trainer : mf::test::Trainer {
  Trainer(const Json& changes, const Ratings& ratings, int threads = 1)
      : mf::test::Trainer("als_cpu", test::papers(changes), ratings, mf::test::plain_start,
                          threads) {}
};

// The half-steps by themselves.
struct HalfSteps {
  HalfSteps(const Ratings& ratings, const Common& settings, Solver solver, int threads)
      : common(settings),
        team(threads),
        sides(test::plain_sides(ratings, team)),
        user_plan(cpu::make_row_plan(sides.users(), common.factors, threads)),
        item_plan(cpu::make_row_plan(sides.items(), common.factors, threads)),
        step(common, solver, choose_isa("auto"), team) {
    const Model start = mf::test::uniform_start(ratings, common.factors);
    x = cpu::FactorTable(start.p, common.factors, sides.users(), team);
    theta = cpu::FactorTable(start.q, common.factors, sides.items(), team);
  }
  void update_x() { step.run(sides.users(), user_plan, terms, theta, x, team, {}); }
  void update_theta() { step.run(sides.items(), item_plan, terms, x, theta, team, {}); }
  double loss() {
    const ModelShape shape = {ModelKind::plain, static_cast<std::int32_t>(sides.users().rows()),
                              static_cast<std::int32_t>(sides.items().rows()), common.factors, 0};
    const FactorView view =
        make_view(shape, Location::host, x.view().data, theta.view().data, x.view().stride);
    return objective(sides.users(), sides.items(), view, row_reg_of(common), team);
  }

  Common common;
  cpu::WeightedLambda terms{common};
  ThreadTeam team;
  Sides sides;
  cpu::RowPlan user_plan, item_plan;
  cpu::HalfStep step;
  cpu::FactorTable x, theta;
};

// After two epochs, whose last rows solve equations given the first rows.
Model trained(const Ratings& train, std::int64_t factors, const char* center, double power,
              const char* solver, const char* first) {
  Trainer trainer({{"factors", factors},
                   {"center", center},
                   {"reg", 0.7},
                   {"reg_power", power},
                   {"first", first},
                   {"solver", solver},
                   {"cg_steps", 30},
                   {"cg_tolerance", 1e-6}},
                  train, 2);
  trainer.run(2);
  return trainer.model();
}

TEST(AlsCpu, RegPowerAndTheFirstSideChangeTheEquations) {
  const Ratings train = planted(kUsers, kItems, 0.3, 11);
  ThreadTeam team(2);
  const Sides sides = test::plain_sides(train, team);
  const std::int64_t f = 6;
  for (const double power : {0.0, 0.5, 1.0, 1.5}) {
    for (const char* solver : {"lu", "cholesky", "cg"}) {
      for (const char* first : {"users", "items"}) {
        const Model m = trained(train, f, "none", power, solver, first);
        const bool items_last = first == std::string("users");
        const Side side = items_last ? sides.items() : sides.users();
        const float* solved = items_last ? m.q.data() : m.p.data();
        const float* other = items_last ? m.p.data() : m.q.data();
        for (std::int64_t row = 0; row < side.rows(); ++row) {
          if (side.length(row) == 0) continue;
          const auto exact =
              test::solve(test::normal_equations(side, row, other, f, f, {0.7, power}));
          for (std::int64_t k = 0; k < f; ++k) {
            EXPECT_NEAR(solved[row * f + k], exact[k], 1e-3) << power << solver << first << row;
          }
        }
      }
    }
  }
}

// The other side's rows with a last column of ones, and ratings less the mean and the other side's
// biases. Both follow from the model, mu + b_u + c_i + p.q.
struct Extended {
  Extended(const Side& side, const Model& m, bool users) : values(side.values.size()) {
    const auto& other = users ? m.q : m.p;
    const auto& other_bias = users ? m.item_bias : m.user_bias;
    for (std::int64_t k = 0; k < side.nnz(); ++k) {
      values[k] = static_cast<float>(side.values[k] - m.mean - other_bias[side.others[k]]);
    }
    for (std::size_t row = 0; row < other_bias.size(); ++row) {
      const auto at = other.begin() + static_cast<std::int64_t>(row) * m.factors;
      others.insert(others.end(), at, at + m.factors);
      others.push_back(1);
    }
  }
  AlignedVector<float> values;
  std::vector<float> others;
};

TEST(AlsCpu, ASolvedBiasIsAnUnknownOfItsRow) {
  const Ratings train = planted(kUsers, kItems, 0.3, 11);
  ThreadTeam team(2);
  const Sides sides = test::plain_sides(train, team);
  const std::int32_t f = 6;
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const char* first : {"users", "items"}) {
      for (const double power : {0.5, 1.0}) {
        const Model m = trained(train, f, "solved", power, solver, first);
        EXPECT_EQ(m.kind, ModelKind::biased);
        EXPECT_EQ(m.factors, f);
        EXPECT_NEAR(m.mean, mean_rating(train), 1e-12);
        const bool users = first == std::string("items");  // the side solved last
        Side side = users ? sides.users() : sides.items();
        const Extended extended(side, m, users);
        side.values = extended.values;
        for (std::int64_t row = 0; row < side.rows(); ++row) {
          const float bias = (users ? m.user_bias : m.item_bias)[row];
          if (side.length(row) == 0) {
            EXPECT_EQ(bias, 0.0F);
            continue;
          }
          const auto exact = test::solve(test::normal_equations(side, row, extended.others.data(),
                                                                f + 1, f + 1, {0.7, power}));
          const float* solved = (users ? m.p : m.q).data() + row * f;
          for (std::int64_t k = 0; k < f; ++k) {
            EXPECT_NEAR(solved[k], exact[k], 1e-3) << solver << first << row;
          }
          EXPECT_NEAR(bias, exact[f], 1e-3) << solver << first << row;
        }
      }
    }
  }
}

TEST(AlsCpu, SolvedBiasesStartFromTheBiasesOfTheRatings) {
  const Ratings train = planted(kUsers, kItems, 0.3, 12);
  Trainer kept({{"factors", 3}, {"center", "biases"}}, train);
  Trainer solved({{"factors", 3}, {"center", "solved"}}, train);
  EXPECT_EQ(solved.model().user_bias, kept.model().user_bias);
  solved.run(1);
  kept.run(1);
  EXPECT_NE(solved.model().user_bias, kept.model().user_bias);
}

// CG is exact after about as many steps as a row has ratings.
TEST(AlsCpu, EveryRowSolvesItsEquations) {
  const Ratings train = planted(3, 40, 0.8, 14);
  for (const Solver solver : {Solver::lu, Solver::cholesky, Solver::cg}) {
    for (const std::int32_t f : {1, 7, 32, 50, 257, 300, 1000, 2048}) {
      Common common = common_of(f, 0.1);
      common.cg = {60, 1e-6};
      HalfSteps als(train, common, solver, 2);
      als.update_x();
      const cpu::FactorRows theta = als.theta.view();
      for (std::int32_t u = 1; u < 3; ++u) {
        const auto system = test::normal_equations(als.sides.users(), u, theta.data, theta.stride,
                                                   f, row_reg_of(common));
        EXPECT_LT(test::residual(system, als.x.row(u)), 1e-4) << u << " f " << f;
      }
    }
  }
}

TEST(AlsCpu, NoHalfStepRaisesTheObjective) {
  const Ratings train = planted(kUsers, kItems, 0.3, 2);
  for (const auto& [solver, power] : {std::pair{Solver::lu, 1.0}, std::pair{Solver::cholesky, 0.5},
                                      std::pair{Solver::cg, 1.0}, std::pair{Solver::cg, 0.0}}) {
    Common common = common_of(10, 0.05);
    common.reg_power = power;
    HalfSteps als(train, common, solver, 2);
    double last = als.loss();
    const double first = last;
    for (int k = 0; k < 8; ++k) {
      als.update_x();
      const double after_x = als.loss();
      EXPECT_LE(after_x, last * (1 + 1e-6)) << k;
      als.update_theta();
      last = als.loss();
      EXPECT_LE(last, after_x * (1 + 1e-6)) << k;
    }
    EXPECT_LT(last, 0.5 * first);
  }
}

// User 0 has 20,000 ratings and the others 3: with more than one thread, all work on the long row.
Ratings with_giant() {
  std::vector<Rating> list;
  Rng rng(8);
  for (std::int32_t i = 0; i < 20'000; ++i) {
    list.push_back({0, i, static_cast<float>(1 + rng.below(5))});
  }
  for (std::int32_t u = 1; u < 500; ++u) {
    const auto first = static_cast<std::int32_t>(rng.below(15'000));
    for (std::int32_t k = 0; k < 3; ++k) {
      list.push_back({u, first + 1 + 1000 * k, static_cast<float>(1 + rng.below(5))});
    }
  }
  return test::ratings_of(500, 20'000, list);
}

TEST(AlsCpu, ThreadsDoNotChangeTheResult) {
  const Ratings train = with_giant();
  ThreadTeam team(2);
  EXPECT_EQ(cpu::make_row_plan(test::plain_sides(train, team).users(), 20, 2).shared, 1);
  for (const auto& [solver, center] : {std::pair{"cholesky", "biases"}, std::pair{"cg", "biases"},
                                       std::pair{"cholesky", "solved"}}) {
    const Json changes = {{"factors", 20}, {"solver", solver}, {"center", center}};
    Trainer one(changes, train, 1);
    one.run(2);
    const Model expected = one.model();
    for (const int threads : {2, 5}) {
      Trainer several(changes, train, threads);
      several.run(2);
      SCOPED_TRACE(testing::Message() << solver << " " << threads);
      mf::test::expect_same(several.model(), expected);
    }
  }
}

TEST(AlsCpu, RowsWithoutRatingsAreZero) {
  const Ratings train = planted(kUsers, kItems, 0.2, 4);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    Trainer trainer({{"factors", 5}, {"solver", solver}}, train);
    trainer.run(2);
    const Model m = trainer.model();
    for (int k = 0; k < 5; ++k) {
      EXPECT_EQ(m.p[k], 0.0F);      // user 0
      EXPECT_EQ(m.q[5 + k], 0.0F);  // item 1
      EXPECT_NE(m.p[5 + k], 0.0F);  // user 1
      EXPECT_TRUE(std::isfinite(m.q[k]));
    }
  }
}

TEST(AlsCpu, AMatrixWithoutRatingsRuns) {
  const Ratings train = test::ratings_of(4, 3, {});
  for (const char* center : {"biases", "solved"}) {
    Trainer trainer({{"factors", 5}, {"center", center}}, train, 2);
    trainer.run(1);
    EXPECT_EQ(trainer.updates, 0);
    for (const float x : trainer.model().p) EXPECT_EQ(x, 0.0F);
    EXPECT_EQ(trainer.model().user_bias, AlignedVector<float>(4, 0.0F));
  }
}

TEST(AlsCpu, FindsAPlantedModel) {
  const Ratings all = planted(400, 150, 0.4, 5);
  Dataset data;
  data.ratings = all;
  const Split split = make_split(data, SplitSpec{}, 1);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const char* center : {"none", "mean", "biases", "solved"}) {
      Trainer trainer({{"factors", 6}, {"reg", 0.003}, {"solver", solver}, {"center", center}},
                      split.train, 2);
      trainer.run(15);
      // The noise is 0.05, the planted products have a standard deviation of 1.1.
      EXPECT_LT(test::rmse(trainer.algorithm->factors(), split.test), 0.1) << solver << center;
      EXPECT_EQ(trainer.updates, 15 * 2 * split.train.nnz());
    }
  }
}

TEST(AlsCpu, TheModelHasACenterOnlyWhereOneIsRemoved) {
  const Ratings train = planted(kUsers, kItems, 0.2, 6);
  Trainer none({{"factors", 4}}, train);
  EXPECT_EQ(none.algorithm->factors().user_bias, nullptr);
  EXPECT_EQ(none.algorithm->factors().mean, 0);
  Trainer mean({{"factors", 4}, {"center", "mean"}}, train);
  EXPECT_NEAR(mean.algorithm->factors().mean, mean_rating(train), 1e-12);
  EXPECT_EQ(mean.model().user_bias, AlignedVector<float>(kUsers, 0.0F));
}

TEST(AlsCpu, NamesItsPhasesInTheOrderOfTheHalfSteps) {
  struct Phases : PhaseSink {
    void begin(const char* phase) override { told += std::string(phase) + "("; }
    void end() override { told += ")"; }
    std::string told;
  };
  const Ratings train = planted(kUsers, kItems, 0.2, 7);
  for (const auto& [first, order] : {std::pair{"users", "update_x()update_theta()"},
                                     std::pair{"items", "update_theta()update_x()"}}) {
    Trainer trainer({{"factors", 4}, {"first", first}}, train);
    Phases phases;
    trainer.context.phases = &phases;
    trainer.run(1);
    EXPECT_EQ(phases.told, order);
    EXPECT_EQ(trainer.updates, 2 * train.nnz());
  }
}

TEST(AlsCpu, StopsEarlyWhenAsked) {
  const Ratings train = planted(kUsers, kItems, 0.2, 7);
  Trainer trainer({{"factors", 4}}, train);
  const Model before = trainer.model();
  trainer.context.stop_requested = [] { return true; };
  trainer.run(1);
  EXPECT_EQ(trainer.updates, 0);
  EXPECT_EQ(trainer.model().q, before.q);
}

// ---- parameters

TEST(AlsParams, AnExactSolverNeedsARegularizer) {
  const AlgorithmInfo& info = find_algorithm("als_cpu");
  const ProblemShape shape = {10, 10, 50};
  const auto why = [&](const Json& changes) {
    return info.supports(default_params(info.params, changes), shape);
  };
  EXPECT_FALSE(why({{"solver", "lu"}}));
  EXPECT_FALSE(why({{"reg", 0}, {"solver", "cg"}}));
  EXPECT_HAS(why({{"reg", 0}}).value_or(""), "cholesky");
}

TEST(AlsParams, ASolvedBiasIsOneOfTheUnknowns) {
  const AlgorithmInfo& info = find_algorithm("als_cpu");
  const auto why = [&](std::int64_t factors, const char* center) {
    const Json changes = {{"factors", factors}, {"center", center}};
    return info.supports(default_params(info.params, changes), {10, 10, 50});
  };
  EXPECT_FALSE(why(kMaxFactors, "biases"));
  EXPECT_FALSE(why(kMaxFactors - 1, "solved"));
  EXPECT_HAS(why(kMaxFactors, "solved").value_or(""), "use 2047 factors or fewer");
}

TEST(AlsParams, SaysWhereASystemIsSingular) {
  const Ratings train = test::ratings_of(2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 3}});
  Common common = common_of(4, 0);
  HalfSteps als(train, common, Solver::cholesky, 1);
  for (std::int64_t item = 0; item < 2; ++item) std::fill_n(als.theta.row(item), 4, 1.0F);
  const Error error = mf::test::error_of([&] { als.update_x(); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_HAS(error.what(), "reg");
}

TEST(AlsWork, CountsWhatTheReadmeDerives) {
  const Ratings train = test::ratings_of(3, 2, {{0, 0, 1}, {0, 1, 2}, {2, 0, 6}});
  const RatedShape rated = rated_shape(train);
  Common common = common_of(4, 0.1);
  const Work cholesky = iteration_work(common, Solver::cholesky, rated.nnz, rated.rows);
  EXPECT_EQ(cholesky.updates, 6);
  EXPECT_DOUBLE_EQ(cholesky.bytes, 6 * 8 + 4 * (8 + 2 * 16));  // 2 users and 2 items have ratings
  EXPECT_DOUBLE_EQ(cholesky.flops, 6 * (4 * 5 + 8) + 4 * (4 + 64.0 / 3 + 32));
  common.cg.steps = 2;
  const Work cg = iteration_work(common, Solver::cg, rated.nnz, rated.rows);
  EXPECT_DOUBLE_EQ(cg.bytes, 6 * 8 + 4 * (8 + 3 * 16));
  EXPECT_DOUBLE_EQ(cg.flops, 6 * (4 * 5 + 8) + 4 * (4 + 32 + 12 + 2 * (32 + 40)));
  EXPECT_DOUBLE_EQ(updates_of_epoch(find_algorithm("als_cpu"), {3, 2, 3}), 6);
}

}  // namespace
}  // namespace mf::als
