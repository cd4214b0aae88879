// The parameters that both algorithms share, resolved, and the work of an epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/ccd/sweep.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/params.hpp"
#include "base/json/names.hpp"

namespace mf::ccd {

enum class RegScale { plain, rows };
inline constexpr Names kRegScales{
    std::to_array<Named<RegScale>>({{"plain", RegScale::plain}, {"rows", RegScale::rows}})};

inline constexpr Names kResiduals{
    std::to_array<Named<Residual>>({{"separate", Residual::separate}, {"fused", Residual::fused}})};

enum class Start { model, zero };
inline constexpr Names kStarts{
    std::to_array<Named<Start>>({{"model", Start::model}, {"zero", Start::zero}})};

struct Settings {
  std::int32_t factors;
  double reg;
  RegScale reg_scale;
  Sweep sweep;
  Start start;

  // lambda_i of a row with this many ratings.
  float shrink(std::int64_t ratings) const {
    return row_shrink(reg, reg_scale == RegScale::rows, ratings);
  }
};

inline constexpr std::int64_t kMaxFactors = 1024;

// factors, reg, reg_scale, inner_iterations, residual, start.
std::vector<ParamSpec> common_params();
Settings read_settings(const Params& params);

// Compulsory work of an epoch; NOTES.md derives it. An epoch visits every rating from both sides,
// so `updates` is twice their number, as in ALS.
// `rated_rows`: users and items with at least one of the nnz ratings.
Work epoch_work(const Settings& settings, std::int64_t nnz, std::int64_t rated_rows);

// (row, source) -> the first entry of R: r - p_u . q_i in double, rounded once, or r.
class FirstResidual {
 public:
  FirstResidual(const Settings& settings, const Model& initial)
      : factors_(settings.factors), initial_(settings.start == Start::model ? &initial : nullptr) {}

  float operator()(std::int64_t user, std::int64_t item, float rating) const {
    if (initial_ == nullptr) return rating;
    const float* p = initial_->p.data() + user * factors_;
    const float* q = initial_->q.data() + item * factors_;
    double sum = 0;
    for (std::int64_t k = 0; k < factors_; ++k) sum += static_cast<double>(p[k]) * q[k];
    return static_cast<float>(rating - sum);
  }

 private:
  std::int64_t factors_;
  const Model* initial_;
};

}  // namespace mf::ccd
