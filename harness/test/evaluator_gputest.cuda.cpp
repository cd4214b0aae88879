// The device's evaluator against the host's, for both methods, and its reduction step.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "harness/device/download_model.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/test/kernels.hpp"
#include "harness/test/testing.hpp"
#include "testing/cuda/testing.hpp"

namespace mf {
namespace {

using cuda::DeviceBuffer;
using testing::contains;
using testing::message_of;
using testing::random_ratings;

constexpr LossMethod kMethods[] = {LossMethod::fused, LossMethod::thread_per_user};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class Keep>
Ratings ratings_where(std::int32_t m, std::int32_t n, Keep&& keep) {
  Ratings::Arrays a;
  Rng rng(7);
  a.user_offsets.push_back(0);
  for (std::int32_t u = 0; u < m; ++u) {
    for (std::int32_t i = 0; i < n; ++i) {
      if (!keep(u, i)) continue;
      a.users.push_back(u);
      a.items.push_back(i);
      a.values.push_back(static_cast<float>(1 + rng.below(5)));
    }
    a.user_offsets.push_back(static_cast<std::int64_t>(a.users.size()));
    a.user_ids.push_back(u);
  }
  for (std::int32_t i = 0; i < n; ++i) a.item_ids.push_back(i);
  return Ratings(std::move(a));
}

// Products of about unit size whatever the rank.
Model random_model(std::int32_t m, std::int32_t n, std::int32_t f, ModelKind kind) {
  InitSpec init;
  init.scale = std::pow(static_cast<double>(f), -0.25);
  Model model = initial_model(m, n, f, kind, 3.0, init, 2);
  Rng rng(5);
  for (auto& b : model.user_bias) b = static_cast<float>(rng.normal());
  for (auto& b : model.item_bias) b = static_cast<float>(rng.normal());
  return model;
}

// How rows lie in device memory: `shift` floats before the first, `padding` after each.
struct Layout {
  const char* name;
  std::int64_t shift;
  std::int64_t padding;
  std::int64_t bias_stride;
};
constexpr Layout kPacked{"packed", 0, 0, 1};
constexpr Layout kLayouts[] = {kPacked,
                               {"padded by 4", 0, 4, 3},
                               {"padded by 1", 0, 1, 2},
                               {"shifted by 1", 1, 0, 1},
                               {"shifted by 2, padded by 6", 2, 6, 5}};

// A copy of a model on the device; NaN wherever no element of it is.
class DeviceModel {
 public:
  DeviceModel(const Model& model, const Layout& layout, cudaStream_t stream = nullptr)
      : view_(model.view()) {
    const std::int64_t f = model.factors;
    view_.location = Location::device;
    view_.p = place(model.p, f, layout.shift, f + layout.padding, stream);
    view_.q = place(model.q, f, layout.shift, f + layout.padding, stream);
    view_.p_stride = view_.q_stride = f + layout.padding;
    if (model.kind == ModelKind::plain) return;
    view_.user_bias = place(model.user_bias, 1, layout.shift, layout.bias_stride, stream);
    view_.item_bias = place(model.item_bias, 1, layout.shift, layout.bias_stride, stream);
    view_.user_bias_stride = view_.item_bias_stride = layout.bias_stride;
  }
  const FactorView& view() const { return view_; }

 private:
  // Ends with the last row's last element: a read beyond it is outside of the allocation.
  const float* place(const AlignedVector<float>& rows, std::int64_t width, std::int64_t shift,
                     std::int64_t stride, cudaStream_t stream) {
    const std::int64_t count = std::ssize(rows) / width;
    std::vector<float> placed(shift + (count - 1) * stride + width, kNaN);
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t k = 0; k < width; ++k) {
        placed[shift + r * stride + k] = rows[r * width + k];
      }
    }
    buffers_.push_back(cuda::upload(View<const float>(placed), stream));
    return buffers_.back().data() + shift;
  }

  FactorView view_;
  std::vector<DeviceBuffer<float>> buffers_;
};

std::unique_ptr<DeviceEvaluator> device_evaluator(const Ratings& train) {
  std::vector<std::uint8_t> users(train.n_users());
  std::vector<std::uint8_t> items(train.n_items());
  for (const auto u : train.users()) users[u] = 1;
  for (const auto i : train.items()) items[i] = 1;
  return std::make_unique<DeviceEvaluator>(users, items, nullptr);
}

void expect_same(const Accuracy& found, const Accuracy& expected, const std::string& what) {
  ASSERT_GT(expected.rmse, 0) << what;
  EXPECT_NEAR(found.rmse, expected.rmse, 1e-6 * expected.rmse) << what;
  EXPECT_NEAR(found.mae, expected.mae, 1e-6 * expected.mae) << what;
  EXPECT_EQ(found.count, expected.count) << what;
}

// Both methods, and the evaluator that a run uses, against the host.
void expect_host_equal(const Evaluator& evaluator, const Ratings& train, const Ratings& part,
                       const Model& model, const Layout& layout) {
  ThreadTeam team(2);
  const Accuracy expected = evaluator.evaluate(model.view(), part, team);
  const DeviceModel device(model, layout);
  const std::string what = fmt::format("f = {}, {}, {}", model.factors, layout.name,
                                       model.kind == ModelKind::plain ? "plain" : "biased");
  expect_same(evaluator.evaluate(device.view(), part, team), expected, what);
  const auto direct = device_evaluator(train);
  for (const LossMethod method : kMethods) {
    expect_same(
        direct->evaluate(device.view(), evaluator.rule(device.view()), part, nullptr, method),
        expected, fmt::format("{}, method {}", what, static_cast<int>(method)));
  }
}

TEST(DeviceEvaluator, EqualsTheHostForAnyRankAndLayout) {
  const Ratings train = random_ratings(211, 97, 0.3, 1);
  const Ratings part = random_ratings(211, 97, 0.2, 2);
  const Evaluator evaluator(train);
  for (const std::int32_t f :
       {1,   2,   4,   7,   16,  32,  33,  50,   64,   96,   100,  128,  160,  192, 200,
        224, 256, 300, 384, 512, 700, 768, 1000, 1024, 1027, 1500, 2047, 2048, 2500}) {
    for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
      const Model model = random_model(211, 97, f, kind);
      for (const Layout& layout : kLayouts) {
        expect_host_equal(evaluator, train, part, model, layout);
      }
    }
  }
}

TEST(DeviceEvaluator, ColdUsersAndItemsArePredictedAsOnTheHost) {
  const Ratings train = ratings_where(
      90, 70, [](int u, int i) { return u % 4 != 1 && i % 5 != 2 && (u + i) % 3 == 0; });
  const Ratings part = ratings_where(90, 70, [](int u, int i) { return (u + i) % 3 == 1; });
  const Evaluator evaluator(train);
  for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
    Model model = random_model(90, 70, 36, kind);
    // Rows that no rating has trained may be anything.
    for (std::size_t k = 0; k < 36; ++k) model.p[1 * 36 + k] = model.q[2 * 36 + k] = kNaN;
    for (const Layout& layout : kLayouts) {
      expect_host_equal(evaluator, train, part, model, layout);
    }
  }
}

TEST(DeviceEvaluator, ClipsAsTheHostDoes) {
  const Ratings train = random_ratings(80, 60, 0.4, 3);
  const Model model = random_model(80, 60, 12, ModelKind::biased);
  Evaluator evaluator(train);
  ThreadTeam team(1);
  const double unclipped = evaluator.evaluate(model.view(), train, team).rmse;
  evaluator.set_clip(ClipRange{1, 5});
  EXPECT_LT(evaluator.evaluate(model.view(), train, team).rmse, unclipped) << "nothing to clip";
  expect_host_equal(evaluator, train, train, model, kPacked);
}

TEST(DeviceEvaluator, TakesDrawsAsTheHostDoes) {
  const Ratings train = random_ratings(80, 60, 0.4, 3);
  const Ratings part = random_ratings(80, 60, 0.3, 4);
  Evaluator host(train);
  Evaluator device(train);
  ThreadTeam team(1);
  for (Evaluator* one : {&host, &device}) one->set_clip(ClipRange{1, 5});
  for (std::int64_t draw = 1; draw <= 3; ++draw) {
    Model model = random_model(80, 60, 12, ModelKind::biased);
    for (float& x : model.p) x *= static_cast<float>(draw);
    const DeviceModel copy(model, kPacked);
    FactorView there = copy.view();
    FactorView here = model.view();
    there.draw = here.draw = draw;
    const Accuracy expected = host.evaluate(here, part, team);
    for (int again = 0; again < 2; ++again) {  // each is taken once
      expect_same(device.evaluate(there, part, team), expected, fmt::format("draw {}", draw));
    }
    if (draw < 3) continue;
    expect_same(device.evaluate_range(here, part, 0, part.nnz(), team), expected, "its mean");
  }
}

TEST(DeviceEvaluator, OneUserMayHaveNearlyAllRatings) {
  const std::int32_t items = 40'000;
  const Ratings part =
      ratings_where(5, items, [](int u, int i) { return u == 2 || (u != 4 && i % 9001 == u); });
  const Evaluator evaluator(part);
  for (const std::int32_t f : {8, 128, 130}) {
    expect_host_equal(evaluator, part, part, random_model(5, items, f, ModelKind::biased), kPacked);
  }
}

TEST(DeviceEvaluator, UsersMayHaveNoRatings) {
  const Ratings train = random_ratings(1000, 40, 0.5, 4);
  const Ratings part =
      ratings_where(1000, 40, [](int u, int i) { return u % 37 == 5 && (i + u) % 2 == 0; });
  const Evaluator evaluator(train);
  for (const std::int32_t f : {32, 300, 513}) {
    expect_host_equal(evaluator, train, part, random_model(1000, 40, f, ModelKind::plain), kPacked);
  }
}

// Small integers: predictions and sums are exact in any order.
Model integer_model(std::int32_t m, std::int32_t n, std::int32_t f) {
  Model model = random_model(m, n, f, ModelKind::biased);
  Rng rng(11);
  for (auto* rows : {&model.p, &model.q, &model.user_bias, &model.item_bias}) {
    for (auto& x : *rows) x = static_cast<float>(rng.below(5)) - 2;
  }
  return model;
}

// Numbers of ratings around the limits of a batch, a block and a chunk.
TEST(DeviceEvaluator, AnyNumberOfRatings) {
  const Ratings train = random_ratings(700, 500, 0.9, 5);
  const Evaluator evaluator(train);
  const Model model = integer_model(700, 500, 20);
  for (const std::int64_t count :
       {1, 2, 31, 32, 33, 127, 128, 129, 4095, 262'144, 262'145, 300'000}) {
    std::int64_t left = count;
    const Ratings part = ratings_where(700, 500, [&](int, int) { return left-- > 0; });
    ASSERT_EQ(part.nnz(), count);
    expect_host_equal(evaluator, train, part, model, kPacked);
  }
}

TEST(DeviceEvaluator, TwentyMillionRatings) {
  const Ratings part = ratings_where(20'001, 1000, [](int, int) { return true; });
  expect_host_equal(Evaluator(part), part, part, random_model(20'001, 1000, 4, ModelKind::biased),
                    kPacked);
}

TEST(DeviceEvaluator, NoRatingsHaveNoError) {
  const Ratings train = random_ratings(9, 8, 0.5, 1);
  const DeviceModel device(random_model(9, 8, 4, ModelKind::plain), kPacked);
  const Evaluator evaluator(train);
  ThreadTeam team(1);
  const Ratings none = ratings_where(9, 8, [](int, int) { return false; });
  for (const Ratings& part : {none, Ratings()}) {
    const Accuracy found = evaluator.evaluate(device.view(), part, team);
    EXPECT_TRUE(std::isnan(found.rmse));
    EXPECT_TRUE(std::isnan(found.mae));
    EXPECT_EQ(found.count, 0);
  }
}

TEST(DeviceEvaluator, FactorsThatAreNoNumbersShow) {
  const Ratings train = random_ratings(30, 20, 1, 1);
  Model model = random_model(30, 20, 40, ModelKind::biased);
  model.q[13 * 40 + 39] = kNaN;
  const DeviceModel device(model, kPacked);
  Evaluator evaluator(train);
  evaluator.set_clip(ClipRange{1, 5});
  ThreadTeam team(1);
  EXPECT_TRUE(std::isnan(evaluator.evaluate(device.view(), train, team).rmse));
}

TEST(DeviceEvaluator, RepeatsToTheBitAndTellsPartsApart) {
  const Ratings train = random_ratings(400, 300, 0.6, 1);
  const Ratings test = random_ratings(400, 300, 0.1, 2);
  const Evaluator evaluator(train);
  const Model model = random_model(400, 300, 48, ModelKind::biased);
  const DeviceModel device(model, kPacked);
  const auto direct = device_evaluator(train);
  const PredictionRule rule = evaluator.rule(device.view());
  ThreadTeam team(1);
  for (const LossMethod method : kMethods) {
    const auto run = [&](const Ratings& part) {
      return direct->evaluate(device.view(), rule, part, nullptr, method);
    };
    const Accuracy first = run(train);
    const Accuracy second = run(test);
    expect_same(second, evaluator.evaluate(model.view(), test, team), "second part");
    EXPECT_NE(first.rmse, second.rmse);
    for (int repeat = 0; repeat < 10; ++repeat) {
      EXPECT_EQ(run(train).rmse, first.rmse);
      EXPECT_EQ(run(train).mae, first.mae);
      EXPECT_EQ(run(test).rmse, second.rmse);
      EXPECT_EQ(run(test).mae, second.mae);
    }
  }
}

TEST(DeviceEvaluator, UploadsAPartOnce) {
  const Ratings train = random_ratings(400, 300, 0.6, 1);
  const DeviceModel device(random_model(400, 300, 8, ModelKind::plain), kPacked);
  const Evaluator evaluator(train);
  ThreadTeam team(1);
  evaluator.evaluate(device.view(), train, team);
  const std::int64_t before = cuda::allocated_bytes();
  evaluator.evaluate(device.view(), train, team);
  EXPECT_EQ(cuda::allocated_bytes(), before);
}

// The factors are written on the evaluator's stream, after much other work.
TEST(DeviceEvaluator, WaitsForItsStream) {
  const Ratings train = random_ratings(100, 100, 0.5, 1);
  const Model right = random_model(100, 100, 16, ModelKind::plain);
  Model wrong = right;
  for (auto& x : wrong.p) x = 100;
  const cuda::Stream stream;
  Evaluator evaluator(train);
  evaluator.set_stream(stream.get());
  ThreadTeam team(1);
  const Accuracy expected = evaluator.evaluate(right.view(), train, team);
  const DeviceModel to(wrong, kPacked, stream.get());
  const DeviceModel from(right, kPacked, stream.get());
  evaluator.evaluate(to.view(), train, team);
  DeviceBuffer<char> busy(std::size_t{1} << 30);
  for (int i = 0; i < 20; ++i) {
    MF_CUDA(cudaMemsetAsync(busy.data(), i, busy.bytes(), stream.get()));
  }
  MF_CUDA(cudaMemcpyAsync(const_cast<float*>(to.view().p), from.view().p, 100 * 16 * sizeof(float),
                          cudaMemcpyDeviceToDevice, stream.get()));
  expect_same(evaluator.evaluate(to.view(), train, team), expected, "after the copy");
}

TEST(DeviceEvaluator, RefusesRatingsThatTheModelHasNoRowsFor) {
  const Ratings train = random_ratings(30, 20, 0.5, 1);
  const DeviceModel small(random_model(29, 20, 4, ModelKind::plain), kPacked);
  ThreadTeam team(1);
  EXPECT_TRUE(
      contains(message_of([&] { Evaluator(train).evaluate(small.view(), train, team); }), "29"));
}

TEST(DownloadModel, FollowsStrides) {
  for (const ModelKind kind : {ModelKind::biased, ModelKind::plain}) {
    const Model model = random_model(50, 30, 7, kind);
    for (const Layout& layout : kLayouts) {
      const DeviceModel device(model, layout);
      const Model found = download_model(device.view(), nullptr);
      EXPECT_EQ(found.p, model.p) << layout.name;
      EXPECT_EQ(found.q, model.q) << layout.name;
      EXPECT_EQ(found.user_bias, model.user_bias) << layout.name;
      EXPECT_EQ(found.item_bias, model.item_bias) << layout.name;
      EXPECT_EQ(found.kind, kind);
      EXPECT_EQ(found.mean, model.mean);
      EXPECT_EQ(found.factors, 7);
    }
  }
}

// Integers add without rounding: the sums must be exact in any order.
void expect_exact_sums(int block, std::int64_t count) {
  std::vector<float> errors(count);
  LossSums expected;
  for (std::int64_t i = 0; i < count; ++i) {
    errors[i] = static_cast<float>(i % 11 - 4);
    add_error(expected, static_cast<double>(i % 11 - 4));
  }
  const auto device = cuda::upload(View<const float>(errors), nullptr);
  DeviceBuffer<LossSums> partial(reduction_blocks(block));
  launch_sum_errors(block, device.data(), count, partial.data(), nullptr);
  std::vector<LossSums> host(partial.size());
  cuda::download(View<LossSums>(host), partial.data(), nullptr);
  LossSums found;
  for (const LossSums& sums : host) add_sums(found, sums);
  EXPECT_EQ(found.square, expected.square) << block << " threads, " << count << " errors";
  EXPECT_EQ(found.absolute, expected.absolute) << block << " threads, " << count << " errors";
}

TEST(Reduction, IsExactForEveryBlockAndSize) {
  for (const std::int64_t count : {0, 1, 31, 32, 33, 1000, 262'144, 1'000'007}) {
    for (const int block : {32, 64, 128, 256, 512, 1024}) expect_exact_sums(block, count);
  }
}

}  // namespace
}  // namespace mf
