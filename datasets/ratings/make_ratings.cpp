// From ratings in a file's order to the canonical matrix.
//
// Ids become dense indices, ratings are scattered stably into buckets of users, and each bucket is
// sorted by (user, item) with a stable radix sort inside a cache. Sorting moves the ratings between
// the arrays that came in and one copy of them, so the peak is twice the result.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/pages.hpp"
#include "datasets/ratings/bucket_sort.hpp"
#include "datasets/ratings/id_index.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {
namespace {

MutableColumns columns_of(RawRatings& raw) {
  return {raw.users.data(), raw.items.data(), raw.values.data()};
}

void resize(RawRatings& raw, std::int64_t count) {
  raw.users.resize(count);
  raw.items.resize(count);
  raw.values.resize(count);
}

void replace_ids(View<std::int32_t> ids, const IdIndex& index, ThreadTeam& team) {
  const bool range = index.is_range();
  const std::int32_t least = index.least();
  if (range && least == 0) return;
  team.for_chunks(ids.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    if (range) {
      for (std::int64_t i = begin; i < end; ++i) ids[i] -= least;
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) ids[i] = index(ids[i]);
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

// One pass of a radix sort: a digit of the item or of the user.
struct Digit {
  bool of_item = true;
  int shift = 0;
  int bits = 0;
};

// Digits that cover [0, largest], least significant first, of at most 11 bits each.
void add_digits(std::vector<Digit>& digits, bool of_item, std::uint32_t largest) {
  constexpr int kMaxBits = 11;
  const int bits = std::bit_width(largest);
  const int passes = (bits + kMaxBits - 1) / kMaxBits;
  for (int p = 0; p < passes; ++p) {
    const int begin = bits * p / passes;
    digits.push_back({of_item, begin, bits * (p + 1) / passes - begin});
  }
}

class BucketSorter {
 public:
  BucketSorter(std::int32_t n_items, MutableColumns ratings, MutableColumns spare)
      : n_items_(n_items), ratings_(ratings), spare_(spare) {}

  // Sorts ratings [begin, end) of `spare`, all of users [first_user, end_user), by (user, item)
  // into the same places of `ratings`.
  void operator()(std::int64_t begin, std::int64_t end, std::int32_t first_user,
                  std::int32_t end_user) const {
    std::vector<Digit> digits;
    add_digits(digits, true, static_cast<std::uint32_t>(n_items_ - 1));
    add_digits(digits, false, static_cast<std::uint32_t>(end_user - first_user - 1));
    MutableColumns from = spare_;
    MutableColumns to = ratings_;
    for (const Digit& digit : digits) {
      pass(digit, first_user, begin, end, from, to);
      std::swap(from, to);
    }
    if (from.value == ratings_.value) return;
    std::copy(from.key + begin, from.key + end, ratings_.key + begin);
    std::copy(from.other + begin, from.other + end, ratings_.other + begin);
    std::copy(from.value + begin, from.value + end, ratings_.value + begin);
  }

 private:
  static void pass(const Digit& digit, std::int32_t first_user, std::int64_t begin,
                   std::int64_t end, MutableColumns from, MutableColumns to) {
    const std::uint32_t mask = (std::uint32_t{1} << digit.bits) - 1;
    const std::int32_t* column = digit.of_item ? from.other : from.key;
    const std::int32_t base = digit.of_item ? 0 : first_user;
    const auto value_of = [&](std::int64_t i) {
      return static_cast<std::uint32_t>(column[i] - base) >> digit.shift & mask;
    };
    std::array<std::int64_t, 2048> next{};
    for (std::int64_t i = begin; i < end; ++i) ++next[value_of(i)];
    std::int64_t at = begin;
    for (std::uint32_t d = 0; d <= mask; ++d) at += std::exchange(next[d], at);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t k = next[value_of(i)]++;
      to.key[k] = from.key[i];
      to.other[k] = from.other[i];
      to.value[k] = from.value[i];
    }
  }

  std::int32_t n_items_;
  MutableColumns ratings_, spare_;
};

void sort_ratings(RawRatings& raw, std::int32_t n_items, View<const std::int64_t> user_offsets,
                  ThreadTeam& team) {
  const std::int64_t count = std::ssize(raw.values);
  RawRatings spare;
  resize(spare, count);
  const Buckets buckets = make_buckets(user_offsets);
  scatter_to_buckets({raw.users.data(), raw.items.data(), raw.values.data()}, count, buckets,
                     user_offsets, columns_of(spare), team);
  const BucketSorter sort(n_items, columns_of(raw), columns_of(spare));
  team.for_chunks(buckets.count(), 1, [&](std::int64_t b, std::int64_t) {
    const std::int32_t first = buckets.first_key[b];
    const std::int32_t end = buckets.first_key[b + 1];
    sort(user_offsets[first], user_offsets[end], first, end);
  });
  give_back(spare, team);
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
          out.values[to] = policy == DuplicatePolicy::last ? raw_.values[next - 1] : mean(i, next);
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
  float mean(std::int64_t begin, std::int64_t end) const {
    if (end - begin == 1) return raw_.values[begin];
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += double{raw_.values[i]};
    return static_cast<float>(sum / static_cast<double>(end - begin));
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
       "{}: found user {}, item {} {} times ({} such pairs in all), expected every pair once; set "
       "duplicates to \"last\" or \"mean\" to resolve them",
       name, id_text(arrays.user_names, arrays.user_ids, raw.users[begin]),
       id_text(arrays.item_names, arrays.item_ids, raw.items[begin]), end - begin, report.pairs);
}

// Rows of names, of which some may not occur, are rows of those that do.
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
  const std::int64_t count = std::ssize(raw.values);
  ThreadTeam team(useful_threads(threads, count));
  Ratings::Arrays arrays;
  {
    const IdIndex users(raw.users, team, "user", name);
    replace_ids(raw.users, users, team);
    arrays.user_ids = users.ids();
    keep_names(raw.user_names, arrays.user_ids, arrays.user_names);
  }
  {
    const IdIndex items(raw.items, team, "item", name);
    replace_ids(raw.items, items, team);
    arrays.item_ids = items.ids();
    keep_names(raw.item_names, arrays.item_ids, arrays.item_names);
  }
  arrays.user_offsets =
      key_offsets(raw.users, static_cast<std::int32_t>(arrays.user_ids.size()), team);

  DuplicateReport found;
  if (!strictly_sorted(raw, team)) {
    sort_ratings(raw, static_cast<std::int32_t>(arrays.item_ids.size()), arrays.user_offsets, team);
    const Duplicates duplicates(raw, arrays.user_offsets);
    AlignedVector<std::int64_t> offsets(std::ssize(arrays.user_offsets));
    offsets[0] = 0;
    found = duplicates.count(offsets, team);
    if (found.pairs > 0) {
      if (policy == DuplicatePolicy::error) fail_duplicate(duplicates, arrays, raw, found, name);
      for (std::int64_t u = 1; u < std::ssize(offsets); ++u) offsets[u] += offsets[u - 1];
      RawRatings distinct;
      resize(distinct, offsets.back());
      duplicates.resolve(policy, offsets, distinct, team);
      give_back(raw, team);
      raw = std::move(distinct);
      arrays.user_offsets = std::move(offsets);
    }
  }
  if (report != nullptr) *report = found;
  arrays.users = std::move(raw.users);
  arrays.items = std::move(raw.items);
  arrays.values = std::move(raw.values);
  return Ratings(std::move(arrays));
}

}  // namespace mf
