// als on the device against double precision on the host, and against als_cpu.
#include <gtest/gtest.h>

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/als/test/objective.hpp"
#include "algorithms/als/test/reference.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::als {
namespace {

using test::planted;

constexpr const char* kLoads[] = {"coalesced", "noncoalesced_l1", "noncoalesced_nol1"};
constexpr Which kSides[] = {Which::users, Which::items};

Params params_of(const Json& changes) {
  return default_params(find_algorithm("als").params, changes);
}

Model start_for(const Ratings& train, const Params& params, double scale = 0.4) {
  InitSpec init;
  init.kind = InitKind::normal;
  init.scale = scale;
  init.seed = 3;
  return initial_model(train.n_users(), train.n_items(),
                       static_cast<std::int32_t>(params.integer("factors")), ModelKind::plain,
                       mean_rating(train), init, 2);
}

// The half-steps with their inputs, and copies of their results.
struct Device {
  const Ratings& train;
  AlsSettings settings;
  cuda::Stream stream;
  ThreadTeam team{2};
  Context context;
  Model start;
  Sides sides;
  std::unique_ptr<DeviceSteps> steps;

  Device(const Ratings& ratings, const Json& changes, double scale = 0.4)
      : Device(ratings, params_of(changes), scale) {}
  Device(const Ratings& ratings, const Params& params, double scale)
      : train(ratings),
        settings(read_als_settings(params)),
        start(start_for(ratings, params, scale)),
        sides(test::plain_sides(ratings, team)) {
    context.team = &team;
    context.stream = stream.get();
    make_steps();
  }

  void make_steps(bool cg_through_l1 = false) {
    cuda::DeviceRatings on_device(train, team, stream.get());
    steps = std::make_unique<DeviceSteps>(settings, on_device, DeviceResidual{}, start, context,
                                          cg_through_l1);
  }

  std::int32_t factors() const { return settings.common.factors; }
  Side side(Which which) const { return which == Which::users ? sides.users() : sides.items(); }

  template <class T>
  std::vector<T> copy(const T* from, std::int64_t count) {
    std::vector<T> to(count);
    cuda::download(View<T>(to), from, stream.get());
    return to;
  }

  std::vector<float> rows(Which which) {
    return copy(steps->factors(which), side(which).rows() * steps->stride());
  }

  // System `slot` of the batch, A without its padding.
  test::System system(std::int64_t slot) {
    const std::int32_t f = factors();
    const std::int64_t values = a_values(settings.a_storage, f);
    const std::int64_t pitch = a_pitch(settings.a_storage, f);
    test::System s;
    s.f = f;
    std::vector<double> padded;
    if (settings.a_storage == AStorage::fp32) {
      const auto* a = static_cast<const float*>(steps->systems_a());
      for (const float x : copy(a + slot * values, values)) padded.push_back(x);
    } else {
      const auto* a = static_cast<const __half*>(steps->systems_a());
      const double scale = copy(steps->systems_scale() + slot, 1)[0];
      for (const __half x : copy(a + slot * values, values)) {
        padded.push_back(scale * static_cast<double>(__half2float(x)));
      }
    }
    bool padding_is_zero = true;
    for (std::int64_t i = 0; i < f; ++i) {
      const auto row = padded.begin() + i * pitch;
      s.a.insert(s.a.end(), row, row + f);
      padding_is_zero =
          padding_is_zero && std::all_of(row + f, row + pitch, [](double x) { return x == 0; });
    }
    EXPECT_TRUE(padding_is_zero) << "the padding of A was written";
    for (const float x : copy(steps->systems_b() + slot * steps->stride(), f)) s.b.push_back(x);
    return s;
  }
};

// Largest errors, relative to the bound of each element: |A_ij| <= sqrt(A_ii A_jj), |b_i| <= |r|
// |theta_i| over the ratings.
struct Errors {
  double a = 0, b = 0;
};

Errors errors_of(const test::System& got, const test::System& want, const Side& side,
                 std::int64_t row, RowReg reg) {
  double values = 0;
  for (std::int64_t k = side.offsets[row]; k < side.offsets[row + 1]; ++k) {
    values += static_cast<double>(side.values[k]) * side.values[k];
  }
  const auto worse = [](double old, double error) {
    return std::isnan(error) ? HUGE_VAL : std::max(old, error);
  };
  Errors errors;
  const std::int64_t f = want.f;
  std::vector<double> scale;
  for (std::int64_t i = 0; i < f; ++i) scale.push_back(1 / std::sqrt(want.a[i * f + i]));
  bool symmetric = true;
  for (std::int64_t i = 0; i < f; ++i) {
    double most = 0;
    for (std::int64_t j = 0; j < f; ++j) {
      most = worse(most, std::abs(got.a[i * f + j] - want.a[i * f + j]) * scale[j]);
      symmetric = symmetric && got.a[i * f + j] == got.a[j * f + i];
    }
    errors.a = worse(errors.a, most * scale[i]);
    const double squares = want.a[i * f + i] - reg.of(side.length(row));
    const double bound = std::sqrt(std::max(squares * values, 1e-20));
    errors.b = worse(errors.b, std::abs(got.b[i] - want.b[i]) / bound);
  }
  EXPECT_TRUE(symmetric) << "A is not symmetric";
  return errors;
}

// A and b of all rows of one side, from the initial factors of the other.
Errors form_errors(Device& device, Which which) {
  const Side side = device.side(which);
  const bool users = which == Which::users;
  const float* other = users ? device.start.q.data() : device.start.p.data();
  const RowReg reg = row_reg_of(device.settings.common);
  const auto order =
      device.copy(device.steps->order(which), device.steps->batches(which).back().rows.end);
  Errors most;
  for (const RowBatch& batch : device.steps->batches(which)) {
    device.steps->form(which, batch);
    device.steps->bias(which, batch);
    for (std::int64_t slot = 0; slot < batch.rows.size(); ++slot) {
      const std::int64_t row = order[batch.rows.begin + slot];
      const Errors now = errors_of(
          device.system(slot),
          test::normal_equations(side, row, other, device.factors(), device.factors(), reg), side,
          row, reg);
      most.a = std::max(most.a, now.a);
      most.b = std::max(most.b, now.b);
    }
  }
  return most;
}

void expect_formed(const Ratings& train, const Json& changes, double most_a, double most_b = 1e-5) {
  for (const Which which : kSides) {
    SCOPED_TRACE(changes.dump() + (which == Which::users ? " users" : " items"));
    Device device(train, changes);
    const Errors errors = form_errors(device, which);
    EXPECT_LE(errors.a, most_a);
    EXPECT_LE(errors.b, most_b);
  }
}

TEST(Als, FormsTheSystemsForAnyNumberOfFactors) {
  const Ratings train = planted(23, 91, 0.4, 1);
  for (const int f : {1,  4,  7,   16,  17,  32,  33,  48,  50,  64,  65,  80,
                      90, 99, 100, 101, 128, 130, 160, 161, 200, 201, 255, 256}) {
    for (const char* load : kLoads) expect_formed(train, {{"factors", f}, {"load", load}}, 1e-5);
  }
}

// Rows as they are and in parts; lambda is large enough for a wrong power to be seen.
TEST(Als, FormsTheSystemsAtAnyRegPower) {
  const Ratings train = planted(23, 91, 0.4, 12);
  for (const double power : {0.0, 0.5, 0.75, 1.0, 1.5}) {
    for (const int f : {7, 32, 100, 200}) {
      for (const int split : {0, 16}) {
        const Json common = {
            {"factors", f}, {"split_rows", split}, {"reg", 3}, {"reg_power", power}};
        for (const char* load : kLoads) {
          Json changes = common;
          changes["load"] = load;
          expect_formed(train, changes, 1e-5);
        }
        Json narrow = common;
        narrow["a_storage"] = "fp16";
        expect_formed(train, narrow, 5e-3);
      }
    }
  }
}

// Kernels of parts are for measuring only.
TEST(Als, OnlyTheWholeKernelWritesTheSystems) {
  const Ratings train = planted(40, 300, 0.4, 21);
  for (const char* load : kLoads) {
    for (const int f : {20, 100}) {
      Device device(train, {{"factors", f}, {"load", load}, {"split_rows", 0}});
      const RowBatch& items = device.steps->batches(Which::items).front();
      const RowBatch& users = device.steps->batches(Which::users).front();
      device.steps->form(Which::items, items);
      const test::System before = device.system(0);
      for (const HermitianPart part :
           {HermitianPart::load, HermitianPart::compute, HermitianPart::load_compute}) {
        device.steps->form(Which::users, users, part);
        EXPECT_EQ(device.system(0).a, before.a) << load << " " << f;
      }
      device.steps->form(Which::users, users);
      EXPECT_NE(device.system(0).a, before.a) << load << " " << f;
    }
  }
}

// Rows of fewer ratings than a bin, and of several bins, whole and in parts.
TEST(Als, FormsTheSystemsOfLongRows) {
  const Ratings train = planted(3, 70, 0.7, 15);
  for (const int f : {257, 300, 511, 1100, 2048}) {
    for (const auto& [split, batch, storage] :
         {std::tuple{16, 1, "fp32"}, {0, 0, "fp16"}, {0, 0, "fp32"}, {16, 0, "fp16"}}) {
      if (f == 2048 && split == 0) continue;
      const Json changes = {{"factors", f},
                            {"split_rows", split},
                            {"batch_rows", batch},
                            {"reg", 3},
                            {"a_storage", storage}};
      SCOPED_TRACE(changes.dump());
      Device device(train, changes);
      const Errors errors = form_errors(device, Which::users);
      EXPECT_LE(errors.a, std::strcmp(storage, "fp32") == 0 ? 1e-5 : 5e-3);
      EXPECT_LE(errors.b, 1e-5);
    }
  }
  expect_formed(planted(20, 30, 0.4, 16), {{"factors", 300}}, 1e-5);
}

TEST(Als, FormsTheSystemsInFp16) {
  const Ratings train = planted(23, 91, 0.4, 2);
  for (const int f : {1, 7, 32, 97, 100, 128, 200, 256}) {
    for (const int split : {0, 16}) {
      expect_formed(train, {{"factors", f}, {"a_storage", "fp16"}, {"split_rows", split}}, 5e-3);
    }
  }
}

TEST(Als, FormsTheSystemsOfRowsOfAnyLength) {
  // Row u has u ratings: empty, one rating, one bin, a bin and one more, ...
  std::vector<Rating> list;
  Rng rng(5);
  for (std::int32_t u = 0; u < 140; ++u) {
    for (std::int32_t i = 0; i < u; ++i) {
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  const Ratings train = test::ratings_of(140, 140, list);
  for (const int f : {10, 64, 100}) {
    for (const char* load : kLoads) {
      for (const int batch : {0, 1, 17}) {
        expect_formed(train, {{"factors", f}, {"load", load}, {"batch_rows", batch}}, 1e-5);
      }
    }
  }
}

// User 1 and item 2 have all ratings; with and without cutting them.
TEST(Als, FormsTheSystemsOfGiantRows) {
  const Ratings train = planted(4, 20000, 0.0005, 3);
  for (const int f : {32, 100, 256}) {
    for (const int split : {0, 300, 8192}) {
      Device device(train, {{"factors", f}, {"split_rows", split}});
      const Errors errors = form_errors(device, Which::users);
      // One chain of 20,000 additions rounds more than parts of it do.
      EXPECT_LE(errors.a, split == 0 ? 3e-5 : 1e-5) << f << " " << split;
      EXPECT_LE(errors.b, 1e-5) << f << " " << split;
    }
  }
}

TEST(Als, AGiantRowOfFivesDoesNotOverflowFp16) {
  constexpr std::int32_t kRatings = 230000;
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < kRatings; ++u) list.push_back({u, 0, 5.0F});
  const Ratings train = test::ratings_of(kRatings, 1, list);
  for (const int split : {0, 8192}) {
    Device device(train, {{"a_storage", "fp16"}, {"batch_rows", 1000}, {"split_rows", split}}, 1.0);
    const Errors errors = form_errors(device, Which::items);
    EXPECT_GT(device.system(0).a[0], 2 * 65504.0);
    EXPECT_LE(errors.a, 5e-3) << split;
    EXPECT_LE(errors.b, 1e-5) << split;
    device.steps->half_step(Which::items, device.context);
    for (const float x : device.rows(Which::items)) EXPECT_TRUE(std::isfinite(x));
  }
}

// The rows of a half-step, which it does, and the systems they solve.
struct Solved {
  Device& device;
  const float* other;
  Side side;
  std::vector<float> rows;

  Solved(Device& of, Which which)
      : device(of),
        other(which == Which::users ? of.start.q.data() : of.start.p.data()),
        side(of.side(which)) {
    device.steps->half_step(which, device.context);
    rows = device.rows(which);
  }
  const float* row(std::int64_t number) const {
    return rows.data() + number * device.steps->stride();
  }
  auto system(std::int64_t number) const {
    const std::int32_t f = device.factors();
    return test::normal_equations(side, number, other, f, f, row_reg_of(device.settings.common));
  }
  void expect_zero_padding(std::int64_t number) const {
    for (std::int64_t i = device.factors(); i < device.steps->stride(); ++i) {
      EXPECT_EQ(row(number)[i], 0.0F);
    }
  }
};

// |x - want| / |want| of the worst row.
double solve_error(Device& device, Which which) {
  const Solved solved(device, which);
  const std::int32_t f = device.factors();
  double worst = 0;
  for (std::int64_t row = 0; row < solved.side.rows(); ++row) {
    const float* x = solved.row(row);
    if (solved.side.length(row) == 0) {
      for (std::int32_t i = 0; i < f; ++i) EXPECT_EQ(x[i], 0.0F) << "an empty row";
      continue;
    }
    const auto want = test::solve(solved.system(row));
    double error = 0;
    double norm = 0;
    for (std::int32_t i = 0; i < f; ++i) {
      const double w = want[i];
      error += (x[i] - w) * (x[i] - w);
      norm += w * w;
    }
    const double relative = std::sqrt(error / norm);
    worst = std::isnan(relative) ? HUGE_VAL : std::max(worst, relative);
    solved.expect_zero_padding(row);
  }
  return worst;
}

TEST(Als, ExactSolversSolve) {
  const Ratings train = planted(60, 150, 0.3, 4);
  for (const char* solver : {"lu", "cholesky"}) {
    for (const int f : {1, 7, 32, 97, 100, 128, 200, 256}) {
      for (const Which which : kSides) {
        Device device(train, {{"factors", f}, {"solver", solver}, {"batch_rows", f == 7 ? 13 : 0}});
        EXPECT_LE(solve_error(device, which), 1e-4) << solver << " " << f;
      }
    }
  }
}

// By the residual of b. CG is exact after about as many steps as a row has ratings.
double residual(Device& device, Which which) {
  const Solved solved(device, which);
  double worst = 0;
  for (std::int64_t row = 0; row < solved.side.rows(); ++row) {
    if (solved.side.length(row) == 0) continue;
    worst = std::max(worst, test::residual(solved.system(row), solved.row(row)));
    solved.expect_zero_padding(row);
  }
  return worst;
}

TEST(Als, EverySolverSolvesLongRows) {
  const Ratings train = planted(3, 60, 0.6, 17);
  for (const int f : {257, 300, 512, 1030, 2048}) {
    for (const auto& [solver, storage] :
         {std::pair{"lu", "fp32"}, {"cholesky", "fp32"}, {"cg", "fp32"}, {"cg", "fp16"}}) {
      Device device(train, {{"factors", f},
                            {"solver", solver},
                            {"a_storage", storage},
                            {"cg_steps", 100},
                            {"cg_tolerance", 1e-6}});
      // fp16: the system itself is off by 2^-11.
      EXPECT_LE(residual(device, Which::users), std::strcmp(storage, "fp32") == 0 ? 1e-4 : 2e-2)
          << solver << " " << storage << " " << f;
    }
  }
}

// With as many steps as it takes CG is exact; more than the factors, because of rounding.
TEST(Als, CgWithManyStepsSolves) {
  const Ratings train = planted(60, 150, 0.3, 5);
  for (const int f : {1, 2, 7, 31, 32, 33, 64, 97, 100, 128, 200, 255, 256}) {
    for (const char* storage : {"fp32", "fp16"}) {
      for (const Which which : kSides) {
        Device device(train, {{"factors", f},
                              {"cg_steps", std::max(f, 20)},
                              {"cg_tolerance", 1e-6},
                              {"a_storage", storage}});
        // fp16: the system itself is off by 2^-11.
        EXPECT_LE(solve_error(device, which), std::strcmp(storage, "fp32") == 0 ? 1e-4 : 5e-2)
            << storage << " " << f;
      }
    }
  }
}

TEST(Als, CgThroughL1IsTheSame) {
  const Ratings train = planted(60, 150, 0.3, 6);
  for (const char* storage : {"fp32", "fp16"}) {
    Device past(train, {{"a_storage", storage}});
    Device through(train, {{"a_storage", storage}});
    through.make_steps(true);
    for (Device* device : {&past, &through}) {
      for (const Which which : kSides) device->steps->half_step(which, device->context);
    }
    for (const Which which : kSides) EXPECT_EQ(past.rows(which), through.rows(which));
  }
}

TEST(Als, CholeskyThatFailsGivesNoNumbers) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < 5; ++u) list.push_back({u, 0, 3.0F});
  const Ratings train = test::ratings_of(5, 1, list);
  const Params params = params_of({{"factors", 8}, {"reg", 0}, {"solver", "cholesky"}});
  Device device(train, params, 0.4);
  std::fill(device.start.q.begin(), device.start.q.end(), 0.5F);  // A is 1/4 everywhere: rank 1
  device.make_steps();
  device.steps->half_step(Which::users, device.context);
  for (const float x : device.rows(Which::users)) EXPECT_TRUE(std::isnan(x));
}

// All users but the first have rated item 0.
TEST(Als, CgPassesOnWhatIsNoNumber) {
  const Ratings train = planted(9, 7, 1.0, 3);
  for (const char* storage : {"fp32", "fp16"}) {
    Device device(train, {{"factors", 8}, {"solver", "cg"}, {"a_storage", storage}});
    device.start.q[0] = std::numeric_limits<float>::quiet_NaN();
    device.make_steps();
    device.steps->half_step(Which::users, device.context);
    const auto rows = device.rows(Which::users);
    for (std::size_t i = 8; i < rows.size(); ++i) EXPECT_TRUE(std::isnan(rows[i])) << storage;
  }
}

double difference(const AlignedVector<float>& a, const AlignedVector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < std::min(std::ssize(a), std::ssize(b)); ++i) {
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  const double relative = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
  return std::isnan(relative) ? HUGE_VAL : relative;
}

Model on_the_cpu(const Ratings& train, const Json& changes, int epochs) {
  const Params params = default_params(find_algorithm("als_cpu").params, test::papers(changes));
  ThreadTeam team(2);
  Context context;
  context.team = &team;
  const auto algorithm = make_algorithm("als_cpu", params);
  algorithm->prepare(train, start_for(train, params), context);
  for (int epoch = 1; epoch <= epochs; ++epoch) algorithm->run_epoch({epoch, 0}, context);
  return copy_model(algorithm->factors());
}

// CG that has not converged depends on rounding in the directions that matter least, more than the
// exact solvers do; its objective does not.
void expect_as_the_cpu(const Ratings& train, const Json& common, Json own, int epochs,
                       double tolerance) {
  const Model want = on_the_cpu(train, common, epochs);
  own.update(common);
  SCOPED_TRACE(own.dump());
  const Params params = params_of(own);
  cuda::TestRunner runner("als", params, train, start_for(train, params));
  EXPECT_EQ(runner.run(1, epochs, 0), 2 * train.nnz() * epochs);
  const Model got = runner.model();
  EXPECT_TRUE(runner.padding_is_zero);
  EXPECT_EQ(got.kind, want.kind);
  EXPECT_EQ(got.mean, want.mean);
  const bool cg = params.choice("solver") == "cg";
  EXPECT_LE(difference(got.p, want.p), cg ? 5e-2 : tolerance);
  EXPECT_LE(difference(got.q, want.q), cg ? 5e-2 : tolerance);
  const double objective = test::objective_of(train, read_common(params), want);
  EXPECT_NEAR(test::objective_of(train, read_common(params), got), objective,
              tolerance * objective);
  EXPECT_TRUE(got.user_bias == want.user_bias);
  EXPECT_TRUE(got.item_bias == want.item_bias);
}

TEST(Als, RegPowerAndTheFirstSideAreThoseOfTheCpu) {
  const Ratings train = planted(120, 70, 0.3, 13);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const double power : {0.0, 0.5, 1.0}) {
      for (const char* first : {"users", "items"}) {
        const Json common = {{"factors", 20},      {"solver", solver}, {"reg", 0.8},
                             {"reg_power", power}, {"first", first},   {"center", "mean"}};
        expect_as_the_cpu(train, common, Json::object(), 2, 1e-3);
      }
    }
  }
}

TEST(Als, AnIterationIsThatOfTheCpu) {
  const Ratings train = planted(120, 70, 0.3, 8);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const char* center : {"none", "mean", "biases"}) {
      for (const int f : {10, 100}) {
        const Json common = {{"factors", f}, {"solver", solver}, {"center", center}};
        expect_as_the_cpu(train, common, Json::object(), 1, 1e-3);
      }
    }
  }
}

TEST(Als, SolvedBiasesAreThoseOfTheCpu) {
  const Ratings train = planted(120, 70, 0.3, 8);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const char* first : {"users", "items"}) {
      for (const int f : {10, 31, 99, 270}) {
        const Json common = {{"factors", f},   {"solver", solver},    {"center", "solved"},
                             {"first", first}, {"reg", 0.3},          {"reg_power", 0.9},
                             {"cg_steps", 60}, {"cg_tolerance", 1e-6}};
        SCOPED_TRACE(common.dump());
        const Model want = on_the_cpu(train, common, 2);
        Json changes = common;
        changes.update({{"batch_rows", 50}, {"split_rows", 16}});
        const Params params = params_of(changes);
        cuda::TestRunner runner("als", params, train, start_for(train, params));
        EXPECT_EQ(runner.run(1, 2, 0), 2 * train.nnz() * 2);
        const Model got = runner.model();
        EXPECT_EQ(got.kind, ModelKind::biased);
        EXPECT_EQ(got.factors, f);
        EXPECT_NEAR(got.mean, want.mean, 1e-9);
        EXPECT_LE(difference(got.p, want.p), 1e-2);
        EXPECT_LE(difference(got.q, want.q), 1e-2);
        EXPECT_LE(difference(got.user_bias, want.user_bias), 1e-2);
        EXPECT_LE(difference(got.item_bias, want.item_bias), 1e-2);
        EXPECT_NE(got.user_bias, AlignedVector<float>(120, 0.0F));
        const double objective = test::objective_of(train, read_common(params), want);
        EXPECT_NEAR(test::objective_of(train, read_common(params), got), objective,
                    1e-3 * objective);
      }
    }
  }
}

TEST(Als, AnIterationOfLongRowsIsThatOfTheCpu) {
  const Ratings train = planted(50, 40, 0.3, 18);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    const Json common = {{"factors", 290}, {"solver", solver}, {"center", "mean"}};
    expect_as_the_cpu(train, common, {{"batch_rows", 7}, {"split_rows", 8}}, 1, 1e-3);
  }
}

TEST(Als, BatchesAndPartsChangeLittle) {
  const Ratings train = planted(120, 70, 0.3, 9);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    const Json common = {{"factors", 20}, {"solver", solver}};
    for (const int batch : {0, 1, 17, 1000}) {
      for (const int split : {0, 16, 8192}) {
        for (const char* load : kLoads) {
          expect_as_the_cpu(train, common,
                            {{"batch_rows", batch}, {"split_rows", split}, {"load", load}}, 1,
                            1e-3);
        }
      }
    }
  }
}

TEST(Als, Fp16StaysNearFp32) {
  const Ratings train = planted(120, 70, 0.3, 10);
  expect_as_the_cpu(train, {{"factors", 40}, {"solver", "cg"}}, {{"a_storage", "fp16"}}, 1, 5e-3);
}

TEST(Als, IsDeterministic) {
  const Ratings train = planted(200, 150, 0.3, 11);
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    for (const int f : {36, 280}) {
      const Params params = params_of({{"solver", solver}, {"factors", f}, {"split_rows", 40}});
      Model models[2];
      for (Model& model : models) {
        cuda::TestRunner runner("als", params, train, start_for(train, params));
        runner.run(1, 2, 0);
        model = runner.model();
      }
      EXPECT_TRUE(models[0].p == models[1].p) << solver << " " << f;
      EXPECT_TRUE(models[0].q == models[1].q) << solver << " " << f;
    }
  }
}

TEST(Als, NoRatingsAreNoWork) {
  const Ratings train = test::ratings_of(5, 7, {});
  for (const char* solver : {"lu", "cholesky", "cg"}) {
    const Params params = params_of({{"solver", solver}, {"factors", 9}});
    cuda::TestRunner runner("als", params, train, start_for(train, params));
    EXPECT_EQ(runner.run(1, 1, 0), 0);
    for (const float x : runner.model().p) EXPECT_EQ(x, 0.0F);
    for (const float x : runner.model().q) EXPECT_EQ(x, 0.0F);
  }
}

TEST(Als, StopsBetweenBatches) {
  const Ratings train = planted(50, 40, 0.3, 12);
  const Params params = params_of({{"factors", 8}, {"batch_rows", 5}});
  cuda::TestRunner runner("als", params, train, start_for(train, params));
  int polls = 0;
  runner.context.stop_requested = [&] { return ++polls > 3; };
  EXPECT_EQ(runner.algorithm->run_epoch({1, 0}, runner.context), 0);
  EXPECT_EQ(polls, 4);
}

struct Names : PhaseSink {
  std::vector<std::string> begun;
  void begin(const char* phase) override { begun.emplace_back(phase); }
  void end() override {}
};

TEST(Als, NamesItsPhasesForEachBatch) {
  const Ratings train = planted(50, 40, 0.3, 13);
  const Params params = params_of({{"factors", 8}, {"batch_rows", 25}});
  cuda::TestRunner runner("als", params, train, start_for(train, params));
  Names names;
  runner.context.phases = &names;
  runner.run(1, 1, 0);
  // 49 users and 39 items have ratings: two batches each.
  ASSERT_EQ(names.begun.size(), 12U);
  for (std::size_t i = 0; i < names.begun.size(); i += 3) {
    EXPECT_EQ(names.begun[i], "hermitian");
    EXPECT_EQ(names.begun[i + 1], "bias");
    EXPECT_EQ(names.begun[i + 2], "solve");
  }
}

}  // namespace
}  // namespace mf::als
