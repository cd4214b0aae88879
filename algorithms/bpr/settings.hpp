// The parameters of the family, resolved (info.cpp has their table).
#pragma once

#include <cstdint>

#include "algorithms/bpr/draws.hpp"
#include "algorithms/bpr/rule.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::bpr {

constexpr std::int64_t kMaxFactorsDevice = 512;  // 32 lanes hold the row in registers

struct Settings {
  std::int32_t factors;
  Loss loss;
  Negatives negatives;
  double alpha;            // of logistic
  std::int64_t max_tries;  // of warp
  std::int64_t per_pair;   // items j to a pair
  double margin;           // of ccl
  double weight;           // of ccl
  Regularizers reg;
  // For algorithms on the device:
  bool tiled = false;  // p_u stays in registers
  Storage storage = Storage::fp32;
  bool stochastic = false;
  std::int64_t workers = 0;  // 0: automatic

  bool cosine() const { return loss == Loss::ccl; }
  // Updated by pulls (rule.hpp), not by the gains of one triple.
  bool many() const { return per_pair > 1 || cosine(); }
  // The weight of each item j.
  float share() const {
    return static_cast<float>((cosine() ? weight : 1) / static_cast<double>(per_pair));
  }
};
Settings read_settings(const Params& params);
ImplicitLoss read_loss(const Params& params);

// Compulsory work of an epoch of `pairs` triples; `rows` users and items have a pair.
Work epoch_work(const Settings& settings, std::int64_t pairs, std::int64_t rows);

}  // namespace mf::bpr
