// A round counts the ratings that each user has left, by rows, and subtracts those of users with
// too few from the counts of the items. So no column is needed, and a rating is subtracted only
// once.
#include "datasets/core_rule.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/kept_ratings.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kUserChunk = 1024;

class Core {
 public:
  Core(const Ratings& all, const CoreRule& rule, int threads)
      : all_(all),
        rule_(rule),
        team_(useful_threads(threads, all.nnz())),
        users_(all.n_users(), 1),
        items_(all.n_items(), 1),
        of_item_(all.n_items()) {
    const auto offsets = key_offsets(all.items(), all.n_items(), team_);
    for (std::int64_t i = 0; i < all.n_items(); ++i) of_item_[i] = offsets[i + 1] - offsets[i];
  }

  // The number of rounds that dropped something.
  std::int64_t find() {
    std::int64_t rounds = 0;
    while (drop_users() + drop_items() > 0) ++rounds;
    return rounds;
  }

  bool keeps(const Rating& rating) const {
    return users_[rating.user] != 0 && items_[rating.item] != 0;
  }

 private:
  std::int64_t drop_users() {
    std::atomic<std::int64_t> dropped{0};
    team_.for_chunks(all_.n_users(), kUserChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t u = begin; u < end; ++u) {
        if (users_[u] == 0 || left_of(u) >= rule_.users) continue;
        users_[u] = 0;
        ++dropped;
        take_out(u);
      }
    });
    return dropped;
  }

  // Ratings of items that are left.
  std::int64_t left_of(std::int64_t user) const {
    std::int64_t left = 0;
    for (const std::int32_t item : row(user)) left += items_[item];
    return left;
  }

  void take_out(std::int64_t user) {
    for (const std::int32_t item : row(user))
      std::atomic_ref<std::int64_t>(of_item_[item]).fetch_sub(1, std::memory_order_relaxed);
  }

  std::int64_t drop_items() {
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < std::ssize(items_); ++i) {
      if (items_[i] == 0 || of_item_[i] >= rule_.items) continue;
      items_[i] = 0;
      ++dropped;
    }
    return dropped;
  }

  View<const std::int32_t> row(std::int64_t user) const {
    const auto offsets = all_.user_offsets();
    return all_.items().part(offsets[user], offsets[user + 1]);
  }

  const Ratings& all_;
  const CoreRule& rule_;
  ThreadTeam team_;
  AlignedVector<std::uint8_t> users_, items_;  // 1: left
  AlignedVector<std::int64_t> of_item_;        // ratings by users that are left
};

}  // namespace

Dataset core_of(const Dataset& data, const CoreRule& rule, int threads) {
  Core core(data.ratings, rule, threads);
  const std::int64_t rounds = core.find();
  const auto keep = [&](std::int64_t begin, std::int64_t end, std::uint8_t* kept) {
    for (std::int64_t k = begin; k < end; ++k) *kept++ = core.keeps(data.ratings[k]) ? 1 : 0;
  };
  auto out = kept_ratings(data, keep, std::nullopt, threads);
  if (!out) {
    fail(ErrorKind::data,
         "{}: core: nothing is left if every user has {} ratings or more and every item {}, of "
         "{} users, {} items and {} ratings; lower them",
         data.info.name, rule.users, rule.items, data.ratings.n_users(), data.ratings.n_items(),
         data.ratings.nnz());
  }
  out->info.core = CoreInfo{rule, rounds, dropped(data, *out)};
  return std::move(*out);
}

}  // namespace mf
