// A trained model on disk: model.json and NumPy arrays, in the ids of the user's files.
//
//   model.json        kind, sizes, mean, the resolved case; "clip": {"min", "max"} where the case
//                     clips its predictions; "loss", by which new users are folded in
//   P.npy  Q.npy      n_users x factors, n_items x factors, float32
//   user_bias.npy  item_bias.npy       float32 (biased model)
//   user_ids.npy  item_ids.npy         int32: the id of row u of P, of row i of Q; 0, 1, 2, ...
//                                      where ids are text, which then stand in
//   user_names.txt  item_names.txt     one a line (UTF-8), in the order of the rows; model.json
//                                      says "user_names": true, "item_names": true, and version 2
//   seen_offsets.npy  seen_items.npy   int64, int32: rows of Q that each user rated in training
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/core/model.hpp"
#include "base/json/json.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/fold_in.hpp"
#include "harness/evaluate/predictor.hpp"

namespace mf {

// Written to a folder beside the target, then renamed: a model is there whole or not at all.
// `predictor` is the evaluator's: the mean of `train`, and how predictions are clipped. Throws
// Error(io).
void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const Predictor& predictor, const FoldInLoss& loss, const Json& resolved_case);

// The ids of the users or of the items, in the order of the rows.
struct ModelIds {
  std::vector<std::int32_t> ids;
  IdNames names;  // of all rows, or none: ids are integers

  // Nothing for an id that the model does not know.
  std::optional<std::int64_t> row(std::string_view id) const;
  std::optional<std::int64_t> row(std::int32_t id) const;
  std::string name(std::int64_t row) const;  // "7", "B000123"
};

// A user of the model, or a new one.
struct ModelUser {
  std::vector<float> factors;
  float bias = 0;
  std::vector<std::int32_t> seen;  // rows of Q, ascending; if empty, factors and bias say nothing
};

// Rows of Q with their predictions.
using ScoredItems = std::vector<std::pair<std::int64_t, float>>;

struct SavedModel {
  Model model;
  Predictor predictor;
  ModelIds users, items;
  std::vector<std::int64_t> seen_offsets;
  std::vector<std::int32_t> seen_items;
  FoldInLoss loss;

  ModelUser user(std::int64_t row) const;
  // By a history in rows of Q. Throws Error(data) if it has an item twice; warns of items that the
  // model was not trained on and leaves them out.
  ModelUser fold_in(std::vector<RowRating> history) const;

  // As the evaluator predicts; p . q for implicit feedback, 0 for a user without a history.
  float predict(const ModelUser& user, std::int64_t item) const;
  // The k best, best first, also among those that clipping makes equal; ties by row.
  ScoredItems recommend(const ModelUser& user, int k, bool include_seen) const;

 private:
  float predict(const PredictionRule& how, const ModelUser& user, std::int64_t item) const;
};

// Throws Error(data) naming the file that is missing or damaged: sizes that do not fit, ids or
// names that do not ascend, offsets that fall, rows out of range, numbers that are not finite.
SavedModel load_model(const std::string& folder);

}  // namespace mf
