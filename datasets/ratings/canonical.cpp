#include "datasets/ratings/canonical.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>

#include "base/error.hpp"

namespace mf {
namespace {

constexpr std::int64_t kCanonicalChunk = std::int64_t{1} << 16;

void lower(std::atomic<std::int64_t>& least, std::int64_t value) {
  for (std::int64_t seen = least; value < seen && !least.compare_exchange_weak(seen, value);) {
  }
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

// The first element that `wrong` finds beside the next one, or -1.
template <class T, class Wrong>
std::int64_t first_pair(View<const T> all, ThreadTeam& team, const Wrong& wrong) {
  std::atomic<std::int64_t> first{all.size()};
  team.for_chunks(all.size() - 1, kCanonicalChunk, [&](std::int64_t begin, std::int64_t end) {
    const auto at = std::adjacent_find(all.begin() + begin, all.begin() + end + 1, wrong);
    if (at != all.begin() + end + 1) lower(first, at - all.begin());
  });
  return first == all.size() ? -1 : first.load();
}

void check_ids(View<const std::int32_t> ids, const char* what, ThreadTeam& team,
               const std::string& name) {
  const std::int64_t at = first_pair(ids, team, std::greater_equal());
  if (at < 0) return;
  fail(ErrorKind::data, "{}: the ids of {} {} and {} are {} and {}, expected ascending ids", name,
       what, at, at + 1, ids[at], ids[at + 1]);
}

void check_offsets(const Ratings& ratings, ThreadTeam& team, const std::string& name) {
  const auto offsets = ratings.user_offsets();
  if (offsets.empty()) return;  // no users
  const std::int64_t falls = first_pair(offsets, team, std::greater());
  if (offsets[0] == 0 && offsets.back() == ratings.nnz() && falls < 0) return;
  fail(ErrorKind::data, "{}: the offsets of the users do not go from 0 up to {} ratings{}", name,
       ratings.nnz(),
       falls < 0 ? ""
                 : fmt::format(": user {} has {} and the next {}", falls, offsets[falls],
                               offsets[falls + 1]));
}

// The row of a rating.
std::int64_t row_of(const Ratings& ratings, std::int64_t at) {
  const auto offsets = ratings.user_offsets();
  return std::upper_bound(offsets.begin(), offsets.end(), at) - offsets.begin() - 1;
}

// Why a rating of `user` cannot be there, or nothing; those before `first` are not looked at.
const char* wrong_with(const Ratings& ratings, std::int64_t user, std::int64_t at,
                       std::int64_t first) {
  const Rating rating = ratings[at];
  if (rating.user != user) return "a user that is not that of its row";
  if (rating.item < 0 || rating.item >= ratings.n_items()) return "an item that there is not";
  if (at > first && !ascends(ratings, at)) {
    return "an item that does not come after the one before it";
  }
  return std::isfinite(rating.value) ? nullptr : "a value that is not finite";
}

// Whether any of `count` ratings of one row has a wrong item or value. No branch for each, and
// nothing in the loops that keeps several from being looked at together.
bool any_wrong(const std::int32_t* items, const float* values, std::int64_t count,
               std::int32_t n_items) {
  constexpr std::uint32_t kExponent = 0x7f800000;  // all ones: infinite, or no number
  std::uint32_t wrong = items[0] < 0 || items[count - 1] >= n_items ? 1 : 0;
  for (std::int64_t i = 1; i < count; ++i) wrong |= items[i - 1] >= items[i] ? 1 : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    wrong |= (std::bit_cast<std::uint32_t>(values[i]) & kExponent) == kExponent ? 1 : 0;
  }
  return wrong != 0;
}

// The same of the ratings [begin, end) of one row, and of its user.
bool any_wrong(const Ratings& ratings, std::int64_t user, std::int64_t begin, std::int64_t end) {
  const std::int32_t* const users = ratings.users().data();
  const std::int32_t* const items = ratings.items().data();
  std::uint32_t wrong = 0;
  for (std::int64_t i = begin; i < end; ++i) wrong |= users[i] != user ? 1 : 0;
  return wrong != 0 ||
         any_wrong(items + begin, ratings.values().data() + begin, end - begin, ratings.n_items());
}

}  // namespace

void check_heads(const Ratings& ratings, ThreadTeam& team, const std::string& name) {
  check_ids(ratings.user_ids(), "users", team, name);
  check_ids(ratings.item_ids(), "items", team, name);
  check_names(ratings.user_names(), ratings.user_ids(), "users", name);
  check_names(ratings.item_names(), ratings.item_ids(), "items", name);
  check_offsets(ratings, team, name);
}

std::int64_t first_wrong(const Ratings& ratings, std::int64_t begin, std::int64_t end) {
  const auto offsets = ratings.user_offsets();
  for (std::int64_t at = begin, user = begin < end ? row_of(ratings, begin) : 0; at < end;) {
    while (user < ratings.n_users() && offsets[user + 1] <= at) ++user;
    if (user < 0 || user == ratings.n_users()) return at;
    const std::int64_t row_end = std::min(offsets[user + 1], end);
    if (any_wrong(ratings, user, at, row_end)) {
      const std::int64_t first = at;
      while (at + 1 < row_end && wrong_with(ratings, user, at, first) == nullptr) ++at;
      return at;
    }
    at = row_end;
  }
  return end;
}

bool ascends(const Ratings& ratings, std::int64_t at) {
  const auto offsets = ratings.user_offsets();
  return std::binary_search(offsets.begin(), offsets.end(), at) ||
         ratings.items()[at - 1] < ratings.items()[at];
}

bool are_sound(const Ratings& heads, const std::int32_t* items, const float* values,
               std::int64_t begin, std::int64_t end) {
  const auto offsets = heads.user_offsets();
  for (std::int64_t at = begin, user = begin < end ? row_of(heads, begin) : 0; at < end;) {
    while (offsets[user + 1] <= at) ++user;  // there is one: the offsets end at nnz
    const std::int64_t row_end = std::min(offsets[user + 1], end);
    if (any_wrong(items + (at - begin), values + (at - begin), row_end - at, heads.n_items()))
      return false;
    at = row_end;
  }
  return true;
}

void fail_wrong(const Ratings& ratings, std::int64_t at, const std::string& name) {
  const char* wrong = wrong_with(ratings, row_of(ratings, at), at, 0);
  fail(ErrorKind::data, "{}: rating {} (user {}, item {}, value {}) has {}", name, at,
       ratings[at].user, ratings[at].item, ratings[at].value,
       wrong != nullptr ? wrong : "changed while it was read");
}

}  // namespace mf
