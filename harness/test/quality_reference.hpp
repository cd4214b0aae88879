// Quality by its definitions, in double and without a thought for speed: the reference for the
// evaluators of host and device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/core/implicit.hpp"
#include "algorithms/core/model.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf::testing {

inline ThreadTeam& one_thread() {
  static ThreadTeam one(1);
  return one;
}

inline double dot_of(const FactorView& m, std::int64_t u, std::int64_t i) {
  double sum = 0;
  for (std::int64_t k = 0; k < m.factors; ++k) {
    sum += static_cast<double>(m.p[u * m.p_stride + k]) * m.q[i * m.q_stride + k];
  }
  return sum;
}

// Every pair, one after another.
inline double dense_objective(const FactorView& m, const Ratings& train, const ImplicitLoss& loss) {
  std::vector<std::vector<double>> r(m.n_users, std::vector<double>(m.n_items, 0));
  for (std::int64_t k = 0; k < train.nnz(); ++k) r[train[k].user][train[k].item] = train[k].value;
  double sum = 0;
  std::vector<std::int64_t> of_user(m.n_users), of_item(m.n_items);
  for (std::int64_t k = 0; k < train.nnz(); ++k) {
    of_user[train[k].user] += train[k].value > 0;
    of_item[train[k].item] += train[k].value > 0;
  }
  const auto popular = [&](std::int64_t i) {
    return std::pow(std::max(1.0, static_cast<double>(of_item[i])), loss.popularity_exponent);
  };
  double all = 0;
  for (std::int64_t i = 0; i < m.n_items; ++i) all += popular(i);
  for (std::int64_t u = 0; u < m.n_users; ++u) {
    for (std::int64_t i = 0; i < m.n_items; ++i) {
      const double error = (r[u][i] > 0 ? 1 : 0) - dot_of(m, u, i);
      const double unobserved = popular(i) * static_cast<double>(m.n_items) / all;
      sum += (unobserved + loss.alpha * r[u][i]) * error * error;
    }
  }
  const auto shrink = [&](const float* rows, std::int64_t stride, std::int64_t row, double reg) {
    for (std::int64_t k = 0; k < m.factors; ++k) {
      sum += reg * std::pow(static_cast<double>(rows[row * stride + k]), 2);
    }
  };
  const auto reg_of = [&](std::int64_t n, std::int64_t others) {
    return loss.reg * std::pow(static_cast<double>(n) + static_cast<double>(others) / loss.alpha,
                               loss.reg_exponent);
  };
  for (std::int64_t u = 0; u < m.n_users; ++u) {
    shrink(m.p, m.p_stride, u, reg_of(of_user[u], m.n_items));
  }
  for (std::int64_t i = 0; i < m.n_items; ++i) {
    shrink(m.q, m.q_stride, i, reg_of(of_item[i], m.n_users));
  }
  return sum;
}

// All items that are not in `seen`, sorted by score, then by their places.
inline std::vector<std::int32_t> ranked_list(const std::vector<float>& scores,
                                             View<const std::int32_t> seen, TieKey key) {
  std::vector<std::int32_t> items;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(scores.size()); ++i) {
    if (std::find(seen.begin(), seen.end(), i) == seen.end()) items.push_back(i);
  }
  std::sort(items.begin(), items.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(scores[a], tie_place(a, key)) > std::pair(scores[b], tie_place(b, key));
  });
  return items;
}

inline bool is_in(View<const std::int32_t> list, std::int32_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

inline double reference_recall(const std::vector<std::int32_t>& list, View<const std::int32_t> held,
                               int k) {
  double hits = 0;
  for (int r = 0; r < k && r < static_cast<int>(list.size()); ++r) hits += is_in(held, list[r]);
  return hits / std::min<double>(k, static_cast<double>(held.size()));
}

inline double reference_recall_of_all(const std::vector<std::int32_t>& list,
                                      View<const std::int32_t> held, int k) {
  double hits = 0;
  for (const std::int32_t item : held) {
    const auto rank = std::find(list.begin(), list.end(), item) - list.begin();
    hits += rank < std::min<std::ptrdiff_t>(k, std::ssize(list)) ? 1 : 0;
  }
  return hits / static_cast<double>(held.size());
}

inline double reference_hit_rate(const std::vector<std::int32_t>& list,
                                 View<const std::int32_t> held, int k) {
  return reference_recall(list, held, k) > 0 ? 1 : 0;
}

// For all k, whether or not there are so many items.
inline double reference_precision(const std::vector<std::int32_t>& list,
                                  View<const std::int32_t> held, int k) {
  return reference_recall(list, held, k) * std::min<double>(k, static_cast<double>(held.size())) /
         k;
}

inline double reference_mrr(const std::vector<std::int32_t>& list, View<const std::int32_t> held,
                            int k) {
  for (const std::int32_t item : list) {
    if (is_in(held, item)) {
      const auto rank = std::find(list.begin(), list.end(), item) - list.begin() + 1;
      return rank <= k ? 1.0 / static_cast<double>(rank) : 0;
    }
  }
  return 0;
}

inline double reference_ndcg(const std::vector<std::int32_t>& list, View<const std::int32_t> held,
                             int k) {
  double gain = 0, ideal = 0;
  for (int r = 1; r <= k; ++r) {
    if (r <= static_cast<int>(list.size()) && is_in(held, list[r - 1]))
      gain += 1 / std::log2(r + 1);
    if (r <= held.size()) ideal += 1 / std::log2(r + 1);
  }
  return gain / ideal;
}

inline double reference_map(const std::vector<std::int32_t>& list, View<const std::int32_t> held,
                            int k) {
  double sum = 0;
  for (int r = 1; r <= k && r <= static_cast<int>(list.size()); ++r) {
    if (!is_in(held, list[r - 1])) continue;
    double hits = 0;
    for (int s = 0; s < r; ++s) hits += is_in(held, list[s]);
    sum += hits / r;
  }
  return sum / std::min<double>(k, static_cast<double>(held.size()));
}

}  // namespace mf::testing
