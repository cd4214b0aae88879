// Splits as tests write them.
#pragma once

#include <cstdint>

#include "datasets/split/split.hpp"

namespace mf::test {

inline SplitSpec holdout(double test, double validation = 0, std::uint64_t seed = 1) {
  return {.test_fraction = test, .validation_fraction = validation, .seed = seed};
}

inline SplitSpec leave_out(int k, double validation = 0) {
  return {.kind = SplitSpec::Kind::leave_out, .leave_out = k, .validation_fraction = validation};
}

inline SplitSpec fold_of(int folds, int fold, double validation = 0, std::uint64_t seed = 1) {
  return {.kind = SplitSpec::Kind::folds,
          .folds = folds,
          .fold = fold,
          .validation_fraction = validation,
          .seed = seed};
}

inline SplitSpec cut_at(double share, double validation = 0) {
  return {.kind = SplitSpec::Kind::by_time, .before_cut = share, .validation_fraction = validation};
}

inline SplitSpec leave_last(int k, int validation = 0) {
  return {.kind = SplitSpec::Kind::leave_last, .leave_last = k, .validation_last = validation};
}

inline SplitSpec users(double share, double fold_in, double validation = 0,
                       std::uint64_t seed = 1) {
  return {.kind = SplitSpec::Kind::users,
          .user_fraction = share,
          .fold_in = fold_in,
          .validation_fraction = validation,
          .seed = seed};
}

}  // namespace mf::test
