// rank_scores: all scores of one user at a time.
#include <atomic>
#include <numeric>

#include "harness/evaluate/ranking.hpp"
#include "harness/evaluate/top_items.hpp"

namespace mf {

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
