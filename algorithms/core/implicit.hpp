// Implicit feedback (Hu, Koren, Volinsky, "Collaborative Filtering for Implicit Feedback Datasets",
// ICDM 2008): a pair (u, i) with a value r > 0 was observed, every other pair was not.
//
//   L = sum over all (u, i) of c_ui (p_ui - x_u . y_i)^2 + sum l_u |x_u|^2 + sum l_i |y_i|^2
//
// preference p = 1, confidence c = c_i + alpha r if it was observed; p = 0, c = c_i elsewhere. c_i
// is 1, or grows with an item's pairs (unobserved_weights of core/observed.hpp). X is the harness's
// P, Y its Q; the model is the plain one.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace mf {

struct ImplicitLoss {
  double alpha = 1;  // > 0
  double reg = 0;    // >= 0
  // l of a row with n observed pairs: reg (n + others / alpha)^exponent, `others` being the rows of
  // the other side; 0: reg for all (Hu et al.). Rendle, Krichene, Zhang, Koren, "Revisiting the
  // Performance of iALS on Item Recommendation Benchmarks", RecSys 2022: their
  // unobserved weight is 1 / alpha of ours.
  double reg_exponent = 0;
  // False: l is reg n^exponent of a row with pairs (Spark's MLlib, with exponent 1).
  bool others_count = true;
  double popularity_exponent = 0;  // of c_i; 0: all are 1

  MF_HD double row_reg(std::int64_t n, std::int64_t others) const {
    if (reg_exponent == 0) return reg;
    const double unobserved = others_count ? static_cast<double>(others) / alpha : 0;
    return reg * std::pow(static_cast<double>(n) + unobserved, reg_exponent);
  }
  MF_HD double weight(double r) const { return alpha * r; }  // c - 1
};

}  // namespace mf
