// The same updates by every instruction set. That one goes down the gradient, sgd_rule_test shows.
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "algorithms/sgd_cpu/test/support.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf::sgd_cpu {
namespace {

using test::Reference;

constexpr std::int32_t kUsers = 30;
constexpr std::int32_t kItems = 20;

Model random_model(std::int32_t factors, bool biased) {
  const double scale = 1 / std::sqrt(static_cast<double>(factors));
  Model m = initial_model(kUsers, kItems, factors, biased ? ModelKind::biased : ModelKind::plain,
                          3.5, {InitKind::normal, scale, 5}, 1);
  Rng rng(17);
  for (float& b : m.user_bias) b = static_cast<float>(0.3 * rng.normal());
  for (float& c : m.item_bias) c = static_cast<float>(0.3 * rng.normal());
  return m;
}

// Every regularizer different, so that one in the place of another shows.
Settings settings_for(Isa isa, std::int32_t factors, bool biased) {
  return {factors, biased ? ModelKind::biased : ModelKind::plain, {0.1, 0.2, 0.3, 0.4}, isa};
}

// Runs of 1 to 12 ratings; users come back, items repeat inside a run.
struct Work {
  std::vector<Run> runs;
  std::vector<RowRating> in_runs;
  std::vector<Rating> in_stream;
};
Work random_work(int n_runs) {
  Work work;
  Rng rng(3);
  for (int r = 0; r < n_runs; ++r) {
    const Run run{static_cast<std::int32_t>(rng.below(kUsers)),
                  static_cast<std::int32_t>(1 + rng.below(12))};
    work.runs.push_back(run);
    for (std::int32_t k = 0; k < run.count; ++k) {
      const auto item = static_cast<std::int32_t>(rng.below(kItems));
      const auto value = static_cast<float>(1 + rng.below(5));
      work.in_runs.push_back({item, value});
      work.in_stream.push_back({run.user, item, value});
    }
  }
  return work;
}

enum class Loop { stream, runs };

RowStore run_kernel(const Settings& s, const Model& model, const Work& work, Loop loop,
                    double rate) {
  ThreadTeam team(1);
  RowStore store(model, {}, {}, {0, model.n_users}, {0, model.n_items}, team);
  const Step step = step_at(rate, s.reg, store.mean());
  if (loop == Loop::stream) {
    s.kernels().stream(store.rows(), step, work.in_stream.data(), std::ssize(work.in_stream));
  } else {
    s.kernels().runs(store.rows(), step, work.runs.data(), std::ssize(work.runs),
                     work.in_runs.data(), std::ssize(work.in_runs));
  }
  return store;
}

struct KernelCase {
  Isa isa;
  std::int32_t factors;
  bool biased;
  Loop loop;
};

std::string name_of(const testing::TestParamInfo<KernelCase>& info) {
  const KernelCase& c = info.param;
  return to_string(c.isa) + (c.biased ? "_biased" : "_plain") +
         (c.loop == Loop::stream ? "_stream" : "_runs") + "_f" + std::to_string(c.factors);
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    for (const std::int32_t f : {1, 7, 16, 33, 64, 100, 128, 129, 300, 1000}) {
      for (const bool biased : {true, false}) {
        for (const Loop loop : {Loop::stream, Loop::runs}) cases.push_back({isa, f, biased, loop});
      }
    }
  }
  return cases;
}

class Kernel : public testing::TestWithParam<KernelCase> {
 protected:
  void SetUp() override {
    if (!has(GetParam().isa)) GTEST_SKIP() << "this CPU lacks " << to_string(GetParam().isa);
  }
};

TEST_P(Kernel, ManyUpdatesFollowTheDoublePrecisionReferenceAndLeavePaddingZero) {
  const auto [isa, factors, biased, loop] = GetParam();
  constexpr double rate = 0.02;
  const Settings s = settings_for(isa, factors, biased);
  const Model before = random_model(factors, biased);
  const Work work = random_work(100);
  Reference reference(before, rate, s.reg);
  for (const Rating& rating : work.in_stream) reference.update(rating);
  RowStore store = run_kernel(s, before, work, loop, rate);
  const Model after = copy_model(store.view());
  EXPECT_LT(test::largest_difference(after, reference), 2e-5);
  EXPECT_GT(test::largest_difference(before, reference), 1e-2);  // it moved at all
  const Rows rows = store.rows();
  for (std::int64_t k = factors; k < rows.stride; ++k) {
    for (std::int64_t u = 0; u < kUsers; ++u) EXPECT_EQ(rows.p[u * rows.stride + k], 0.0F);
    for (std::int64_t i = 0; i < kItems; ++i) EXPECT_EQ(rows.q[i * rows.stride + k], 0.0F);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Kernel, testing::ValuesIn(all_cases()), name_of);

TEST(Isa, AutoIsTheBestAndScalarIsAlwaysThere) {
  EXPECT_EQ(choose_isa("scalar"), Isa::scalar);
  const Isa best = has(Isa::avx512) ? Isa::avx512 : has(Isa::avx2) ? Isa::avx2 : Isa::scalar;
  EXPECT_EQ(choose_isa("auto"), best);
}

TEST(Isa, AskingForOneTheCpuLacksIsAnError) {
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    const Params params =
        default_params(find_algorithm("fpsgd").params, Json{{"simd", to_string(isa)}});
    const auto reason = find_algorithm("fpsgd").supports(params, {});
    EXPECT_EQ(reason.has_value(), !has(isa));
    if (has(isa)) {
      EXPECT_NO_THROW(make_algorithm("fpsgd", params));
    } else {
      EXPECT_THROW(make_algorithm("fpsgd", params), Error);
    }
  }
}

}  // namespace
}  // namespace mf::sgd_cpu
