#include "datasets/ratings/ratings.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRowChunk = std::int64_t{1} << 16;  // ratings a chunk of whole rows

// Default-constructed views (no ratings, no users) have no offsets either.
void check_sizes(const Ratings::Views& views) {
  const std::int64_t nnz = views.values.size();
  const bool same = views.users.size() == nnz && views.items.size() == nnz;
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

// Arrays of a selection, beside what owns its ids.
struct Selection {
  std::shared_ptr<const void> ids;
  Ratings::Arrays own;
};

// Calls body(first_row, end_row) for runs of whole rows, in parallel.
template <class Body>
void for_row_runs(View<const std::int64_t> offsets, ThreadTeam& team, const Body& body) {
  const auto runs = cut_rows(offsets, kRowChunk);
  team.for_chunks(static_cast<std::int64_t>(runs.size()) - 1, 1,
                  [&](std::int64_t run, std::int64_t) { body(runs[run], runs[run + 1]); });
}

}  // namespace

Ratings::Ratings(Arrays arrays) {
  auto owned = std::make_shared<const Arrays>(std::move(arrays));
  views_ = {owned->users,    owned->items,    owned->values,     owned->user_offsets,
            owned->user_ids, owned->item_ids, owned->user_names, owned->item_names};
  check_sizes(views_);
  keep_alive_ = std::move(owned);
}

Ratings::Ratings(const Views& views, std::shared_ptr<const void> keep_alive)
    : views_(views), keep_alive_(std::move(keep_alive)) {
  check_sizes(views_);
}

std::int64_t Ratings::bytes() const {
  return static_cast<std::int64_t>(views_.users.size_bytes() + views_.items.size_bytes() +
                                   views_.values.size_bytes() + views_.user_offsets.size_bytes() +
                                   views_.user_ids.size_bytes() + views_.item_ids.size_bytes());
}

DuplicatePolicy parse_duplicate_policy(const std::string& name) {
  return kDuplicatePolicyNames.parse(name, "policy for duplicates");
}

SharedIds share_ids(const Ratings& ratings) {
  return {ratings.user_ids(), ratings.item_ids(), ratings.user_names(), ratings.item_names(),
          std::make_shared<Ratings>(ratings)};
}

SharedIds copy_ids(const Ratings& ratings) {
  auto own = std::make_shared<Ratings::Arrays>();
  own->user_ids.assign(ratings.user_ids().begin(), ratings.user_ids().end());
  own->item_ids.assign(ratings.item_ids().begin(), ratings.item_ids().end());
  const View<const std::int32_t> users = own->user_ids;
  const View<const std::int32_t> items = own->item_ids;
  return {users, items, ratings.user_names(), ratings.item_names(), std::move(own)};
}

Ratings select(const Ratings& all, View<const std::uint8_t> keep, std::uint8_t label, int threads) {
  return select(all, share_ids(all), keep, label, threads);
}

Ratings select(const Ratings& all, const SharedIds& ids, View<const std::uint8_t> keep,
               std::uint8_t label, int threads) {
  if (keep.size() != all.nnz()) {
    fail(ErrorKind::usage, "found {} labels for {} ratings", keep.size(), all.nnz());
  }
  auto selection = std::make_shared<Selection>();
  selection->ids = ids.owner;
  Ratings::Arrays& own = selection->own;
  const auto offsets = all.user_offsets();
  own.user_offsets.resize(offsets.size());
  if (!offsets.empty()) {
    ThreadTeam team(useful_threads(threads, all.nnz()));
    own.user_offsets[0] = 0;
    for_row_runs(offsets, team, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t u = first; u < end; ++u) {
        own.user_offsets[u + 1] =
            std::count(keep.begin() + offsets[u], keep.begin() + offsets[u + 1], label);
      }
    });
    for (std::int64_t u = 1; u < offsets.size(); ++u)
      own.user_offsets[u] += own.user_offsets[u - 1];
    const std::int64_t nnz = own.user_offsets.back();
    own.users.resize(nnz);
    own.items.resize(nnz);
    own.values.resize(nnz);
    for_row_runs(offsets, team, [&](std::int64_t first, std::int64_t end) {
      std::int64_t to = own.user_offsets[first];
      for (std::int64_t i = offsets[first]; i < offsets[end]; ++i) {
        if (keep[i] != label) continue;
        own.users[to] = all.users()[i];
        own.items[to] = all.items()[i];
        own.values[to] = all.values()[i];
        ++to;
      }
    });
  }
  const Ratings::Views views{own.users, own.items, own.values,     own.user_offsets,
                             ids.users, ids.items, ids.user_names, ids.item_names};
  return Ratings(views, std::move(selection));
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
