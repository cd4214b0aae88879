// A trained model on disk: model.json and NumPy arrays, in the ids of the user's files.
//
//   model.json        kind, sizes, mean, the resolved case; "clip": {"min", "max"} where the case
//                     clips its predictions
//   P.npy  Q.npy      n_users x factors, n_items x factors, float32
//   user_bias.npy  item_bias.npy       float32 (biased model)
//   user_ids.npy  item_ids.npy         int32: the id of row u of P, of row i of Q
//   seen_offsets.npy  seen_items.npy   int64, int32: rows of Q that each user rated in training
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/model.hpp"
#include "base/json.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/predictor.hpp"

namespace mf {

// Written to a folder beside the target, then renamed: a model is there whole or not at all.
// Throws Error(io).
void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const std::optional<ClipRange>& clip, const Json& resolved_case);

struct SavedModel {
  Json info;
  Model model;
  Predictor predictor;
  std::vector<std::int32_t> user_ids, item_ids;
  std::vector<std::int64_t> seen_offsets;
  std::vector<std::int32_t> seen_items;

  // By original ids, as the evaluator predicts; an unknown id is as cold as one without ratings.
  float predict(std::int32_t user_id, std::int32_t item_id) const;
  // The k best items for a known user with their predictions, best first, also among those that
  // clipping makes equal; ties by id.
  std::vector<std::pair<std::int32_t, float>> recommend(std::int32_t user_id, int k,
                                                        bool include_seen) const;
};

// Throws Error(data) naming the file that is missing or damaged.
SavedModel load_model(const std::string& folder);

}  // namespace mf
