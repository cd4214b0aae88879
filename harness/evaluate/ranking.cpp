#include "harness/evaluate/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/rng.hpp"

namespace mf {
namespace {

// A stream of its own: samples of users share no numbers with splits and initial factors.
constexpr std::uint64_t kSampleStream = std::uint64_t{3} << 40;

constexpr std::int64_t kChunk = 1 << 12;  // users a partial sum covers

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

// Users with an interaction that counts, ascending.
std::vector<std::int32_t> users_of(const Ratings& part, bool positive) {
  std::vector<std::int32_t> users;
  for (std::int64_t i = 0; i < part.nnz(); ++i) {
    if (positive && !(part.values()[i] > 0)) continue;
    const std::int32_t user = part.users()[i];
    if (users.empty() || users.back() != user) users.push_back(user);
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

void append(ItemLists& lists, const Ratings& part, std::int32_t user, bool positive) {
  const auto offsets = part.user_offsets();
  for (auto i = offsets[user]; i < offsets[user + 1]; ++i) {
    if (!positive || part.values()[i] > 0) lists.items.push_back(part.items()[i]);
  }
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
                                const RankingSpec& spec, bool positive) {
  RankedUsers out;
  out.users = users_of(test, positive);
  out.eligible = out.count();
  take_sample(out.users, spec);
  for (const auto user : out.users) {
    const std::int64_t begin = out.seen.offsets.back();
    append(out.seen, train, user, positive);
    if (fold_in != nullptr && fold_in->nnz() > 0) append(out.seen, *fold_in, user, positive);
    std::sort(out.seen.items.begin() + begin, out.seen.items.end());
    out.seen.offsets.push_back(std::ssize(out.seen.items));
    append(out.held_out, test, user, positive);
    out.held_out.offsets.push_back(std::ssize(out.held_out.items));
  }
  return out;
}

}  // namespace mf
