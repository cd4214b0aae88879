#include "algorithms/baseline/ease.hpp"

#include "algorithms/baseline/products.hpp"
#include "base/clones.hpp"
#include "base/error.hpp"

namespace mf::baseline {
namespace {

MF_CLONES void add(const float* row, std::int64_t n, float* sums) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] += row[i];
}

}  // namespace

void add_to(View<float> sums, const float* row) { add(row, sums.size(), sums.data()); }

Work ease_work(const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const double n = train.n_items();
  return {nnz, 16 * nnz + 8 * n * n, count_products(train) + n * n * n};
}

void fail_not_definite(const char* algorithm, double reg) {
  fail(ErrorKind::usage,
       "{}: X^T X + {} I is not positive definite in fp32; raise \"reg\": hundreds are usual",
       algorithm, reg);
}

}  // namespace mf::baseline
