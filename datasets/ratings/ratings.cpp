#include "datasets/ratings/ratings.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/row_users.hpp"

namespace mf {
namespace {

// Default-constructed views (no ratings, no users) have no offsets either.
void check_sizes(const Ratings::Views& views) {
  const std::int64_t nnz = views.values.size();
  const bool users = views.users.size() == nnz || views.users.empty();
  const bool same = users && views.items.size() == nnz;
  const bool rows =
      views.user_offsets.size() == views.user_ids.size() + 1 && views.user_offsets.back() == nnz;
  const bool nothing = nnz == 0 && views.user_offsets.empty() && views.user_ids.empty();
  const auto fit = [](const IdNames& names, View<const std::int32_t> ids) {
    return names.empty() || names.size() == ids.size();
  };
  if (!fit(views.user_names, views.user_ids) || !fit(views.item_names, views.item_ids)) {
    fail(ErrorKind::data, "ratings of {} users and {} items with {} and {} names",
         views.user_ids.size(), views.item_ids.size(), views.user_names.size(),
         views.item_names.size());
  }
  if (same && (rows || nothing)) return;
  fail(ErrorKind::data,
       "ratings of sizes that do not fit: {} users, {} items, {} values, {} user offsets (the last "
       "{}), {} user ids",
       views.users.size(), views.items.size(), nnz, views.user_offsets.size(),
       views.user_offsets.empty() ? 0 : views.user_offsets.back(), views.user_ids.size());
}

}  // namespace

Ratings::Ratings(Arrays arrays) {
  auto owned = std::make_shared<const Arrays>(std::move(arrays));
  views_ = {owned->users,    owned->items,    owned->values,     owned->user_offsets,
            owned->user_ids, owned->item_ids, owned->user_names, owned->item_names};
  check();
  keep_alive_ = std::move(owned);
}

Ratings::Ratings(const Views& views, std::shared_ptr<const void> keep_alive)
    : views_(views), keep_alive_(std::move(keep_alive)) {
  check();
}

void Ratings::check() {
  check_sizes(views_);
  if (views_.users.empty() && nnz() > 0)
    row_users_ = std::make_shared<const RowUsers>(views_.user_offsets);
}

View<const std::int32_t> Ratings::users_of_rows() const { return row_users_->get(); }

bool Ratings::has_users() const { return !row_users_ || row_users_->made(); }

void Ratings::keep_packed(ThreadTeam& team) {
  packed_ = std::make_shared<const PackedRatings>(pack_ratings(items(), values(), n_items(), team));
}

std::int64_t Ratings::bytes() const {
  const auto users = has_users() ? this->users() : View<const std::int32_t>();
  return static_cast<std::int64_t>(users.size_bytes() + views_.items.size_bytes() +
                                   views_.values.size_bytes() + views_.user_offsets.size_bytes() +
                                   views_.user_ids.size_bytes() + views_.item_ids.size_bytes()) +
         (packed_ ? packed_->bytes() : 0);
}

DuplicatePolicy parse_duplicate_policy(const std::string& name) {
  return kDuplicatePolicyNames.parse(name, "policy for duplicates");
}

SharedIds share_ids(const Ratings& ratings) {
  return {ratings.user_ids(), ratings.item_ids(), ratings.user_names(), ratings.item_names(),
          std::make_shared<Ratings>(ratings)};
}

SharedIds copy_ids(const Ratings& ratings, ThreadTeam& team) {
  auto own = std::make_shared<Ratings::Arrays>();
  const auto copy = [&](View<const std::int32_t> from, AlignedVector<std::int32_t>& to) {
    to.resize(from.size());
    team.for_chunks(from.size(), std::int64_t{1} << 20, [&](std::int64_t begin, std::int64_t end) {
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
    });
  };
  copy(ratings.user_ids(), own->user_ids);
  copy(ratings.item_ids(), own->item_ids);
  const View<const std::int32_t> users = own->user_ids;
  const View<const std::int32_t> items = own->item_ids;
  return {users, items, ratings.user_names(), ratings.item_names(), std::move(own)};
}

std::uint64_t content_hash(const Ratings& ratings, int threads) {
  std::uint64_t hash = 0;
  const auto add = [&](auto values) {
    hash = mix64(hash64_parallel(values.bytes(), hash + 1, threads));
  };
  add(ratings.user_ids());
  add(ratings.item_ids());
  for (const IdNames* names : {&ratings.user_names(), &ratings.item_names()}) {
    if (names->empty()) continue;  // data sets without names keep the hash that they had
    add(names->offsets());
    add(names->bytes());
  }
  // Ratings() has no offsets, an empty matrix has the one offset 0: they are the same matrix.
  if (ratings.nnz() > 0) add(ratings.user_offsets());
  add(ratings.users());
  add(ratings.items());
  add(ratings.values());
  return hash;
}

}  // namespace mf
