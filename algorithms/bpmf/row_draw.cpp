#include "algorithms/bpmf/row_draw.hpp"

#include "algorithms/bpmf/noise.hpp"
#include "base/error.hpp"

namespace mf::bpmf {
namespace {

double dot(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

// v^T M v of a symmetric matrix.
double form(const std::vector<float>& matrix, const float* v, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += v[i] * dot(matrix.data() + i * size, v, size);
  return sum;
}

}  // namespace

void RowDraw::complete(std::int64_t /*row*/, std::int64_t /*count*/, float* a,
                       std::int64_t stride) const {
  const auto alpha = static_cast<float>(alpha_);
  for (std::int64_t j = 0; j < prior_.size; ++j) {
    for (std::int64_t i = 0; i <= j; ++i) {
      float& element = a[j * stride + i];
      element = alpha * element + prior_.precision[j * prior_.size + i];
    }
  }
}

// If the errors are wanted: with v = (x, b_u) and z + n = R^T v,
//   sum (r - c - v . (q, 1))^2 = sum (r - c)^2 - 2 v . sum (r - c)(q, 1) + v^T sum (q,1)(q,1)^T v
// whose last term is (|z + n|^2 - v^T Lambda v) / alpha.
bool RowDraw::solve(std::int64_t row, float* a, const float* b, float* x,
                    als::cpu::Workspace& work) const {
  const std::int64_t size = prior_.size;
  const std::int64_t stride = als::cpu::padded_stride(columns_.gathered());
  const float* offset = columns_.biased ? a + columns_.bias() * stride : nullptr;
  double square = columns_.biased ? offset[columns_.bias()] - 2.0 * b[columns_.bias()] : 0.0;
  float* shifted = work.part_b.data();
  float* scratch = work.part_a.data();  // z + n first
  AlignedVector<float>& products = work.weights;
  products.assign(2 * size, 0.0F);
  float* normals = products.data() + size;
  for (std::int64_t k = 0; k < size; ++k) {
    products[k] = offset != nullptr ? b[k] - offset[k] : b[k];
    shifted[k] = static_cast<float>(alpha_) * products[k] + prior_.shift[k];
    normals[k] = noise(key_, row, static_cast<std::int32_t>(k));
  }
  std::fill(shifted + size, shifted + stride, 0.0F);
  if (!kernels_.cholesky(a, stride, static_cast<std::int32_t>(size), shifted, x, scratch,
                         normals)) {
    fail(ErrorKind::usage,
         "bpmf_cpu: the system of row {} (counted from 0) is not positive definite in fp32 at "
         "alpha {}; use a smaller alpha or fewer factors",
         row, alpha_);
  }
  if (residuals_ != nullptr) {
    const double fitted = dot(scratch, scratch, size) - form(prior_.precision, x, size);
    residuals_[row] = square - 2 * dot(x, products.data(), size) + fitted / alpha_;
  }
  if (!columns_.biased) return true;
  x[columns_.bias()] = x[columns_.factors];
  x[columns_.one()] = 1;
  return true;
}

}  // namespace mf::bpmf
