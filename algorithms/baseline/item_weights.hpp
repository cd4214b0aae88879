// Models without factors, which score items by a history; and the ones with weights W between
// items:
//   score(u, i) = sum over the items j of the history of u of W_ji
#pragma once

#include <algorithm>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/history_scores.hpp"

namespace mf::baseline {

class ByHistory : public Algorithm, public HistoryScores {
 public:
  void prepare(const Ratings& train, const Model&, Context&) override { train_ = &train; }

  FactorView factors() override {
    FactorView view;
    view.n_users = train_->n_users();
    view.n_items = train_->n_items();
    view.scores = this;
    return view;
  }

 protected:
  const Ratings& train() const { return *train_; }

 private:
  const Ratings* train_ = nullptr;
};

class ItemWeights : public ByHistory {
 public:
  void score(View<const RowRating> history, View<float> scores) const override {
    std::fill(scores.begin(), scores.end(), 0.0F);
    for (const RowRating& pair : history) add_row(pair.other, scores);
  }

 protected:
  // Adds row j of W, which is 0 before the first epoch.
  virtual void add_row(std::int64_t j, View<float> scores) const = 0;
};

}  // namespace mf::baseline
