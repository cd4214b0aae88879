#include "harness/evaluate/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/rng.hpp"

namespace mf {
namespace {

// A stream of its own: samples of users share no numbers with splits and initial factors.
constexpr std::uint64_t kSampleStream = std::uint64_t{3} << 40;

constexpr std::int64_t kChunk = 1 << 12;  // users a partial sum covers
constexpr std::int64_t kUserChunk = 256;  // users whose histories a thread takes at a time

// The gain at a rank, from 0, and the sum of the first gains.
struct Gains {
  Gains() {
    for (int r = 0; r < kRanks; ++r) {
      at[r] = 1 / std::log2(static_cast<double>(r) + 2);
      first[r + 1] = first[r] + at[r];
    }
  }
  double at[kRanks] = {};
  double first[kRanks + 1] = {};
};

int count_to(const Hits& hits, int ranks) {
  int count = 0;
  for (int r = 0; r < ranks; ++r) count += hits.at(r) ? 1 : 0;
  return count;
}

double recall(const Hits& hits, int k, std::int64_t held_out) {
  return static_cast<double>(count_to(hits, k)) /
         static_cast<double>(std::min<std::int64_t>(k, held_out));
}

double average_precision(const Hits& hits, int k, std::int64_t held_out) {
  double sum = 0;
  int found = 0;
  for (int r = 0; r < k; ++r) {
    if (hits.at(r)) sum += static_cast<double>(++found) / (r + 1);
  }
  return sum / static_cast<double>(std::min<std::int64_t>(k, held_out));
}

void add(RankingValues& to, const RankingValues& from) {
  to.recall_20 += from.recall_20;
  to.recall_50 += from.recall_50;
  to.ndcg_100 += from.ndcg_100;
  to.map_10 += from.map_10;
}

// Which interactions of a part count.
struct Interactions {
  const Ratings& part;
  bool positive;  // those with a value above 0 alone

  bool counts(std::int64_t i) const { return !positive || part.values()[i] > 0; }
  // Calls body(item) for those of a user, items ascending.
  template <class Body>
  void for_each(std::int32_t user, const Body& body) const {
    if (part.nnz() == 0) return;  // has no offsets, perhaps
    const auto offsets = part.user_offsets();
    for (auto i = offsets[user]; i < offsets[user + 1]; ++i) {
      if (counts(i)) body(part.items()[i]);
    }
  }
  std::int64_t count(std::int32_t user) const {
    std::int64_t found = 0;
    for_each(user, [&](std::int32_t) { ++found; });
    return found;
  }
};

// Users with an interaction that counts, ascending.
std::vector<std::int32_t> users_of(const Interactions& test, ThreadTeam& team) {
  std::vector<std::uint8_t> found(test.part.n_users());
  team.for_chunks(std::ssize(found), kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto u = begin; u < end; ++u) found[u] = test.count(static_cast<std::int32_t>(u)) > 0;
  });
  std::vector<std::int32_t> users;
  for (std::int64_t u = 0; u < std::ssize(found); ++u) {
    if (found[u] != 0) users.push_back(static_cast<std::int32_t>(u));
  }
  return users;
}

void take_sample(std::vector<std::int32_t>& users, const RankingSpec& spec) {
  if (spec.users == 0 || spec.users >= std::ssize(users)) return;
  std::vector<std::pair<std::uint64_t, std::int32_t>> keyed;
  keyed.reserve(users.size());
  for (const auto user : users) {
    keyed.emplace_back(Rng(spec.seed, kSampleStream + static_cast<std::uint64_t>(user))(), user);
  }
  std::nth_element(keyed.begin(), keyed.begin() + spec.users, keyed.end());
  users.clear();
  for (std::int64_t i = 0; i < spec.users; ++i) users.push_back(keyed[i].second);
  std::sort(users.begin(), users.end());
}

// What the users have in the parts, which have no pair in common: a list each.
ItemLists lists_of(const std::vector<Interactions>& parts, const std::vector<std::int32_t>& users,
                   ThreadTeam& team) {
  ItemLists lists;
  lists.offsets.resize(users.size() + 1);
  const auto for_users = [&](const std::function<void(std::int64_t)>& body) {
    team.for_chunks(std::ssize(users), kUserChunk, [&](std::int64_t begin, std::int64_t end) {
      for (auto r = begin; r < end; ++r) body(r);
    });
  };
  for_users([&](std::int64_t r) {
    std::int64_t count = 0;
    for (const Interactions& part : parts) count += part.count(users[r]);
    lists.offsets[r + 1] = count;
  });
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.items.resize(lists.offsets.back());
  for_users([&](std::int64_t r) {
    std::int32_t* const first = lists.items.data() + lists.offsets[r];
    std::int32_t* to = first;
    for (const Interactions& part : parts) {
      part.for_each(users[r], [&](std::int32_t item) { *to++ = item; });
    }
    if (parts.size() > 1) std::sort(first, to);
  });
  return lists;
}

}  // namespace

RankingValues ranking_of_user(const Hits& hits, std::int64_t held_out) {
  static const Gains gains;
  double gain = 0;
  for (int r = 0; r < kRanks; ++r) gain += hits.at(r) ? gains.at[r] : 0;
  RankingValues out;
  out.recall_20 = recall(hits, 20, held_out);
  out.recall_50 = recall(hits, 50, held_out);
  out.ndcg_100 = gain / gains.first[std::min<std::int64_t>(kRanks, held_out)];
  out.map_10 = average_precision(hits, 10, held_out);
  return out;
}

RankingValues mean_ranking(View<const Hits> hits, View<const std::int64_t> held_out_offsets,
                           ThreadTeam& team) {
  std::vector<RankingValues> partial((hits.size() + kChunk - 1) / kChunk);
  team.for_chunks(hits.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    RankingValues sum;
    for (std::int64_t u = begin; u < end; ++u) {
      add(sum, ranking_of_user(hits[u], held_out_offsets[u + 1] - held_out_offsets[u]));
    }
    partial[begin / kChunk] = sum;
  });
  RankingValues total;
  for (const RankingValues& sum : partial) add(total, sum);
  const auto n = static_cast<double>(hits.size());  // 0 / 0 is the NaN of no users
  return {total.recall_20 / n, total.recall_50 / n, total.ndcg_100 / n, total.map_10 / n};
}

RankedUsers choose_ranked_users(const Ratings& train, const Ratings* fold_in, const Ratings& test,
                                const RankingSpec& spec, bool positive, ThreadTeam& team) {
  RankedUsers out;
  out.users = users_of({test, positive}, team);
  out.eligible = out.count();
  take_sample(out.users, spec);
  std::vector<Interactions> seen = {{train, positive}};
  if (fold_in != nullptr && fold_in->nnz() > 0) seen.push_back({*fold_in, positive});
  out.seen = lists_of(seen, out.users, team);
  out.held_out = lists_of({{test, positive}}, out.users, team);
  return out;
}

}  // namespace mf
