// The parameters of BPMF, resolved, and how a row is laid out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "algorithms/als/settings.hpp"
#include "algorithms/core/algorithm.hpp"

namespace mf::bpmf {

// With the two columns of a bias.
constexpr std::int64_t kMaxFactors = als::kMostFormedFactors - 2;

// A row is (x, 1, b): its factors, and for a model with biases its own bias and the multiplier of
// the other side's. Rows of the other side are multiplied with (x, 1), while b stands for the
// offset of their ratings.
struct RowColumns {
  std::int32_t factors = 0;
  bool biased = false;

  constexpr std::int32_t one() const { return factors; }
  constexpr std::int32_t bias() const { return factors + 1; }
  constexpr std::int32_t drawn() const { return biased ? factors + 1 : factors; }  // x and b
  constexpr std::int32_t gathered() const { return biased ? factors + 2 : factors; }
  // The column of drawn element k.
  constexpr std::int32_t place(std::int32_t k) const { return k < factors ? k : bias(); }
};

// Longest run of a row's ratings that one thread block takes, and bytes of the sums of whole rows
// that are formed before they are drawn from.
constexpr std::int64_t kSplitRows = 8192;
constexpr std::int64_t kSlotBytes = std::int64_t{1} << 30;
inline std::int64_t rows_of_slots(std::int64_t slot_floats) {
  return std::max<std::int64_t>(1, kSlotBytes / (4 * slot_floats));
}

struct Settings {
  RowColumns columns;
  als::CenterKind center = als::CenterKind::mean;  // biases are sampled, too
  std::int64_t burn_in = 0;
  double alpha = 0;  // 0: drawn
  double beta0 = 2;
  double nu0 = 0;                                             // of the Wishart prior, resolved
  als::FusedPrecision precision = als::FusedPrecision::fp16;  // of `bpmf`

  bool draws_alpha() const { return alpha == 0; }
  // For the first draw, if it is drawn afterwards.
  double first_alpha() const { return draws_alpha() ? 1 : alpha; }
  // The center removed from the ratings first. Drawn biases count as the mean.
  als::CenterKind removed() const {
    return center == als::CenterKind::none ? center : als::CenterKind::mean;
  }
};

// The view of such rows after a sweep: with the number of the draw and the place of its biases.
inline FactorView as_draw(FactorView view, const Settings& settings, std::int64_t sweep) {
  view.draw = std::max<std::int64_t>(0, sweep - settings.burn_in);
  if (!settings.columns.biased) return view;
  view.user_bias = view.p + settings.columns.bias();
  view.item_bias = view.q + settings.columns.bias();
  view.user_bias_stride = view.p_stride;
  view.item_bias_stride = view.q_stride;
  return view;
}

std::vector<ParamSpec> cpu_params();
std::vector<ParamSpec> device_params();
Settings read_settings(const Params& params);

// Compulsory work of a draw of all rows of both sides; README.md derives it.
Work draw_work(const Settings& settings, std::int64_t nnz, std::int64_t rated_rows);

}  // namespace mf::bpmf
