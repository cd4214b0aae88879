#include "testing/fuzz/properties.hpp"

#include <algorithm>
#include <cmath>

#include "datasets/ratings/canonical.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {

bool same_names(const IdNames& one, const IdNames& other) {
  return std::ranges::equal(one.offsets(), other.offsets()) &&
         std::ranges::equal(one.bytes(), other.bytes());
}

void check_names(const AlignedVector<std::int32_t>& rows, const IdNames& names) {
  expect(names.wrong().empty(), "names are names, and ascend");
  const auto is_row = [&](std::int32_t row) { return row < names.size(); };
  expect(names.empty() || std::ranges::all_of(rows, is_row), "an id that is text has a name");
}

void check_raw(const RawRatings& raw) {
  expect(raw.users.size() == raw.values.size() && raw.items.size() == raw.values.size(),
         "a rating has a user and an item");
  const auto is_id = [](std::int32_t id) { return id >= 0; };
  expect(std::ranges::all_of(raw.users, is_id) && std::ranges::all_of(raw.items, is_id),
         "ids are none below 0");
  expect(std::ranges::all_of(raw.values, [](float value) { return std::isfinite(value); }),
         "ratings are finite");
  check_names(raw.users, raw.user_names);
  check_names(raw.items, raw.item_names);
}

void check_ratings(const Ratings& ratings) {
  ThreadTeam single(1);
  expect(accepts([&] { check_heads(ratings, single, "ratings"); }) &&
             first_wrong(ratings, 0, ratings.nnz()) == ratings.nnz(),
         "ratings are canonical");
}

std::optional<Ratings> make_canonical(const RawRatings& raw) {
  const auto is_large = [](std::int32_t id) { return id >= 1 << 20; };
  if (std::ranges::any_of(raw.users, is_large) || std::ranges::any_of(raw.items, is_large)) {
    return std::nullopt;
  }
  Ratings ratings = make_ratings(raw, DuplicatePolicy::mean, 1, "ratings");
  check_ratings(ratings);
  expect(ratings.nnz() <= std::ssize(raw.values), "no rating is made up");
  return ratings;
}

}  // namespace mf::fuzz
