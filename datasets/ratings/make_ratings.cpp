// From ratings in a file's order to the canonical matrix.
//
// Ids become dense indices and a stable sort by user and item makes the rows. Its peak is 20 bytes
// a rating, the arrays that came in and an entry for each; 24 if entries are long or pairs occur
// twice.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/host/pages.hpp"
#include "datasets/ratings/ids/id_index.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

void resize(RawRatings& raw, std::int64_t count) {
  raw.users.resize(count);
  raw.items.resize(count);
  raw.values.resize(count);
}

void replace_ids(View<std::int32_t> ids, const IdIndex& index, ThreadTeam& team) {
  if (index.is_range() && index.least() == 0) return;
  team.for_chunks(ids.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    index.with([&](const auto& dense) {
      for (std::int64_t i = begin; i < end; ++i) ids[i] = dense(ids[i]);
    });
  });
}

// Before it is freed, by one thread.
void give_back(RawRatings& raw, ThreadTeam& team) {
  const auto column = [&](auto& values) {
    give_back_pages(values.data(), values.size() * sizeof values[0], team);
  };
  column(raw.users);
  column(raw.items);
  column(raw.values);
}

bool strictly_sorted(const RawRatings& raw, ThreadTeam& team) {
  std::vector<std::uint8_t> sorted(team.size(), 1);
  const std::int64_t count = std::ssize(raw.users);
  const std::int64_t part = (count + team.size() - 1) / team.size();
  team.run([&](int t) {
    const std::int64_t end = std::min((t + 1) * part, count);
    for (std::int64_t i = std::max<std::int64_t>(t * part, 1); i < end; ++i) {
      const bool less = raw.users[i - 1] != raw.users[i] ? raw.users[i - 1] < raw.users[i]
                                                         : raw.items[i - 1] < raw.items[i];
      if (less) continue;
      sorted[t] = 0;
      return;
    }
  });
  return std::all_of(sorted.begin(), sorted.end(), [](std::uint8_t s) { return s == 1; });
}

// Pairs that occur more than once, in sorted ratings.
class Duplicates {
 public:
  Duplicates(const RawRatings& raw, View<const std::int64_t> offsets)
      : raw_(raw), offsets_(offsets), runs_(cut_rows(offsets, 1 << 16)) {}

  // The end of the group of equal pairs that starts at i, in a row that ends at row_end.
  std::int64_t group_end(std::int64_t i, std::int64_t row_end) const {
    std::int64_t j = i + 1;
    while (j < row_end && raw_.items[j] == raw_.items[i]) ++j;
    return j;
  }

  // Calls body(first_user, end_user) for runs of whole rows, in parallel.
  template <class Body>
  void for_runs(ThreadTeam& team, const Body& body) const {
    team.for_chunks(std::ssize(runs_) - 1, 1, [&](std::int64_t r, std::int64_t) {
      body(r, std::int64_t{runs_[r]}, std::int64_t{runs_[r + 1]});
    });
  }

  // Counts duplicates and writes the number of distinct pairs of user u into distinct[u + 1].
  DuplicateReport count(View<std::int64_t> distinct, ThreadTeam& team) const {
    std::vector<DuplicateReport> reports(runs_.size());
    for_runs(team, [&](std::int64_t run, std::int64_t first, std::int64_t end) {
      DuplicateReport report;
      for (std::int64_t u = first; u < end; ++u) {
        const std::int64_t row_end = offsets_[u + 1];
        std::int64_t groups = 0;
        for (std::int64_t i = offsets_[u]; i < row_end; ++groups) {
          const std::int64_t next = group_end(i, row_end);
          report.pairs += next - i > 1;
          i = next;
        }
        distinct[u + 1] = groups;
        report.dropped += offsets_[u + 1] - offsets_[u] - groups;
      }
      reports[run] = report;
    });
    DuplicateReport total;
    for (const auto& report : reports) {
      total.pairs += report.pairs;
      total.dropped += report.dropped;
    }
    return total;
  }

  // Writes one rating a pair to `out`, rows at new_offsets.
  void resolve(DuplicatePolicy policy, View<const std::int64_t> new_offsets, RawRatings& out,
               ThreadTeam& team) const {
    for_runs(team, [&](std::int64_t, std::int64_t first, std::int64_t end) {
      std::int64_t to = new_offsets[first];
      for (std::int64_t u = first; u < end; ++u) {
        const std::int64_t row_end = offsets_[u + 1];
        for (std::int64_t i = offsets_[u]; i < row_end; ++to) {
          const std::int64_t next = group_end(i, row_end);
          out.users[to] = raw_.users[i];
          out.items[to] = raw_.items[i];
          out.values[to] = value_of(policy, i, next);
          i = next;
        }
      }
    });
  }

  // The first group of more than one, as [begin, end). There must be one.
  std::pair<std::int64_t, std::int64_t> first_group() const {
    for (std::int64_t u = 0;; ++u) {
      const std::int64_t row_end = offsets_[u + 1];
      for (std::int64_t i = offsets_[u]; i < row_end;) {
        const std::int64_t next = group_end(i, row_end);
        if (next - i > 1) return {i, next};
        i = next;
      }
    }
  }

 private:
  float value_of(DuplicatePolicy policy, std::int64_t begin, std::int64_t end) const {
    const float* const first = raw_.values.data() + begin;
    const float* const last = raw_.values.data() + end;
    if (end - begin == 1 || policy == DuplicatePolicy::last) return last[-1];
    if (policy == DuplicatePolicy::max) return *std::max_element(first, last);
    const double sum = std::accumulate(first, last, 0.0);
    if (policy == DuplicatePolicy::mean) return static_cast<float>(sum / double(end - begin));
    // The sum of two floats may be too large for one.
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(sum, -kMost, kMost));
  }

  const RawRatings& raw_;
  View<const std::int64_t> offsets_;
  std::vector<std::int32_t> runs_;
};

[[noreturn]] void fail_duplicate(const Duplicates& duplicates, const Ratings::Arrays& arrays,
                                 const RawRatings& raw, const DuplicateReport& report,
                                 const std::string& name) {
  const auto [begin, end] = duplicates.first_group();
  fail(ErrorKind::data,
       "{}: found {} ratings of user {} and item {} ({} in all), expected every pair once; set "
       "duplicates to \"last\", \"mean\", \"sum\" or \"max\" to resolve them",
       name, end - begin, id_text(arrays.user_names, arrays.user_ids, raw.users[begin]),
       id_text(arrays.item_names, arrays.item_ids, raw.items[begin]),
       counted(report.pairs, "such pair"));
}

// Leaves one rating a pair, or throws.
DuplicateReport resolve(RawRatings& raw, Ratings::Arrays& arrays, DuplicatePolicy policy,
                        ThreadTeam& team, const std::string& name) {
  const Duplicates duplicates(raw, arrays.user_offsets);
  AlignedVector<std::int64_t> offsets(std::ssize(arrays.user_offsets));
  offsets[0] = 0;
  const DuplicateReport found = duplicates.count(offsets, team);
  if (policy == DuplicatePolicy::error) fail_duplicate(duplicates, arrays, raw, found, name);
  for (std::int64_t u = 1; u < std::ssize(offsets); ++u) offsets[u] += offsets[u - 1];
  RawRatings distinct;
  resize(distinct, offsets.back());
  duplicates.resolve(policy, offsets, distinct, team);
  give_back(raw, team);
  raw = std::move(distinct);
  arrays.user_offsets = std::move(offsets);
  return found;
}

// Renumbers rows of names, some of which may not occur, among the occurring ones.
void keep_names(const IdNames& names, AlignedVector<std::int32_t>& ids, IdNames& kept) {
  if (names.empty()) return;
  kept = names.of_rows(ids);
  std::iota(ids.begin(), ids.end(), 0);
}

}  // namespace

Ratings make_ratings(RawRatings raw, DuplicatePolicy policy, int threads, const std::string& name,
                     DuplicateReport* report) {
  if (raw.users.size() != raw.values.size() || raw.items.size() != raw.values.size()) {
    fail(ErrorKind::data, "{}: found {} users, {} items and {} ratings, expected as many of each",
         name, raw.users.size(), raw.items.size(), raw.values.size());
  }
  ThreadTeam team(useful_threads(threads, std::ssize(raw.values)));
  if (report != nullptr) *report = {};
  Ratings::Arrays arrays;
  const IdIndex users(raw.users, team, "user", name);
  const IdIndex items(raw.items, team, "item", name);
  arrays.user_ids = users.ids();
  arrays.item_ids = items.ids();
  keep_names(raw.user_names, arrays.user_ids, arrays.user_names);
  keep_names(raw.item_names, arrays.item_ids, arrays.item_names);
  replace_ids(raw.users, users, team);
  arrays.user_offsets = key_offsets(raw.users, users.size(), team);
  if (strictly_sorted(raw, team)) {
    replace_ids(raw.items, items, team);
  } else if (const MutableColumns all{raw.users.data(), raw.items.data(), raw.values.data()};
             !sort_pairs({all.row, all.column, all.value}, arrays.user_offsets, items, all, team)) {
    const DuplicateReport found = resolve(raw, arrays, policy, team, name);
    if (report != nullptr) *report = found;
  }
  arrays.users = std::move(raw.users);
  arrays.items = std::move(raw.items);
  arrays.values = std::move(raw.values);
  return Ratings(std::move(arrays));
}

}  // namespace mf
