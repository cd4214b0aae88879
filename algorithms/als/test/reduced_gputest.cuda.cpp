// `exchange: reduce` on one device: forms rows in a given order, also rows without ratings, and
// adds the parts of several devices.
#include <gtest/gtest.h>

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/als/cumf/bias.hpp"
#include "algorithms/als/cumf/device_plan.hpp"
#include "algorithms/als/cumf/hermitian/hermitian.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "base/rng.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::als {
namespace {

template <class T>
cuda::DeviceBuffer<T> on_device(const std::vector<T>& from, const cuda::Stream& stream) {
  return cuda::upload(View<const T>(from), stream.get());
}

std::vector<float> random_numbers(std::int64_t count, Rng& rng) {
  std::vector<float> numbers(count);
  for (float& x : numbers) x = static_cast<float>(rng.uniform());
  return numbers;
}

TEST(AlsGivenOrder, RowsHaveTheSlotsOfTheirPlaces) {
  cuda::Stream stream;
  const std::vector<std::int64_t> offsets = {0, 5, 5, 105, 106, 106, 5106};
  const std::vector<std::int32_t> order = {4, 2, 0, 5, 1};
  const std::vector<std::int64_t> begins = {0, 3, 5};
  const auto device = on_device(offsets, stream);
  const SidePlan plan =
      make_side_plan(device.data(), on_device(order, stream), begins, 40, stream.get());
  ASSERT_EQ(plan.batches.size(), 2U);
  EXPECT_EQ(plan.rated, 5);
  EXPECT_EQ(plan.most_rows, 3);
  for (std::size_t b = 0; b < 2; ++b) {
    const RowBatch& batch = plan.batches[b];
    std::vector<std::int64_t> formed(batch.rows.size(), 0);
    for (const auto& [tasks, range] :
         {std::pair{&plan.tasks, batch.tasks}, std::pair{&plan.bias_tasks, batch.bias_tasks}}) {
      std::vector<std::int64_t> ratings(batch.rows.size(), 0);
      for (const RowTask& task : back(tasks->data() + range.begin, range.size(), stream)) {
        ASSERT_LT(task.slot, batch.rows.size());
        EXPECT_EQ(task.row, order[batch.rows.begin + task.slot]);
        ratings[task.slot] += task.count;
        ++formed[task.slot];
      }
      for (std::int64_t slot = 0; slot < batch.rows.size(); ++slot) {
        const std::int32_t row = order[batch.rows.begin + slot];
        EXPECT_EQ(ratings[slot], offsets[row + 1] - offsets[row]);
      }
    }
    for (const std::int64_t times : formed) EXPECT_GE(times, 2) << "a task for A and one for b";
  }
}

// A part without ratings is set to zeros.
TEST(AlsGivenOrder, RowsWithoutRatingsAreZero) {
  cuda::Stream stream;
  Rng rng(3);
  for (const std::int32_t f : {5, 16, 40, 100, 200}) {
    const std::int64_t stride = row_stride(f, sizeof(float));
    const std::int64_t values = a_values(AStorage::fp32, f);
    const auto offsets = on_device(std::vector<std::int64_t>{0, 0, 3, 3}, stream);
    const SidePlan plan =
        make_side_plan(offsets.data(), on_device(std::vector<std::int32_t>{2, 1, 0}, stream),
                       {0, 3}, 0, stream.get());
    auto theta = random_numbers(2 * stride, rng);
    for (std::int64_t i = 0; i < 2 * stride; ++i) theta[i] = i % stride < f ? theta[i] : 0;
    const auto rows = on_device(theta, stream);
    const auto others = on_device(std::vector<std::int32_t>{0, 1, 1}, stream);
    const auto ratings = on_device(std::vector<float>{1, 2, 3}, stream);
    auto a = on_device(random_numbers(3 * values, rng), stream);
    auto b = on_device(random_numbers(3 * stride, rng), stream);
    for (const Load load : {Load::coalesced, Load::noncoalesced_l1, Load::noncoalesced_nol1}) {
      HermitianArgs of_a;
      of_a.factors = f;
      of_a.reg_power = 0.5F;
      of_a.theta = rows.data();
      of_a.stride = stride;
      of_a.others = others.data();
      of_a.tasks = plan.tasks.data();
      of_a.n_tasks = plan.batches[0].tasks.size();
      of_a.a = a.data();
      launch_hermitian(of_a, load, stream.get());
      BiasArgs of_b;
      of_b.factors = f;
      of_b.theta = rows.data();
      of_b.stride = stride;
      of_b.others = others.data();
      of_b.values = ratings.data();
      of_b.tasks = plan.bias_tasks.data();
      of_b.n_tasks = plan.batches[0].bias_tasks.size();
      of_b.b = b.data();
      launch_bias(of_b, stream.get());
      const auto got_a = back(a.data(), 3 * values, stream);
      const auto got_b = back(b.data(), 3 * stride, stream);
      for (const int slot : {0, 2}) {
        for (std::int64_t i = 0; i < values; ++i) ASSERT_EQ(got_a[slot * values + i], 0) << f;
        for (std::int64_t i = 0; i < stride; ++i) ASSERT_EQ(got_b[slot * stride + i], 0) << f;
      }
      const float want = theta[0] * theta[0] + 2 * theta[stride] * theta[stride];
      EXPECT_NEAR(got_a[values], want, 1e-5 * want) << f;
      const float sum = theta[0] + 5 * theta[stride];
      EXPECT_NEAR(got_b[stride], sum, 1e-5 * sum) << f;
    }
  }
}

// As they are received: all rows of rank 0, then all of rank 1, ...
TEST(AlsParts, OfRanksAreAddedRowByRow) {
  cuda::Stream stream;
  Rng rng(7);
  constexpr int kRows = 5;
  constexpr int kRanks = 3;
  for (const std::int32_t f : {6, 20, 100}) {
    const std::int64_t stride = row_stride(f, sizeof(float));
    const std::int64_t values = a_values(AStorage::fp32, f);
    const std::int64_t pitch = a_pitch(AStorage::fp32, f);
    const auto parts_a = random_numbers(kRanks * kRows * values, rng);
    const auto parts_b = random_numbers(kRanks * kRows * stride, rng);
    std::vector<SplitRow> sums;
    for (int slot = 0; slot < kRows; ++slot) sums.push_back({10 + slot, slot, slot, kRanks});
    const auto rows = on_device(sums, stream);
    auto device_a = on_device(parts_a, stream);
    auto device_b = on_device(parts_b, stream);
    cuda::DeviceBuffer<float> b(kRows * stride), scale(kRows);
    BiasArgs of_b;
    of_b.factors = f;
    of_b.stride = stride;
    of_b.splits = rows.data();
    of_b.n_splits = kRows;
    of_b.b = b.data();
    of_b.parts = device_b.data();
    of_b.part_step = kRows;
    launch_add_parts(of_b, stream.get());
    const auto got_b = back(b.data(), kRows * stride, stream);
    for (std::int64_t i = 0; i < kRows * stride; ++i) {
      float sum = 0;
      for (int rank = 0; rank < kRanks; ++rank) sum += parts_b[rank * kRows * stride + i];
      ASSERT_EQ(got_b[i], sum);
    }
    for (const AStorage storage : {AStorage::fp32, AStorage::fp16}) {
      cuda::DeviceBuffer<std::byte> a(kRows * a_bytes(storage, f));
      HermitianArgs of_a;
      of_a.factors = f;
      of_a.reg = 0.5F;
      of_a.splits = rows.data();
      of_a.n_splits = kRows;
      of_a.storage = storage;
      of_a.a = a.data();
      of_a.scale = scale.data();
      of_a.parts = device_a.data();
      of_a.part_step = kRows;
      launch_add_parts(of_a, stream.get());
      const auto bytes = back(a.data(), std::ssize(a), stream);
      const auto scales = back(scale.data(), kRows, stream);
      for (int slot = 0; slot < kRows; ++slot) {
        for (int i = 0; i < f; ++i) {
          for (int j = 0; j < f; ++j) {
            float sum = 0;
            for (int rank = 0; rank < kRanks; ++rank) {
              sum += parts_a[(rank * kRows + slot) * values + i * pitch + j];
            }
            if (i == j) sum += 0.5F * static_cast<float>(10 + slot);
            const std::int64_t at = slot * a_values(storage, f) + i * a_pitch(storage, f) + j;
            if (storage == AStorage::fp32) {
              ASSERT_EQ(reinterpret_cast<const float*>(bytes.data())[at], sum);
            } else {
              const __half got = reinterpret_cast<const __half*>(bytes.data())[at];
              ASSERT_NEAR(scales[slot] * __half2float(got), sum, 2e-3 * (sum + 6));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mf::als
