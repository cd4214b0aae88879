#include "datasets/ratings/canonical.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRowChunk = std::int64_t{1} << 16;  // ratings a chunk of whole rows

void check_ids(View<const std::int32_t> ids, const char* what, const std::string& name) {
  const auto at = std::ranges::adjacent_find(ids, std::ranges::greater_equal());
  if (at == ids.end()) return;
  fail(ErrorKind::data, "{}: the ids of {} {} and {} are {} and {}, expected ascending ids", name,
       what, at - ids.begin(), at - ids.begin() + 1, *at, *(at + 1));
}

void check_names(const IdNames& names, View<const std::int32_t> ids, const char* what,
                 const std::string& name) {
  if (names.empty()) return;
  if (const std::string wrong = names.wrong(); !wrong.empty()) {
    fail(ErrorKind::data, "{}: the names of {} have {}", name, what, wrong);
  }
  if (ids.front() == 0 && ids.back() == ids.size() - 1) return;  // they ascend
  fail(ErrorKind::data, "{}: the ids of {} are {} to {}, expected rows of their {} names", name,
       what, ids.front(), ids.back(), names.size());
}

void check_offsets(const Ratings& ratings, const std::string& name) {
  const auto offsets = ratings.user_offsets();
  if (offsets.empty()) return;  // no users
  const auto falls = std::ranges::adjacent_find(offsets, std::ranges::greater());
  if (offsets[0] == 0 && offsets.back() == ratings.nnz() && falls == offsets.end()) return;
  fail(ErrorKind::data, "{}: the offsets of the users do not go from 0 up to {} ratings{}", name,
       ratings.nnz(),
       falls == offsets.end() ? ""
                              : fmt::format(": user {} has {} and the next {}",
                                            falls - offsets.begin(), *falls, *(falls + 1)));
}

// Why a rating of `user` cannot be there, or nothing.
const char* wrong_with(const Ratings& ratings, std::int64_t user, std::int64_t at) {
  const Rating rating = ratings[at];
  if (rating.user != user) return "a user that is not that of its row";
  if (rating.item < 0 || rating.item >= ratings.n_items()) return "an item that there is not";
  if (at > ratings.user_offsets()[user] && ratings.items()[at - 1] >= rating.item) {
    return "an item that does not come after the one before it";
  }
  return std::isfinite(rating.value) ? nullptr : "a value that is not finite";
}

void check_rows(const Ratings& ratings, std::int32_t begin, std::int32_t end,
                const std::string& name) {
  for (std::int64_t user = begin; user < end; ++user) {
    for (auto at = ratings.user_offsets()[user]; at < ratings.user_offsets()[user + 1]; ++at) {
      if (const char* wrong = wrong_with(ratings, user, at)) {
        fail(ErrorKind::data, "{}: rating {} (user {}, item {}, value {}) has {}", name, at,
             ratings[at].user, ratings[at].item, ratings[at].value, wrong);
      }
    }
  }
}

}  // namespace

void check_canonical(const Ratings& ratings, int threads, const std::string& name) {
  check_ids(ratings.user_ids(), "users", name);
  check_ids(ratings.item_ids(), "items", name);
  check_names(ratings.user_names(), ratings.user_ids(), "users", name);
  check_names(ratings.item_names(), ratings.item_ids(), "items", name);
  check_offsets(ratings, name);
  if (ratings.n_users() == 0) return;
  const auto runs = cut_rows(ratings.user_offsets(), kRowChunk);
  ThreadTeam team(threads);
  team.for_chunks(std::ssize(runs) - 1, 1, [&](std::int64_t run, std::int64_t) {
    check_rows(ratings, runs[run], runs[run + 1], name);
  });
}

}  // namespace mf
