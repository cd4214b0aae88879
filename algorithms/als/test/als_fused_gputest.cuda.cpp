// als_fused against double precision and against als_cpu.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/als/fused/group.hpp"
#include "algorithms/als/fused/steps.hpp"
#include "algorithms/als/test/group_element.hpp"
#include "algorithms/als/test/objective.hpp"
#include "algorithms/als/test/plan_fused.hpp"
#include "algorithms/als/test/reference.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::als {
namespace {

Params fused(const Json& changes) {
  return default_params(find_algorithm("als_fused").params, test::papers(changes));
}

Model start(const Ratings& train, std::int32_t factors) {
  InitSpec init;
  init.scale = 0.5;
  return initial_model(train.n_users(), train.n_items(), factors, ModelKind::plain, 0, init, 1);
}

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// |v - w| / |w|
template <class V, class W>
double difference(const V& v, const W& w) {
  EXPECT_EQ(v.size(), w.size());
  std::vector<double> gap;
  std::vector<double> whole;
  for (std::size_t i = 0; i < v.size(); ++i) {
    gap.push_back(static_cast<double>(v[i]) - w[i]);
    whole.push_back(w[i]);
  }
  const double size = norm(whole);
  return size == 0 ? norm(gap) : norm(gap) / size;
}

// Norm of sum |r| |theta|: rounding of b is relative to its terms, which may cancel.
double terms_of_b(const Side& side, std::int64_t row, const Model& initial) {
  const std::int64_t f = initial.factors;
  std::vector<double> sum(f, 0.0);
  for (std::int64_t k = side.offsets[row]; k < side.offsets[row + 1]; ++k) {
    for (std::int64_t i = 0; i < f; ++i) {
      sum[i] += std::abs(static_cast<double>(side.values[k]) * initial.q[side.others[k] * f + i]);
    }
  }
  return norm(sum);
}

// The layout of a task's sums in its slot: see FusedMap and Accumulators, and group.hpp.
class Kept {
 public:
  Kept(int factors, bool two_words, bool group)
      : group_(group),
        tiles_(fused_tiles(factors)),
        warps_(fused_warps(tiles_, two_words)),
        map_(fused_map(tiles_, warps_)),
        rating_at_(factors <= tiles_ * kFusedTile - 8 ? tiles_ * kFusedTile - 8 : -1) {}

  // i >= j, or in one block.
  float a(const float* slot, int i, int j) const {
    if (group_) return slot[test::group_element_at(i, j)];
    const int row = i / 16;
    const int block = map_.first_slot[row] + j / 16;
    return slot[at(row, block * 8 + j % 2 + i % 16 / 8 * 2 + j % 16 / 8 * 4,
                   i % 8 * 4 + j % 8 / 2)];
  }
  float b(const float* slot, int i) const {
    if (group_) return slot[group_b_at(i)];
    if (rating_at_ >= 0) return a(slot, rating_at_, i) + a(slot, rating_at_ + 1, i);
    const int row = i / 16;
    const int first = map_.slots * 8 + map_.ordinal[row] * 4 + i % 16 / 8 * 2;
    return slot[at(row, first, i % 8 * 4)] + slot[at(row, first + 1, i % 8 * 4)];
  }

 private:
  int at(int row, int number, int lane) const {
    return (number * warps_ + map_.warp[row]) * 32 + lane;
  }

  bool group_;
  int tiles_, warps_;
  FusedMap map_;
  int rating_at_;
};

// A_u without lambda (rows x f x f) and b_u (rows x f) of the users, formed from `initial`.
struct Formed {
  AlignedVector<double> a, b;
};

Formed form(const Ratings& train, const Model& initial, const Params& params) {
  ThreadTeam team(2);
  cuda::Stream stream;
  Context context;
  context.team = &team;
  context.stream = stream.get();
  const Sides sides = test::plain_sides(train, team);
  const FusedSettings settings = read_fused_settings(params);
  cuda::DeviceRatings ratings(train, team, stream.get());
  FusedSteps steps(settings, ratings, {}, initial, context);
  test::FusedPlan plan = test::plan_fused(sides.users().offsets, settings.split_rows);
  const auto tasks_count = static_cast<std::int32_t>(plan.tasks.size());
  for (std::int32_t i = 0; i < tasks_count; ++i) {
    plan.tasks[i].parts = 1;
    plan.tasks[i].part = 0;
    plan.tasks[i].first_slot = i;
  }
  const auto tasks = cuda::upload(View<const FusedTask>(plan.tasks), stream.get());
  const std::int64_t floats = fused_slot_floats(settings.precision, steps.rule());
  cuda::DeviceBuffer<float> slots(tasks_count * floats);
  MF_CUDA(cudaMemsetAsync(slots.data(), 0xff, slots.bytes(), stream.get()));  // NaN
  FusedSide side = steps.users_side();
  side.tasks = tasks.data();
  side.scratch = slots.data();
  side.keep = true;
  launch_fused(settings.precision, steps.rule(), side, stream.get());
  std::vector<float> kept(slots.size());
  cuda::download(View<float>(kept), slots.data(), stream.get());
  const std::int64_t f = initial.factors;
  Formed out{AlignedVector<double>(train.n_users() * f * f, 0.0),
             AlignedVector<double>(train.n_users() * f, 0.0)};
  const Kept layout(initial.factors, settings.precision == FusedPrecision::fp16x2,
                    steps.rule().group);
  for (std::int32_t task = 0; task < tasks_count; ++task) {
    const float* slot = kept.data() + task * floats;
    const std::int32_t row = plan.tasks[task].row;
    for (int i = 0; i < f; ++i) {
      out.b[row * f + i] += layout.b(slot, i);
      for (int j = 0; j < f; ++j) {
        out.a[(row * f + i) * f + j] += layout.a(slot, std::max(i, j), std::min(i, j));
      }
    }
  }
  return out;
}

class FusedFactors : public testing::TestWithParam<int> {};

// Precisions and products to be tested: "auto" is a group of warps if `factors` and the device have
// its kernel.
struct Way {
  const char* precision;
  const char* products;
  const char* normal = "formed";
};
std::vector<Way> formed_ways(int factors) {
  std::vector<Way> all = {{"fp16", "warp"}, {"fp16x2", "warp"}};
  if (fused_tiles(factors) == kGroupTiles && has_group_kernel()) all.push_back({"fp16", "auto"});
  return all;
}
std::vector<Way> ways(int factors) {
  std::vector<Way> all = formed_ways(factors);
  all.push_back({"fp16", "auto", "applied"});
  all.push_back({"fp16", "auto", "auto"});
  return all;
}
std::string name_of(const Way& way) {
  return std::string(way.precision) + ", " + way.normal + ", products " + way.products;
}
Json with_way(Json changes, const Way& way) {
  changes["precision"] = way.precision;
  changes["products"] = way.products;
  changes["normal"] = way.normal;
  return changes;
}

TEST_P(FusedFactors, SystemsAreThoseOfDoublePrecision) {
  const int f = GetParam();
  const Ratings train = test::planted(40, 300, 0.2, 3);  // rows of none, about 60, and 299
  const Model initial = start(train, f);
  ThreadTeam team(1);
  const Sides sides = test::plain_sides(train, team);
  for (const Way& way : formed_ways(f)) {
    for (const int longest : {32, 100, 8192}) {
      const Params params = fused(with_way({{"factors", f}, {"split_rows", longest}}, way));
      const Formed formed = form(train, initial, params);
      const double most = way.precision == std::string("fp16") ? 5e-3 : 1e-5;
      for (std::int64_t row = 0; row < train.n_users(); ++row) {
        const auto expected = test::normal_equations(sides.users(), row, initial.q.data(), f, f, 0);
        const std::int64_t at = row * f;
        const std::vector<double> a(formed.a.begin() + at * f, formed.a.begin() + (at + f) * f);
        const std::vector<double> b(formed.b.begin() + at, formed.b.begin() + at + f);
        ASSERT_LT(difference(a, expected.a), most)
            << name_of(way) << " row " << row << " " << longest;
        ASSERT_LT(difference(b, expected.b) * norm(expected.b),
                  most * (terms_of_b(sides.users(), row, initial) + 1e-30))
            << name_of(way) << " row " << row << " " << longest;
      }
    }
  }
}

// An iteration of als_cpu with as many steps of CG.
Model cpu_iteration(const Ratings& train, const Model& initial, Json common) {
  common["solver"] = "cg";
  cuda::TestRunner host("als_cpu",
                        default_params(find_algorithm("als_cpu").params, test::papers(common)),
                        train, initial);
  host.run(1, 1, 0);
  return copy_model(host.algorithm->factors());
}

// CG that has not converged depends on rounding in the directions that matter least; its objective
// does not.
void expect_iteration(const Model& got, const Model& expected, const Ratings& train,
                      const Json& changes, const std::string& what) {
  EXPECT_LT(difference(got.p, expected.p), 5e-2) << what;
  EXPECT_LT(difference(got.q, expected.q), 5e-2) << what;
  const Params params = fused(changes);
  const double most = params.choice("precision") == "fp16" ? 5e-3 : 1e-3;
  const Common settings = read_common(params);
  const double objective = test::objective_of(train, settings, expected);
  EXPECT_NEAR(test::objective_of(train, settings, got), objective, most * objective) << what;
}

TEST_P(FusedFactors, AnIterationIsThatOfTheCpu) {
  const int f = GetParam();
  const Ratings train = test::planted(70, 90, 0.3, 5);
  const Model initial = start(train, f);
  for (const char* center : {"none", "mean", "biases"}) {
    const Json common = {{"factors", f}, {"center", center}, {"cg_tolerance", 0}, {"cg_steps", 6}};
    const Model expected = cpu_iteration(train, initial, common);
    for (const Way& way : ways(f)) {
      Json changes = with_way(common, way);
      changes["split_rows"] = 32;
      cuda::TestRunner device("als_fused", fused(changes), train, initial);
      EXPECT_EQ(device.run(1, 1, 0), 2 * train.nnz());
      const Model got = device.model();
      expect_iteration(got, expected, train, changes, changes.dump());
      EXPECT_TRUE(device.padding_is_zero);
      EXPECT_EQ(got.kind, expected.kind);
      EXPECT_EQ(got.user_bias.size(), expected.user_bias.size());
      EXPECT_LT(difference(got.user_bias, expected.user_bias), 1e-6);
      EXPECT_LT(difference(got.item_bias, expected.item_bias), 1e-6);
    }
  }
}

// For formed and for applied rows. The f + 1 unknowns end at a tile's end and beyond it. CG takes
// enough steps to converge.
TEST(AlsFused, SolvedBiasesAreThoseOfTheCpu) {
  const Ratings train = test::planted(70, 90, 0.3, 25);
  for (const int f : {6, 31, 32, 63, 99, 112, 127, 191, 255, 300}) {
    const Model initial = start(train, f);
    for (const char* first : {"users", "items"}) {
      const Json common = {{"factors", f}, {"center", "solved"}, {"first", first},
                           {"reg", 0.3},   {"cg_tolerance", 0},  {"cg_steps", 30}};
      const Model expected = cpu_iteration(train, initial, common);
      const std::vector<Way> rows = {{"fp16", "auto", "applied"}, {"fp16", "auto", "auto"}};
      for (const Way& way : f < kMostFormedFactors ? ways(f + 1) : rows) {
        Json changes = with_way(common, way);
        changes["split_rows"] = 32;
        cuda::TestRunner device("als_fused", fused(changes), train, initial);
        EXPECT_EQ(device.run(1, 1, 0), 2 * train.nnz());
        const Model got = device.model();
        EXPECT_EQ(got.kind, ModelKind::biased);
        EXPECT_EQ(got.factors, f);
        expect_iteration(got, expected, train, changes, changes.dump());
        EXPECT_LT(difference(got.user_bias, expected.user_bias), 5e-2) << changes.dump();
        EXPECT_LT(difference(got.item_bias, expected.item_bias), 5e-2) << changes.dump();
      }
    }
  }
}

// The second epoch subtracts other biases from the ratings than the first.
TEST(AlsFused, SolvedBiasesGoOnFromTheLast) {
  const Ratings train = test::planted(70, 90, 0.3, 26);
  const Json common = {{"factors", 12}, {"center", "solved"}, {"reg", 0.3}};
  const Model initial = start(train, 12);
  cuda::TestRunner host("als_cpu",
                        default_params(find_algorithm("als_cpu").params, test::papers(common)),
                        train, initial);
  host.run(1, 8, 0);
  Json changes = common;
  changes["precision"] = "fp16x2";
  changes["cg_steps"] = 20;
  cuda::TestRunner device("als_fused", fused(changes), train, initial);
  device.run(1, 8, 0);
  EXPECT_NEAR(test::rmse(device.model().view(), train),
              test::rmse(host.algorithm->factors(), train), 1e-3);
}

// Every kernel has the diagonal's weight for itself: formed by warps and by groups, and applied.
TEST_P(FusedFactors, RegPowerAndTheFirstSideAreThoseOfTheCpu) {
  const int f = GetParam();
  const Ratings train = test::planted(70, 90, 0.3, 15);
  const Model initial = start(train, f);
  for (const double power : {0.0, 0.5}) {
    for (const char* first : {"users", "items"}) {
      const Json common = {{"factors", f},   {"reg", 2},         {"reg_power", power},
                           {"first", first}, {"center", "none"}, {"cg_tolerance", 0},
                           {"cg_steps", 6}};
      const Model expected = cpu_iteration(train, initial, common);
      for (const Way& way : ways(f)) {
        Json changes = with_way(common, way);
        changes["split_rows"] = 32;
        cuda::TestRunner device("als_fused", fused(changes), train, initial);
        EXPECT_EQ(device.run(1, 1, 0), 2 * train.nnz());
        expect_iteration(device.model(), expected, train, changes, changes.dump());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Factors, FusedFactors,
                         testing::Values(1, 7, 32, 33, 64, 100, 104, 112, 113, 128, 150, 192, 200,
                                         256));

// Users of up to 270 ratings, one to five tiles.
Ratings uneven(std::int32_t users) {
  const Ratings even = test::planted(users, 300, 0.9, 9);
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < even.nnz(); ++k) {
    const Rating r = even[k];
    if (r.item < (r.user % 5 + 1) * 60) list.push_back(r);
  }
  return test::ratings_of(users, even.n_items(), list);
}

// Only `count` users.
Ratings slice_of(const Ratings& train, std::int32_t first, std::int32_t count) {
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    const Rating r = train[k];
    if (r.user >= first && r.user < first + count) {
      list.push_back({r.user - first, r.item, r.value});
    }
  }
  return test::ratings_of(count, train.n_items(), list);
}

// X after the first half-step.
std::vector<float> first_x(const Ratings& train, const Model& initial, const Params& params) {
  ThreadTeam team(2);
  cuda::Stream stream;
  Context context;
  context.team = &team;
  context.stream = stream.get();
  cuda::DeviceRatings ratings(train, team, stream.get());
  FusedSteps steps(read_fused_settings(params), ratings, {}, initial, context);
  steps.update_x(stream.get());
  std::vector<float> x(train.n_users() * steps.stride());
  cuda::download(View<float>(x), steps.x(), stream.get());
  return x;
}

class FusedTurns : public testing::TestWithParam<int> {};

// Many more rows than thread blocks; and few, a block each, which other tests compare with the CPU.
TEST_P(FusedTurns, ARowDoesNotDependOnWhatItsBlockDidBefore) {
  const int f = GetParam();
  const std::int32_t rows = f <= 64 ? 7000 : f <= 128 ? 3000 : 800;
  const Ratings train = uneven(rows);
  const Model initial = start(train, f);
  for (const Way& way : ways(f)) {
    const Params params = fused(with_way({{"factors", f}, {"split_rows", 250}}, way));
    const std::vector<float> together = first_x(train, initial, params);
    const std::int64_t stride = std::ssize(together) / rows;
    for (const std::int32_t first : {0, rows / 2, rows - 60}) {
      const Ratings few = slice_of(train, first, 60);
      Model part = start(few, f);
      part.q = initial.q;
      std::copy_n(initial.p.begin() + std::int64_t{first} * f, part.p.size(), part.p.begin());
      const std::vector<float> alone = first_x(few, part, params);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + first * stride))
          << name_of(way) << " rows from " << first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Factors, FusedTurns, testing::Values(32, 64, 100, 128, 192, 256));

// Rows of every length up to more than a block holds, by every number of warps, and parts of long
// ones: applied equals formed, up to the rounding of A to fp16.
TEST(AlsFused, AppliedRowsAreThoseThatAreFormed) {
  for (const int f : {8, 64, 100, 128, 200, 256}) {
    const std::int32_t users = 460;
    const Ratings even = test::planted(users, 1000, 0.95, 9);
    std::vector<Rating> list;
    for (std::int64_t k = 0; k < even.nnz(); ++k) {
      const Rating r = even[k];
      if (r.item < (r.user < 450 ? r.user * 2 : 1000)) list.push_back(r);
    }
    const Ratings train = test::ratings_of(users, even.n_items(), list);
    const Model initial = start(train, f);
    for (const int longest : {40, 900, 8192}) {
      const auto solve = [&](const char* normal, const char* precision) {
        return first_x(train, initial,
                       fused({{"factors", f},
                              {"precision", precision},
                              {"normal", normal},
                              {"split_rows", longest},
                              {"cg_tolerance", 0}}));
      };
      const std::vector<float> exact = solve("formed", "fp16x2");
      const std::vector<float> formed = solve("formed", "fp16");
      const std::vector<float> applied = solve("applied", "fp16");
      const std::vector<float> automatic = solve("auto", "fp16");
      const double rounding = difference(formed, exact);
      EXPECT_LT(difference(applied, exact), rounding + 1e-3) << f << " " << longest;
      EXPECT_LT(difference(automatic, exact), rounding + 1e-3) << f << " " << longest;
      EXPECT_NE(applied, formed) << f << " " << longest;
    }
  }
}

// So little lambda that they are not solved in the space of their pairs, and so few ratings that CG
// ends at the tolerance before its steps do.
TEST(AlsFused, ShortRowsWithoutRegEndInNumbers) {
  const Ratings train = test::planted(300, 90, 0.05, 21);
  for (const int f : {64, 200}) {
    for (const double reg : {0.0, 1e-6}) {
      const std::vector<float> x = first_x(
          train, start(train, f), fused({{"factors", f}, {"reg", reg}, {"normal", "applied"}}));
      for (const float number : x) ASSERT_LT(std::abs(number), 1e3) << f << " " << reg;
    }
  }
}

// More factors than A can be formed for: rows of about 20 ratings stay in shared memory, rows of
// about 420 do not. Ratings beyond 512, reg_power and centers are as below.
TEST(AlsFused, LongRowsAreThoseOfTheCpu) {
  const Ratings train = test::planted(30, 700, 0.6, 18);
  for (const int f : {257, 320, 511}) {
    const Model initial = start(train, f);
    for (const char* center : {"none", "biases"}) {
      for (const double power : {1.0, 0.5}) {
        const Json common = {{"factors", f},       {"center", center},  {"reg", 1},
                             {"reg_power", power}, {"cg_tolerance", 0}, {"cg_steps", 6}};
        const Model expected = cpu_iteration(train, initial, common);
        for (const char* normal : {"auto", "applied"}) {
          Json changes = common;
          changes["normal"] = normal;
          changes["split_rows"] = 32;  // of no meaning
          cuda::TestRunner device("als_fused", fused(changes), train, initial);
          EXPECT_EQ(device.run(1, 1, 0), 2 * train.nnz());
          expect_iteration(device.model(), expected, train, changes, changes.dump());
          EXPECT_TRUE(device.padding_is_zero);
        }
      }
    }
  }
}

// Against the equations in double precision, of factors that are numbers of fp16.
TEST(AlsFused, ManyStepsSolveLongRows) {
  ThreadTeam team(1);
  // Rows of every number of warps, and longer than a block holds.
  std::vector<Rating> list;
  const Ratings even = test::planted(14, 800, 1, 19);
  for (std::int64_t k = 0; k < even.nnz(); ++k) {
    if (even[k].item < even[k].user * even[k].user * 4) list.push_back(even[k]);
  }
  const Ratings train = test::ratings_of(14, 800, list);
  const Sides sides = test::plain_sides(train, team);
  for (const int f : {257, 512}) {
    Model initial = start(train, f);
    for (float& x : initial.q) x = __half2float(__float2half_rn(x));
    const Params params =
        fused({{"factors", f}, {"reg", 1}, {"cg_steps", 100}, {"cg_tolerance", 0}});
    const std::vector<float> x = first_x(train, initial, params);
    const std::int64_t stride = std::ssize(x) / train.n_users();
    for (std::int64_t row = 0; row < train.n_users(); ++row) {
      if (sides.users().length(row) == 0) continue;
      const auto system = test::normal_equations(sides.users(), row, initial.q.data(), f, f, 1);
      EXPECT_LT(test::residual(system, x.data() + row * stride), 1e-3) << f << " row " << row;
    }
    EXPECT_EQ(first_x(train, initial, params), x) << "another run";
  }
}

// CG that ends early ends in both alike.
TEST(AlsFused, AppliedRowsEndAtTheTolerance) {
  const int f = 64;
  const Ratings train = test::planted(70, 90, 0.3, 5);
  const Model initial = start(train, f);
  const auto solve = [&](int steps, double tolerance) {
    return first_x(train, initial,
                   fused({{"factors", f},
                          {"normal", "applied"},
                          {"cg_steps", steps},
                          {"cg_tolerance", tolerance}}));
  };
  EXPECT_EQ(solve(9, 1e6), solve(1, 0));  // one step, whatever is left
  EXPECT_NE(solve(9, 1e6), solve(9, 0));
}

TEST(AlsFused, ManyStepsOfCgAreTheExactSolution) {
  const int f = 24;
  const Ratings train = test::planted(60, 80, 0.5, 6);
  const Model initial = start(train, f);
  cuda::TestRunner host(
      "als_cpu", default_params(find_algorithm("als_cpu").params, test::papers({{"factors", f}})),
      train, initial);
  host.run(1, 1, 0);
  const Model expected = copy_model(host.algorithm->factors());
  cuda::TestRunner device(
      "als_fused",
      fused({{"factors", f}, {"precision", "fp16x2"}, {"cg_steps", 3 * f}, {"cg_tolerance", 1e-5}}),
      train, initial);
  device.run(1, 1, 0);
  const Model got = device.model();
  EXPECT_LT(difference(got.p, expected.p), 1e-3);
  EXPECT_LT(difference(got.q, expected.q), 1e-3);
}

TEST(AlsFused, RowsWithoutRatingsAreZeroAndRunsAreEqual) {
  const Ratings train = test::planted(50, 4000, 0.1, 8);
  const Model initial = start(train, 100);
  const Params params = fused({{"factors", 100}, {"split_rows", 64}});
  std::vector<Model> models;
  for (int run = 0; run < 2; ++run) {
    cuda::TestRunner device("als_fused", params, train, initial);
    device.run(1, 3, 0);
    models.push_back(device.model());
  }
  EXPECT_EQ(models[0].p, models[1].p);
  EXPECT_EQ(models[0].q, models[1].q);
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(models[0].p[k], 0.0F);        // user 0
    EXPECT_EQ(models[0].q[100 + k], 0.0F);  // item 1
  }
}

// Pieces of one row and without ratings, of uneven numbers of rows, and one of all; rows that are
// longer than a piece, formed in parts, formed and applied.
TEST(AlsFused, StreamedRatingsGiveTheSameFactors) {
  const Ratings train = uneven(300);
  for (const int f : {24, 100, 200, 300}) {
    const Model initial = start(train, f);
    for (const char* center : {"none", "mean", "biases"}) {
      for (const char* first : {"users", "items"}) {
        Json changes = {{"factors", f}, {"center", center}, {"first", first}, {"split_rows", 64}};
        changes["memory"] = "resident";
        cuda::TestRunner resident("als_fused", fused(changes), train, initial);
        resident.run(1, 3, 0);
        const Model expected = resident.model();
        EXPECT_FALSE(resident.algorithm->facts().contains("memory"));
        changes["memory"] = "streamed";
        for (const int piece : {1, 100, 1000, 9000, 1'000'000}) {
          changes["piece"] = piece;
          cuda::TestRunner streamed("als_fused", fused(changes), train, initial);
          EXPECT_EQ(streamed.run(1, 3, 0), 6 * train.nnz());
          const Model got = streamed.model();
          EXPECT_EQ(got.p, expected.p) << changes;
          EXPECT_EQ(got.q, expected.q) << changes;
          EXPECT_EQ(got.user_bias, expected.user_bias) << changes;
          EXPECT_EQ(got.item_bias, expected.item_bias) << changes;
          const Json facts = streamed.algorithm->facts();
          EXPECT_EQ(facts.at("user_pieces") == 1, piece == 1'000'000) << facts;
          EXPECT_EQ(facts.at("item_pieces") == 1, piece == 1'000'000) << facts;
        }
      }
    }
  }
}

// Large enough to be pinned, with tables of values and without.
TEST(AlsFused, StreamedRatingsOfPinnedMemoryGiveTheSameFactors) {
  const Ratings few = test::planted(2000, 3000, 0.5, 12);
  std::vector<Rating> list;
  for (std::int64_t k = 0; k < few.nnz(); ++k) {
    list.push_back({few[k].user, few[k].item, static_cast<float>(1 + k % 9) / 2});
  }
  for (const Ratings& train : {few, test::ratings_of(2000, 3000, list)}) {
    const Model initial = start(train, 64);
    const auto run = [&](const char* memory) {
      cuda::TestRunner runner("als_fused",
                              fused({{"factors", 64}, {"memory", memory}, {"piece", 300'000}}),
                              train, initial);
      runner.run(1, 3, 0);
      return runner.model();
    };
    const Model expected = run("resident");
    const Model got = run("streamed");
    EXPECT_EQ(got.p, expected.p);
    EXPECT_EQ(got.q, expected.q);
  }
}

// 32 bytes a rating do not fit in device_gb, the factors and the ring do.
TEST(AlsFused, AutoStreamsIfDeviceGbIsTooSmall) {
  const Ratings train = test::planted(400, 900, 0.9, 13);
  const Model initial = start(train, 24);
  const auto run = [&](const Json& limit) {
    Json changes = {{"factors", 24}};
    changes.update(limit);
    cuda::TestRunner runner("als_fused", fused(changes), train, initial);
    runner.run(1, 2, 0);
    return std::pair(runner.model().q, runner.algorithm->facts());
  };
  const auto [expected, facts] = run(Json::object());
  const double resident_gb = 32.0 * static_cast<double>(train.nnz()) / (1 << 30);
  const auto [streamed, streamed_facts] = run({{"device_gb", resident_gb / 2}});
  EXPECT_EQ(streamed, expected);
  EXPECT_FALSE(facts.contains("memory"));
  EXPECT_EQ(streamed_facts.at("memory"), "streamed");
  EXPECT_LE(streamed_facts.at("ring_bytes").get<double>(), resident_gb / 2 * (1 << 30));
  EXPECT_GT(streamed_facts.at("user_pieces"), 1) << streamed_facts;
  try {
    run({{"device_gb", resident_gb / 50}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("raise device_gb"), std::string::npos);
  }
}

TEST(AlsFused, StreamedRatingsThatAreNotFiniteAreRefused) {
  const float infinite = std::numeric_limits<float>::infinity();
  const Ratings train = test::ratings_of(2, 2, {{0, 0, 3.0F}, {1, 1, infinite}});
  EXPECT_THROW(
      cuda::TestRunner("als_fused", fused({{"factors", 4}, {"memory", "streamed"}, {"piece", 1}}),
                       train, start(train, 4)),
      Error);
}

TEST(AlsFused, RowsOfFewRatingsAreCutAndFormed) {
  const Ratings train = test::planted(4, 1500, 1, 8);
  const Model initial = start(train, 64);
  const auto facts = [&](const char* normal) {
    return cuda::TestRunner("als_fused", fused({{"factors", 64}, {"normal", normal}}), train,
                            initial)
        .algorithm->facts();
  };
  const Json formed = facts("auto");
  EXPECT_EQ(formed.at("user_tasks"), 10) << formed;
  EXPECT_EQ(formed.at("user_parts_of_split_rows"), 9);
  EXPECT_EQ(formed.at("item_tasks_applied"), 0);
  EXPECT_EQ(facts("applied").at("item_tasks_applied"), 1500);
}

// Ratings beyond the kernel's range are solved in a smaller scale: exactly, except that 1 / 64 of
// reg and of the factors may fall below fp16's range.
TEST(AlsFused, LargeRatingsAreSolvedInAScaleOfTheirOwn) {
  const Ratings small = test::planted(70, 90, 0.3, 5);
  for (const float by : {256.0F, 65536.0F, 1e7F}) {
    std::vector<Rating> list;
    for (std::int64_t k = 0; k < small.nnz(); ++k) {
      list.push_back({small[k].user, small[k].item, small[k].value * by});
    }
    const Ratings train = test::ratings_of(small.n_users(), small.n_items(), list);
    for (const int f : {24, 100, 250}) {
      Model initial = start(train, f);
      for (float& x : initial.p) x *= std::sqrt(by);
      for (float& x : initial.q) x *= std::sqrt(by);
      const Json common = {
          {"factors", f}, {"cg_tolerance", 0}, {"cg_steps", 6}, {"reg", 0.05 * by}};
      const Model expected = cpu_iteration(train, initial, common);
      for (const Way& way : ways(f)) {
        const Json changes = with_way(common, way);
        cuda::TestRunner device("als_fused", fused(changes), train, initial);
        device.run(1, 1, 0);
        EXPECT_LT(device.algorithm->facts()["rating_scale"].get<double>(), 1) << by;
        expect_iteration(device.model(), expected, train, changes,
                         fmt::format("{} {}", changes.dump(), by));
      }
    }
  }
}

TEST(AlsFused, RatingsThatAreNotFiniteAreRefused) {
  const float infinite = std::numeric_limits<float>::infinity();
  const Ratings train = test::ratings_of(2, 2, {{0, 0, 3.0F}, {1, 1, infinite}});
  try {
    const cuda::TestRunner device("als_fused", fused({{"factors", 4}}), train, start(train, 4));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("not a finite number"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace mf::als
