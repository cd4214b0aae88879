// Factors of users unknown to training, from their history and the factors of the items: the row
// that minimizes the algorithm's own loss, solved exactly in double.
//
//   implicit   (Q^T Q + l I + sum w y y^T) x = sum (1 + w) y      over the observed items,
//                                                                  w = alpha r
//   ridge      (sum z z^T + reg n^power I) x = sum (r - mu - c_i) z  over the n rated items
//
// z is y, with a 1 beside it for the user's bias in a biased model, which is shrunk as the factors
// are. An empty history gives zeros. Work: n f^2 + f^3 / 3 multiply-adds a user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/model.hpp"
#include "base/aligned.hpp"
#include "base/json/json_fwd.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/rating.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// By which loss a row is folded in.
struct FoldInLoss {
  std::optional<ImplicitLoss> implicit;
  // For ridge, if it is not implicit: reg n^power |x|^2 for n ratings.
  double reg = 0;
  double reg_power = 1;
  // Nothing is folded in: a user is scored by the history itself, of implicit feedback.
  bool by_history = false;
  bool has_objective = true;  // false: `implicit` folds rows in, and something else is minimized

  bool of_pairs() const { return implicit || by_history; }  // implicit feedback

  Json to_json() const;
  static FoldInLoss from_json(const Json& json, const std::string& path);  // Error(data)
};

// For an algorithm with these parameters: its implicit loss, or ridge by reg_p, if that exists and
// is not negative, else by reg; 0 for an algorithm with neither.
FoldInLoss fold_in_loss(const AlgorithmInfo& info, const Params& params);

class FoldIn {
 public:
  // The items of a host view, which must live as long as this.
  FoldIn(const FactorView& model, const FoldInLoss& loss, ThreadTeam& team);

  struct Row {
    std::vector<float> factors;
    float bias = 0;  // of a biased model
  };
  // Throws Error(data) for an implicit history with a value that is negative or not finite. Values
  // of 0 are not observed there.
  Row solve(View<const RowRating> history) const;

  // Rows of `users`, packed.
  AlignedVector<float> solve(const Ratings& histories, View<const std::int32_t> users,
                             ThreadTeam& team) const;

 private:
  FactorView model_;
  FoldInLoss loss_;
  std::vector<double> gram_;  // Q^T Q if the loss is implicit
};

}  // namespace mf
