// The two half-steps of ALS see R by rows (X) and by columns (Theta), in the same form.
#pragma once

#include <cstdint>

#include "algorithms/als/center.hpp"
#include "base/aligned.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::als {

// Row x has the ratings offsets[x] to offsets[x + 1]: the index on the other side, and the value
// with the center removed.
struct Side {
  View<const std::int64_t> offsets;  // rows + 1
  View<const std::int32_t> others;   // nnz
  View<const float> values;          // nnz

  std::int64_t rows() const { return offsets.size() - 1; }
  std::int64_t nnz() const { return others.size(); }
  std::int64_t length(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
};

// Both sides of R. Borrows the ratings (they must outlive it) and owns what differs from them: the
// columns, the center, and the residuals where one is removed.
class Sides {
 public:
  Sides() = default;
  // `reg` is the lambda of the center's biases.
  Sides(const Ratings& train, CenterKind kind, double reg, ThreadTeam& team);

  Side users() const;
  Side items() const;
  const Center& center() const { return center_; }

 private:
  const Ratings* train_ = nullptr;
  AlignedVector<float> user_values_;  // empty where nothing was removed
  Csc columns_;
  Center center_;
};

}  // namespace mf::als
