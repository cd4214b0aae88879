// The inverse on a device against one in double, over blocks and strips of several sizes.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "algorithms/baseline/test/known_inverse.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::baseline {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix positive(std::int64_t n) {
  Rng rng(3);
  Matrix x(2 * n, n);
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  return x.transpose() * x / static_cast<double>(n) + Matrix::Identity(n, n);
}

// The lower triangle in columns `stride` apart, which also hold `beyond`.
AlignedVector<float> lower(const Matrix& a, std::int64_t stride, float beyond) {
  AlignedVector<float> to(stride * a.cols(), beyond);
  for (std::int64_t j = 0; j < a.cols(); ++j) {
    for (std::int64_t i = j; i < a.rows(); ++i) to[i + j * stride] = static_cast<float>(a(i, j));
  }
  return to;
}

void expect_inverse(std::int64_t n, DeviceInverse::Sizes sizes) {
  constexpr float kBeyond = 77;
  const std::int64_t stride = n + 5;
  const Matrix a = positive(n), inverse = a.llt().solve(Matrix::Identity(n, n));
  const cuda::Stream stream;
  AlignedVector<float> found = lower(a, stride, kBeyond);
  auto on_device = cuda::upload(View<const float>(found), stream.get());
  DeviceInverse device(n, sizes, stream.get());
  ASSERT_TRUE(device.invert(on_device.data(), n, stride));
  cuda::download(View<float>(found), on_device.data(), stream.get());
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < stride; ++i) {
      const double x = found[i + j * stride];
      if (i >= n) {
        ASSERT_EQ(x, kBeyond);
      }
      if (i >= j && i < n) worst = std::max(worst, std::abs(x + inverse(i, j)));
    }
  }
  EXPECT_LT(worst, 2e-6) << n << " rows, blocks of " << sizes.width << ", strips of "
                         << sizes.strip;
}

TEST(DeviceInverse, IsTheInverseOverBlocksAndStrips) {
  expect_inverse(1, {});
  expect_inverse(333, {});
  expect_inverse(333, {.width = 333, .strip = 1000});
  expect_inverse(333, {.width = 64, .strip = 1000});
  expect_inverse(333, {.width = 64, .strip = 150});
  expect_inverse(333, {.width = 100, .strip = 64});
  expect_inverse(320, {.width = 32, .strip = 32});
  expect_inverse(1300, {.width = 512, .strip = 512});
}

TEST(DeviceInverse, TellsThatABlockIsNotPositiveDefinite) {
  constexpr std::int64_t kRows = 200;
  const cuda::Stream stream;
  for (const std::int64_t bad : {0, 70, 199}) {
    Matrix a = positive(kRows);
    a(bad, bad) = -1;
    auto on_device = cuda::upload(View<const float>(lower(a, kRows, 0)), stream.get());
    DeviceInverse device(kRows, {.width = 64, .strip = 100}, stream.get());
    EXPECT_FALSE(device.invert(on_device.data(), kRows, kRows)) << bad;
  }
}

TEST(DeviceInverse, PassesTwoToThe32Elements) {
  constexpr std::int64_t kRows = 66'000;
  if (cuda::available_bytes() < kRows * kRows * 4 + 1'000'000'000) {
    GTEST_SKIP() << "[  SKIPPED ] the device has less than 18.5 GB free";
  }
  test::KnownInverse known(kRows);
  known.make();
  DeviceInverse device(kRows, {}, known.stream().get());
  ASSERT_TRUE(device.invert(known.a(), kRows, kRows));
  AlignedVector<float> column(kRows);
  for (const std::int64_t j : {0, 511, 512, 32'500, 46'341, 65'999}) {
    cuda::download(View<float>(column), known.a() + j * kRows, known.stream().get());
    double worst = 0;
    for (std::int64_t i = j; i < kRows; ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(column[i]) + known.inverse(i, j)));
    }
    EXPECT_LT(worst, 1e-6) << j;
  }
}

}  // namespace
}  // namespace mf::baseline
