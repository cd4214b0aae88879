// The change of variables of ials_fused, and its products, against double precision.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/ials/fused/row_product.hpp"
#include "algorithms/ials/fused/whitening.hpp"
#include "base/rng.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::ials {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXd;

// Rows on the device, as ials_fused has them; one more, of zeros, follows.
class DeviceRows {
 public:
  DeviceRows(const Rows& rows, const cuda::Stream& stream)
      : rows_(rows.rows()), factors_(rows.cols()), stream_(stream) {
    Rows padded = Rows::Zero(rows_ + 1, stride());
    padded.topLeftCorner(rows_, factors_) = rows;
    values_ = cuda::upload(View<const float>(padded.data(), padded.size()), stream.get());
    stream.synchronize();
  }

  std::int64_t stride() const { return row_stride(factors_, sizeof(float)); }
  float* data() { return values_.data(); }
  Rows all() const {
    const auto values = back(values_.data(), (rows_ + 1) * stride(), stream_);
    return Eigen::Map<const Rows>(values.data(), rows_ + 1, stride());
  }
  // The memory around the rows must still be zero.
  Rows back_rows() const {
    Rows padded = all();
    Rows rows = padded.topLeftCorner(rows_, factors_);
    padded.topLeftCorner(rows_, factors_).setZero();
    EXPECT_TRUE(padded.isZero(0)) << rows_ << " rows of " << factors_;
    return rows;
  }

 private:
  std::int64_t rows_, factors_;
  const cuda::Stream& stream_;
  cuda::DeviceBuffer<float> values_;
};

Rows random_rows(std::int64_t rows, std::int64_t factors, std::uint64_t seed) {
  Rng rng(seed);
  Rows made(rows, factors);
  for (std::int64_t k = 0; k < made.size(); ++k) {
    made.data()[k] = static_cast<float>(2 * rng.uniform() - 1);
  }
  return made;
}

// L / s and T, each fp32, which the products of the identity are.
struct Factored {
  Rows l, t, t_again;
};

Factored factored(const Rows& theta, double reg, const cuda::Stream& stream) {
  const std::int64_t factors = theta.cols();
  DeviceRows rows(theta, stream);
  Whitening whitening(static_cast<std::int32_t>(factors), rows.stride(), theta.rows(), reg, false,
                      stream.get());
  whitening.factorize(rows.data(), theta.rows(), theta.rows(), 1);
  whitening.check();
  DeviceRows one(Rows::Identity(factors, factors), stream);
  const Rows zero = Rows::Zero(factors, factors);
  DeviceRows l(zero, stream), t(zero, stream), t_again(zero, stream);
  whitening.start(one.data(), factors, l.data());
  whitening.finish(one.data(), factors, t.data());
  whitening.whiten(one.data(), factors, t_again.data());
  return {l.back_rows(), t.back_rows(), t_again.back_rows().transpose()};
}

// No row may be missing: of five factors and more the lightest is 1e-5 of the diagonal. Rounding is
// below 1e-6.
void expect_gram(std::int64_t count, std::int64_t factors, const cuda::Stream& stream) {
  SCOPED_TRACE(testing::Message() << count << " rows of " << factors);
  constexpr double kReg = 0.5;
  Rows theta = random_rows(count, factors, 7);
  theta.bottomRows(std::min<std::int64_t>(count, 255)) *= 4;
  const Factored made = factored(theta, kReg, stream);
  const Matrix rows = theta.cast<double>();
  Matrix expected = Matrix::Identity(factors, factors) * kReg;
  if (count > 0) {  // Eigen 3.4 divides by the length of the sums
    expected.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
  }
  const Matrix l = made.l.cast<double>() * white_scale(count);
  const Matrix gram = l * l.transpose();
  double worst = 0;
  for (std::int64_t j = 0; j < factors; ++j) {
    for (std::int64_t i = j; i < factors; ++i) {
      const double unit = std::sqrt(expected(i, i) * expected(j, j));
      worst = std::max(worst, std::abs(gram(i, j) - expected(i, j)) / unit);
    }
  }
  EXPECT_LT(worst, 4e-6);
  EXPECT_EQ(made.t, made.t_again);
  const Matrix identity = made.t.cast<double>() * made.l.cast<double>();
  EXPECT_LT((identity - Matrix::Identity(factors, factors)).cwiseAbs().maxCoeff(), 1e-4);
}

// Chunks have at least 128 rows, and are at most 256.
TEST(Whitening, AllRowsAreInTheGramMatrix) {
  const cuda::Stream stream;
  for (const int factors : {1, 5, 17, 33, 100, 128, 512}) {
    for (const int count : {0, 1, 100, 127, 128, 129, 255, 256, 4 * 128 + 1, 4 * 128 + 127}) {
      expect_gram(count, factors, stream);
    }
  }
  for (const int factors : {17, 33, 128}) {
    for (const int rest : {0, 1, 127, 255}) {
      expect_gram(256 * 128 + rest, factors, stream);
      expect_gram(256 * 133 + rest, factors, stream);
    }
  }
  expect_gram(256 * 128 - 1, 64, stream);
}

struct Handle {
  Handle() { MF_LIBRARY(cublasCreate(&value)); }
  ~Handle() { cublasDestroy(value); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasHandle_t value = nullptr;
};

struct Kind {
  bool transposed, tf32;
};

// By one kernel, so that none is loaded when numbers of rows change.
void expect_product(cublasHandle_t handle, Kind kind, std::int32_t factors, std::int64_t count,
                    const cuda::Stream& stream) {
  SCOPED_TRACE(testing::Message() << count << " rows of " << factors << ", transposed "
                                  << kind.transposed << ", tf32 " << kind.tf32);
  const Rows square = random_rows(factors, factors, 11);  // by columns: its transpose
  const Rows rows = random_rows(count, factors, 13);
  auto matrix = cuda::upload(View<const float>(square.data(), square.size()), stream.get());
  DeviceRows from(rows, stream), to(Rows::Constant(count, factors, 9), stream);
  RowProduct product(handle, kind.transposed, factors, from.stride(), kind.tf32, stream.get());
  EXPECT_TRUE(product.same_kernel(count));
  product.run(matrix.data(), 0.5F, from.data(), count, to.data());
  const Matrix made = to.back_rows().cast<double>();
  const Matrix right =
      kind.transposed ? Matrix(square.cast<double>().transpose()) : Matrix(square.cast<double>());
  const std::int64_t checked = std::min<std::int64_t>(count, 300);
  for (const bool last : {false, true}) {
    const std::int64_t first = last ? count - checked : 0;
    const Matrix expected = 0.5 * rows.middleRows(first, checked).cast<double>() * right;
    const double error = (made.middleRows(first, checked) - expected).cwiseAbs().maxCoeff();
    EXPECT_LT(error, (kind.tf32 ? 2e-3 : 2e-6) * factors) << (last ? "last" : "first");
  }
}

TEST(RowProduct, AnyNumberOfRowsIsMultipliedByOneKernel) {
  const cuda::Stream stream;
  const Handle handle;
  MF_LIBRARY(cublasSetStream(handle.value, stream.get()));
  for (const Kind kind : {Kind{false, false}, Kind{true, false}, Kind{true, true}}) {
    for (const int factors : {1, 8, 17, 50, 64, 100, 128, 200, 256, 512}) {
      for (const int count : {1, 2, 31, 400, 20'001}) {
        expect_product(handle.value, kind, factors, count, stream);
      }
      RowProduct product(handle.value, kind.transposed, factors, row_stride(factors, sizeof(float)),
                         kind.tf32, stream.get());
      for (const int count : {65'537, 480'189, 50'000'000}) {
        EXPECT_TRUE(product.same_kernel(count)) << count << " rows of " << factors;
      }
    }
  }
}

}  // namespace
}  // namespace mf::ials
