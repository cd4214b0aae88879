// The one ratings type: an m x n sparse matrix R of nnz ratings.
//
// Always canonical: sorted by user, then item, no pair twice. So the COO arrays ARE the CSR view
// (user_offsets cuts them into rows); the CSC view is built on demand (Csc). Users and items are
// dense int32 indices, counts and offsets int64, ratings float. The ids of the user's files are
// kept in user_ids and item_ids (dense index -> original id, ascending). Text ids are in user_names
// and item_names, and user_ids and item_ids are 0, 1, 2, ...
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/aligned.hpp"
#include "base/json/names.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ids/id_names.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf {

class RowUsers;
class ThreadTeam;
struct PackedRatings;

// The column of users repeats the rows: training by rows needs no column.
enum class UsersColumn {
  made,
  on_demand,  // when it is asked for first
};

class Ratings {
 public:
  // The owned form. Every array must be canonical already; the constructor checks only sizes.
  struct Arrays {
    AlignedVector<std::int32_t> users;         // nnz; or none, for UsersColumn::on_demand
    AlignedVector<std::int32_t> items;         // nnz
    AlignedVector<float> values;               // nnz
    AlignedVector<std::int64_t> user_offsets;  // m + 1
    AlignedVector<std::int32_t> user_ids;      // m, ascending
    AlignedVector<std::int32_t> item_ids;      // n, ascending
    IdNames user_names = {}, item_names = {};  // m and n, or none
  };
  // The borrowed form: views into memory that `keep_alive` owns (the copy of a cache file).
  struct Views {
    View<const std::int32_t> users, items;
    View<const float> values;
    View<const std::int64_t> user_offsets;
    View<const std::int32_t> user_ids, item_ids;
    IdNames user_names = {}, item_names = {};
  };

  Ratings() = default;
  explicit Ratings(Arrays arrays);
  Ratings(const Views& views, std::shared_ptr<const void> keep_alive);

  std::int32_t n_users() const { return static_cast<std::int32_t>(views_.user_ids.size()); }
  std::int32_t n_items() const { return static_cast<std::int32_t>(views_.item_ids.size()); }
  std::int64_t nnz() const { return views_.values.size(); }

  View<const std::int32_t> users() const { return row_users_ ? users_of_rows() : views_.users; }
  View<const std::int32_t> items() const { return views_.items; }
  View<const float> values() const { return views_.values; }
  View<const std::int64_t> user_offsets() const { return views_.user_offsets; }
  View<const std::int32_t> user_ids() const { return views_.user_ids; }
  View<const std::int32_t> item_ids() const { return views_.item_ids; }
  const IdNames& user_names() const { return views_.user_names; }
  const IdNames& item_names() const { return views_.item_names; }
  // The original id of a row or of a column, for messages.
  std::string user_text(std::int64_t user) const {
    return id_text(views_.user_names, views_.user_ids, user);
  }
  std::string item_text(std::int64_t item) const {
    return id_text(views_.item_names, views_.item_ids, item);
  }

  Rating operator[](std::int64_t i) const {
    return {users()[i], views_.items[i], views_.values[i]};
  }

  // Without users if they are made on demand.
  const Views& views() const { return views_; }
  bool has_users() const;  // whether the column is there, or would have to be made

  // Packed for the way to a device, if keep_packed() has done it; else null.
  const PackedRatings* packed() const { return packed_.get(); }
  void keep_packed(ThreadTeam& team);

  std::int64_t bytes() const;  // of all arrays, and of the packed form

 private:
  void check();
  View<const std::int32_t> users_of_rows() const;

  Views views_;  // without users if row_users_ makes them
  std::shared_ptr<const void> keep_alive_;
  std::shared_ptr<const RowUsers> row_users_;
  std::shared_ptr<const PackedRatings> packed_;
};

// The column view: for each item its ratings, users ascending.
struct Csc {
  AlignedVector<std::int64_t> item_offsets;  // n + 1
  AlignedVector<std::int32_t> users;         // nnz
  AlignedVector<float> values;               // nnz
};
Csc make_csc(const Ratings& ratings, int threads);
// The same of any rows of it: columns of its ratings, by user and item.
Csc make_csc(View<const std::int32_t> users, View<const std::int32_t> items,
             View<const float> values, std::int32_t n_items, int threads);

// Ratings of a file: original ids, in the file's order. Text ids: `users` are rows of user_names,
// each of which may occur, and `items` of item_names.
struct RawRatings {
  AlignedVector<std::int32_t> users;
  AlignedVector<std::int32_t> items;
  AlignedVector<float> values;
  AlignedVector<std::int64_t> times = {};  // of each rating if asked for
  IdNames user_names = {}, item_names = {};
};

enum class DuplicatePolicy { last, mean, sum, max, error };
inline constexpr Names kDuplicatePolicyNames{
    std::to_array<Named<DuplicatePolicy>>({{"last", DuplicatePolicy::last},
                                           {"mean", DuplicatePolicy::mean},
                                           {"sum", DuplicatePolicy::sum},
                                           {"max", DuplicatePolicy::max},
                                           {"error", DuplicatePolicy::error}})};
DuplicatePolicy parse_duplicate_policy(const std::string& name);  // throws Error(usage)

struct DuplicateReport {
  std::int64_t pairs = 0;    // (user, item) pairs that occur more than once
  std::int64_t dropped = 0;  // ratings - distinct pairs
};

// Indexes the ids, sorts, and resolves duplicate pairs. `last`: the later one in the file wins;
// `mean`, `sum` (both in double), `max`: of their values; `error`: throws Error(data) naming the
// pair in original ids and how often it occurs. The result does not depend on `threads`. `name` is
// for messages.
Ratings make_ratings(RawRatings raw, DuplicatePolicy policy, int threads, const std::string& name,
                     DuplicateReport* report = nullptr);

// Ids of users and items that several matrices have in common, and their owner.
struct SharedIds {
  View<const std::int32_t> users, items;
  IdNames user_names, item_names;
  std::shared_ptr<const void> owner;
};
SharedIds share_ids(const Ratings& ratings);                   // keeps all of `ratings` alive
SharedIds copy_ids(const Ratings& ratings, ThreadTeam& team);  // and lets them go

// The ratings for which keep[i] == label, over the same users, items and ids (their arrays are
// shared, not copied, and `all` lives as long as the selection). keep has nnz entries.
Ratings select(const Ratings& all, View<const std::uint8_t> keep, std::uint8_t label, int threads);

// Mean of the values, 0 for no ratings. Sums of fixed chunks are added in order, in double: the
// same for any number of threads (rating_facts.cpp).
double mean_rating(const Ratings& ratings);
double mean_rating(const Ratings& ratings, ThreadTeam& team);

// Hash of all ids (names if they are text), indices and values: the same for the same matrix,
// however it was read.
std::uint64_t content_hash(const Ratings& ratings, int threads);

}  // namespace mf
