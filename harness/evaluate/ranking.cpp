#include "harness/evaluate/ranking.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

#include "base/rng.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {
namespace {

// A separate stream: samples of users share no numbers with splits and initial factors.
constexpr std::uint64_t kSampleStream = std::uint64_t{3} << 40;

constexpr std::int64_t kRankingChunk = 1 << 12;  // users a partial sum covers
constexpr std::int64_t kUserChunk = 256;         // users whose histories a thread takes at a time

// Which interactions of a part count.
struct Interactions {
  const Ratings& part;
  bool positive;  // only pairs with a value above 0

  bool counts(std::int64_t i) const { return !positive || part.values()[i] > 0; }
  // Calls body(item) for a user's items, ascending.
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
  team.for_chunks(std::ssize(found), kRankingChunk, [&](std::int64_t begin, std::int64_t end) {
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

// The items of users in the parts, which have no pair in common: a list each.
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

std::vector<double> mean_ranking(View<const Hits> hits, const RankedUsers& users, bool cold,
                                 const std::vector<Metric>& metrics, ThreadTeam& team) {
  struct PartSums {
    std::vector<double> sums;
    std::int64_t count = 0;
  };
  const std::vector<double> zeros(metrics.size());
  std::vector<PartSums> parts((hits.size() + kRankingChunk - 1) / kRankingChunk, PartSums{zeros});
  team.for_chunks(hits.size(), kRankingChunk, [&](std::int64_t begin, std::int64_t end) {
    PartSums& part = parts[begin / kRankingChunk];
    for (std::int64_t u = begin; u < end; ++u) {
      if (users.is_cold(u) != cold) continue;
      ++part.count;
      const std::int64_t held_out = users.held_out[u].size();
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        part.sums[i] += metrics[i]->of_user(hits[u], metrics[i].k(), held_out);
      }
    }
  });
  std::vector<double> means = zeros;
  std::int64_t count = 0;
  for (const PartSums& part : parts) count += part.count;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    for (const PartSums& part : parts) means[i] += part.sums[i];
    means[i] /= static_cast<double>(count);  // 0 / 0 is the NaN of no users
  }
  return means;
}

RankedUsers choose_ranked_users(const Ratings& train, const Ratings* fold_in, const Ratings& test,
                                const RankingSpec& spec, bool positive, ThreadTeam& team,
                                const Ratings* validation) {
  RankedUsers out;
  out.users = users_of({test, positive}, team);
  out.eligible = out.count();
  take_sample(out.users, spec);
  out.tie_seed = spec.seed;
  std::vector<Interactions> seen = {{train, positive}};
  if (fold_in != nullptr && fold_in->nnz() > 0) seen.push_back({*fold_in, positive});
  out.cold.resize(out.users.size());
  team.for_chunks(out.count(), kUserChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) {
      out.cold[r] = std::all_of(seen.begin(), seen.end(),
                                [&](auto& part) { return part.count(out.users[r]) == 0; });
    }
  });
  if (validation != nullptr) seen.push_back({*validation, positive});
  out.seen = lists_of(seen, out.users, team);
  out.held_out = lists_of({{test, positive}}, out.users, team);
  return out;
}

RankedItems rank_scores(const ScoreUser& score, std::int32_t n_items, const RankedUsers& users,
                        ThreadTeam& team) {
  RankedItems out = no_ranks(users, nullptr);
  std::atomic<bool> finite = true;
  AlignedVector<std::int32_t> items(std::int64_t{n_items} + kScan, 0);
  std::iota(items.begin(), items.begin() + n_items, 0);
  WatchedWork work = watched_ranking(users);
  team.for_chunks(users.count(), 32, [&](std::int64_t begin, std::int64_t end) {
    AlignedVector<float> scores(std::int64_t{n_items} + kScan);
    TopItems top;
    for (std::int64_t r = begin; r < end && work.goes_on(); ++r) {
      const View<float> own(scores.data(), n_items);
      score(r, own);
      if (!are_finite(own)) finite = false;
      top.start(users.tie_key(r), users.seen[r]);
      top.add_unseen(scores.data(), View<const std::int32_t>(items).part(0, n_items), 0);
      note_best(r, top, users, out, nullptr);
    }
  });
  out.finite = finite;
  return out;
}

}  // namespace mf
