// H. Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019: the B with the least
//   |X - X B|^2 + reg |B|^2,   diag(B) = 0
// is, with P = (X^T X + reg I)^-1 (equation 8),
//   B_ji = -P_ji / P_ii,       and score(u, i) = sum over the history of u of B_ji
// With a dropout p of the input (H. Steck, "Autoencoders that don't overfit towards the Identity",
// NeurIPS 2020), reg I becomes reg I + p / (1 - p) diag(X^T X).
#pragma once

#include "algorithms/core/algorithm.hpp"
#include "base/view.hpp"

namespace mf::baseline {

struct EaseDiagonal {
  explicit EaseDiagonal(const Params& params)
      : reg(params.number("reg")),
        share(params.number("dropout") / (1 - params.number("dropout"))) {}

  double reg;    // is added to the diagonal,
  double share;  // and this share of itself
};

// For one epoch; README.md derives it.
Work ease_work(const Ratings& train);

// sums += row
void add_to(View<float> sums, const float* row);

[[noreturn]] void fail_not_definite(const char* algorithm, double reg);

}  // namespace mf::baseline
