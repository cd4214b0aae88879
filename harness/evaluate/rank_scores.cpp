// rank_scores: all scores of one user at a time.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/evaluate/ranking.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {
namespace {

constexpr std::int64_t kUsersPerChunk = 32;

bool all_finite(View<const float> scores) {
  return std::all_of(scores.begin(), scores.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

RankedItems rank_scores(const ScoreUser& score, std::int32_t n_items, const RankedUsers& users,
                        ThreadTeam& team) {
  RankedItems out = no_ranks(users, nullptr);
  std::vector<std::uint8_t> finite(users.count(), 1);
  AlignedVector<std::int32_t> items(std::int64_t{n_items} + kScan, 0);
  std::iota(items.begin(), items.begin() + n_items, 0);
  WatchedWork work = watched_ranking(users);
  team.for_chunks(users.count(), kUsersPerChunk, [&](std::int64_t begin, std::int64_t end) {
    AlignedVector<float> scores(std::int64_t{n_items} + kScan);
    TopItems top;
    for (std::int64_t r = begin; r < end && work.goes_on(); ++r) {
      const View<float> own(scores.data(), n_items);
      score(r, own);
      finite[r] = all_finite(own) ? 1 : 0;
      top.start(users.tie_key(r), users.seen[r]);
      top.add_unseen(scores.data(), View<const std::int32_t>(items).part(0, n_items), 0);
      note_best(r, top, users, out, nullptr);
    }
  });
  out.finite = std::find(finite.begin(), finite.end(), 0) == finite.end();
  return out;
}

}  // namespace mf
