#include "datasets/implicit_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRowChunk = std::int64_t{1} << 16;  // ratings a chunk of whole rows

// Counts of what is kept: of each user, and whether of each item.
struct Kept {
  AlignedVector<std::int64_t> per_user;
  AlignedVector<std::uint8_t> item;
};

// New indices of those kept, in the old order; -1 for others. Returns their number.
template <class Keep>
std::int32_t number_anew(AlignedVector<std::int32_t>& index, const Keep& keep) {
  std::int32_t next = 0;
  for (std::int64_t k = 0; k < std::ssize(index); ++k) index[k] = keep(k) ? next++ : -1;
  return next;
}

// The names of those kept; `ids` become rows of them.
IdNames kept_names(const IdNames& names, View<const std::int32_t> index,
                   AlignedVector<std::int32_t>& ids) {
  if (names.empty()) return {};
  AlignedVector<std::int32_t> rows;
  for (std::int64_t k = 0; k < index.size(); ++k) {
    if (index[k] >= 0) rows.push_back(static_cast<std::int32_t>(k));
  }
  std::iota(ids.begin(), ids.end(), 0);
  return names.of_rows(rows);
}

class Rule {
 public:
  Rule(const Dataset& data, const ImplicitRule& rule, int threads)
      : data_(data),
        all_(data.ratings),
        least_(static_cast<float>(rule.min_rating)),
        binary_(rule.value == ImplicitValue::binary),
        team_(useful_threads(threads, data.ratings.nnz())),
        runs_(all_.nnz() > 0 ? cut_rows(all_.user_offsets(), kRowChunk)
                             : std::vector<std::int32_t>{0}) {}

  Dataset apply() {
    const Kept kept = find_kept();
    AlignedVector<std::int32_t> users(all_.n_users()), items(all_.n_items());
    const std::int32_t m = number_anew(users, [&](auto u) { return kept.per_user[u] > 0; });
    const std::int32_t n = number_anew(items, [&](auto i) { return kept.item[i] != 0; });
    if (m == 0) fail_empty();

    Dataset out;
    out.info = data_.info;
    Ratings::Arrays a;
    a.user_ids.resize(m);
    a.user_offsets.resize(std::int64_t{m} + 1);
    a.user_offsets[0] = 0;
    for (std::int64_t u = 0; u < all_.n_users(); ++u) {
      if (users[u] < 0) continue;
      a.user_ids[users[u]] = all_.user_ids()[u];
      a.user_offsets[std::int64_t{users[u]} + 1] = a.user_offsets[users[u]] + kept.per_user[u];
    }
    a.item_ids.resize(n);
    for (std::int64_t i = 0; i < all_.n_items(); ++i) {
      if (items[i] >= 0) a.item_ids[items[i]] = all_.item_ids()[i];
    }
    a.user_names = kept_names(all_.user_names(), users, a.user_ids);
    a.item_names = kept_names(all_.item_names(), items, a.item_ids);
    copy(users, items, a, out.parts);
    out.ratings = Ratings(std::move(a));
    return out;
  }

 private:
  // Calls body(first_user, end_user) for runs of whole rows.
  template <class Body>
  void for_runs(const Body& body) {
    team_.for_chunks(std::ssize(runs_) - 1, 1,
                     [&](std::int64_t run, std::int64_t) { body(runs_[run], runs_[run + 1]); });
  }

  bool keeps(std::int64_t k) const { return all_.values()[k] >= least_; }

  Kept find_kept() {
    Kept kept;
    kept.per_user.assign(all_.n_users(), 0);
    kept.item.assign(all_.n_items(), 0);
    for_runs([&](std::int64_t first, std::int64_t end) {
      for (std::int64_t u = first; u < end; ++u) {
        for (std::int64_t k = all_.user_offsets()[u]; k < all_.user_offsets()[u + 1]; ++k) {
          if (!keeps(k)) continue;
          ++kept.per_user[u];
          std::atomic_ref<std::uint8_t> flag(kept.item[all_.items()[k]]);
          // Popular items are met a million times: only the first writes to the line.
          if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
        }
      }
    });
    return kept;
  }

  void copy(View<const std::int32_t> users, View<const std::int32_t> items, Ratings::Arrays& a,
            AlignedVector<std::uint8_t>& parts) {
    const std::int64_t nnz = a.user_offsets.back();
    a.users.resize(nnz);
    a.items.resize(nnz);
    a.values.resize(nnz);
    if (!data_.parts.empty()) parts.resize(nnz);
    for_runs([&](std::int64_t first, std::int64_t end) {
      for (std::int64_t u = first; u < end; ++u) {
        if (users[u] < 0) continue;
        std::int64_t to = a.user_offsets[users[u]];
        for (std::int64_t k = all_.user_offsets()[u]; k < all_.user_offsets()[u + 1]; ++k) {
          if (!keeps(k)) continue;
          a.users[to] = users[u];
          a.items[to] = items[all_.items()[k]];
          a.values[to] = binary_ ? 1.0F : all_.values()[k];
          if (!data_.parts.empty()) parts[to] = data_.parts[k];
          ++to;
        }
      }
    });
  }

  [[noreturn]] void fail_empty() const {
    const auto values = all_.values();
    const std::string found =
        values.empty()
            ? "no rating at all"
            : fmt::format("{} as the highest", *std::max_element(values.begin(), values.end()));
    fail(ErrorKind::data, "{}: implicit.min_rating {} leaves no rating: found {}; lower it",
         data_.info.name, least_, found);
  }

  const Dataset& data_;
  const Ratings& all_;
  float least_;
  bool binary_;
  ThreadTeam team_;
  std::vector<std::int32_t> runs_;
};

}  // namespace

Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads) {
  Dataset out = Rule(data, rule, threads).apply();
  out.info.implicit = ImplicitInfo{rule, data.ratings.nnz() - out.ratings.nnz(),
                                   data.ratings.n_users() - out.ratings.n_users(),
                                   data.ratings.n_items() - out.ratings.n_items()};
  if (rule.value == ImplicitValue::binary) out.info.scale.reset();
  out.info.content_hash = content_hash(out.ratings, threads);
  return out;
}

}  // namespace mf
