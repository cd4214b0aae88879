// How well a model ranks the items that a user has not interacted with, on held-out interactions,
// by the metrics of harness/experiment/metric.hpp.
//
// For a user with the held-out items T, the items are ranked by score, the highest first; the order
// of equal scores is drawn (rank_key.hpp). Items that the user has seen are left out. The
// history has seen items (training part, or the fold-in history of a user who was held out whole).
// If T is of the test part, so has the validation part. rel(r) is 1 if the item at rank r is in T,
// else 0.
//
//   Recall@k        = sum_{r <= k} rel(r) / min(k, |T|)
//   Recall of all@k = sum_{r <= k} rel(r) / |T|
//   NDCG@k          = sum_{r <= k} rel(r) / log2(r + 1)  /  sum_{r <= min(k, |T|)} 1 / log2(r + 1)
//   MAP@k           = sum_{r <= k} rel(r) precision(r) / min(k, |T|),  precision(r) = hits to r / r
//   MRR@k           = 1 / r of the first hit, 0 if the first k ranks have none
//   Hit rate@k      = 1 if the first k ranks have a hit, else 0
//   Precision@k     = sum_{r <= k} rel(r) / k
//
// Recall and NDCG as Liang, Krishnan, Hoffman, Jebara, "Variational Autoencoders for Collaborative
// Filtering", WWW 2018, section 4.2; MAP divided by the most that k ranks can hold, as recall is. A
// metric is the mean over the users who have held-out interactions and a history; users without a
// history have a separate mean. If fewer than k items are left to rank, ranks beyond them are
// misses.
//
// A score that is not finite makes all of them NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/aligned.hpp"
#include "base/host_device.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/rank_key.hpp"
#include "harness/experiment/metric.hpp"

namespace mf {

// A list of items a user, each ascending.
struct ItemLists {
  std::vector<std::int64_t> offsets = {0};
  AlignedVector<std::int32_t> items;

  View<const std::int32_t> operator[](std::int64_t i) const {
    return View<const std::int32_t>(items).part(offsets[i], offsets[i + 1]);
  }
};

// Users with held-out interactions, their seen items and the held-out ones.
struct RankedUsers {
  std::vector<std::int32_t> users;  // dense indices, ascending
  ItemLists seen;                   // items of users[r] that are not ranked
  ItemLists held_out;
  std::vector<std::uint8_t> cold;  // 1 if users[r] has no history
  std::int64_t eligible = 0;       // users with held-out interactions, before a sample was taken
  std::uint64_t tie_seed = 1;

  std::int64_t count() const { return std::ssize(users); }
  bool is_cold(std::int64_t r) const { return cold[r] != 0; }
  // Orders equal scores of users[r].
  TieKey tie_key(std::int64_t r) const { return mf::tie_key(tie_seed, users[r]); }
};

// `fold_in` and `validation` may be null. Items of `validation` are no history, but they are left
// out of the ranking, too. `positive`: a pair with the value 0 counts as not observed, as in the
// loss of implicit feedback. A sample has the users with the smallest random keys by (seed, user).
// So it is the same for every algorithm and any number of threads, and a larger sample contains a
// smaller one.
RankedUsers choose_ranked_users(const Ratings& train, const Ratings* fold_in, const Ratings& test,
                                const RankingSpec& spec, bool positive, ThreadTeam& team,
                                const Ratings* validation = nullptr);

// Scores are products of rows of `width` numbers: one for each ranked user, one for each item.
struct ScoreRows {
  View<const float* const> users;
  const float* items = nullptr;
  std::int64_t item_stride = 0;
  std::int32_t n_items = 0;
  std::int32_t width = 0;
};

struct RankedItems {
  // One for each ranked user.
  std::vector<Hits> hits;
  std::vector<std::uint8_t> tied;  // all of the first kRanks, of two at least, have one score
  bool finite = true;              // no score was NaN or infinite
};

// A ranking metric each over the users with a history, or over users without one, in a fixed order;
// NaN without such users.
std::vector<double> mean_ranking(View<const Hits> hits, const RankedUsers& users, bool cold,
                                 const std::vector<Metric>& metrics, ThreadTeam& team);

// The same for any number of threads. `top`, if not null, receives kRanks items for each user in
// the order of their ranks, -1 if there are no more.
//
// Work: 2 width operations for each user and each item whose row is long enough for the list of the
// user: a third of the pairs on gowalla after three epochs of ials_cpu at width 64.
RankedItems rank_items(const ScoreRows& rows, const RankedUsers& users, ThreadTeam& team,
                       AlignedVector<std::int32_t>* top = nullptr);

// The same for other scores: score(r, scores) sets the scores of users[r] for all items. Called by
// several threads at once.
using ScoreUser = std::function<void(std::int64_t r, View<float> scores)>;
RankedItems rank_scores(const ScoreUser& score, std::int32_t n_items, const RankedUsers& users,
                        ThreadTeam& team);

}  // namespace mf
