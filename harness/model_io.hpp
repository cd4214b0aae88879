// A trained model on disk: model.json and NumPy arrays, in the ids of the user's files.
//
//   model.json        kind, sizes, mean, the resolved case
//   P.npy  Q.npy      n_users x factors, n_items x factors, float32
//   user_bias.npy  item_bias.npy       float32 (biased model)
//   user_ids.npy  item_ids.npy         int32: the id of row u of P, of row i of Q
//   seen_offsets.npy  seen_items.npy   int64, int32: rows of Q that each user rated in training
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/model.hpp"
#include "base/json.hpp"
#include "datasets/ratings.hpp"

namespace mf {

// Written to a folder beside the target, then renamed: a model is there whole or not at all.
void save_model(const std::string& folder, const FactorView& factors, const Ratings& train,
                const Json& resolved_case);

struct SavedModel {
  Json info;
  Model model;
  double train_mean = 0;
  std::vector<std::int32_t> user_ids, item_ids;
  std::vector<std::int64_t> seen_offsets;
  std::vector<std::int32_t> seen_items;
  std::vector<std::uint8_t> item_seen;  // by anybody: an item nobody rated is cold

  // By original ids; an unknown id is as cold as one without ratings.
  float predict(std::int32_t user_id, std::int32_t item_id) const;
  // The k best items for a known user, best first; ties by id.
  std::vector<std::pair<std::int32_t, float>> recommend(std::int32_t user_id, int k,
                                                        bool include_seen) const;

 private:
  float score(std::int64_t user, std::int64_t item) const;  // rows; -1: unknown
};

// Throws Error(data) naming the file that is missing or damaged.
SavedModel load_model(const std::string& folder);

}  // namespace mf
