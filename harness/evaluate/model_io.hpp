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
// `predictor` is that of the evaluator: the mean of `train`, and how predictions are clipped.
// Throws Error(io).
void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const Predictor& predictor, const FoldInLoss& loss, const Json& resolved_case);

// An interaction of a user, by the item's key (SavedModel).
struct HistoryItem {
  std::int32_t item_id = 0;
  float value = 1;
};

struct FoldedUser {
  FoldIn::Row row;
  std::vector<std::int32_t> seen;  // rows of Q, ascending
};

// Users and items go by keys: their ids, or their rows where ids are text.
struct SavedModel {
  Json info;
  Model model;
  Predictor predictor;
  std::vector<std::int32_t> user_ids, item_ids;
  IdNames user_names, item_names;  // of all rows, or none: ids are integers
  std::vector<std::int64_t> seen_offsets;
  std::vector<std::int32_t> seen_items;
  std::optional<FoldInLoss> loss;  // nothing in folders of older versions

  // The key of what people call it: -1 of a name that the model does not know; nothing where ids
  // are integers and this one does not fit 32 bits.
  std::optional<std::int32_t> user_key(std::string_view id) const;
  std::optional<std::int32_t> item_key(std::string_view id) const;
  std::string user_name(std::int32_t user_id) const;  // of a known key: "7", "B000123"
  std::string item_name(std::int32_t item_id) const;

  bool knows_user(std::int32_t user_id) const;
  bool knows_item(std::int32_t item_id) const;
  // By keys, as the evaluator predicts; an unknown id is as cold as one without ratings. Of
  // implicit feedback p . q, and 0 for an unknown id.
  float predict(std::int32_t user_id, std::int32_t item_id) const;
  // The k best items for a known user with their predictions, best first, also among those that
  // clipping makes equal; ties by id.
  std::vector<std::pair<std::int32_t, float>> recommend(std::int32_t user_id, int k,
                                                        bool include_seen) const;

  // A user whom training has not seen, by a history in original ids. Throws Error(data) for an item
  // that stands there twice, and for a folder without a loss; items that the model does not know or
  // was not trained on are left out, with a warning.
  FoldedUser fold_in(const std::vector<HistoryItem>& history) const;
  bool has_history(std::int32_t user_id) const;  // a rating in training
  float predict(const FoldedUser& user, std::int32_t item_id) const;
  std::vector<std::pair<std::int32_t, float>> recommend(const FoldedUser& user, int k,
                                                        bool include_seen) const;

 private:
  // Ranked by score(row of the item), given out as value(row of the item).
  template <class Score, class Value>
  std::vector<std::pair<std::int32_t, float>> best(int k, View<const std::int32_t> skipped,
                                                   const Score& score, const Value& value) const;
  float predict_row(std::int64_t user, std::int64_t item, bool clipped) const;
  float predict_row(const FoldedUser& user, std::int64_t item, bool clipped) const;
};

// Throws Error(data) naming the file that is missing or damaged: sizes that do not fit, ids or
// names that do not ascend, offsets that fall, rows that there are not, numbers that are not
// finite.
SavedModel load_model(const std::string& folder);

}  // namespace mf
