// From ratings in a file's order to the canonical matrix.
//
// Ids become dense indices and a stable sort by user and item makes the rows. Its peak is 20 bytes
// a rating, the arrays that came in and an entry for each; 24 if entries are long or pairs occur
// twice. The number of its file is another byte.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/host/pages.hpp"
#include "base/key_words.hpp"
#include "datasets/ratings/ids/id_index.hpp"
#include "datasets/ratings/rating_files.hpp"
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

// Pairs that occur more than once, in sorted ratings; a pair's are in the order of their files.
class Duplicates {
 public:
  struct Found {
    DuplicateReport report;
    std::int64_t shared = 0;  // pairs in more than one file
  };

  Duplicates(const RawRatings& raw, View<const std::uint8_t> file_of,
             View<const std::int64_t> offsets)
      : raw_(raw), file_of_(file_of), offsets_(offsets), runs_(cut_rows(offsets, 1 << 16)) {}

  // Counts duplicates and writes the number of distinct pairs of user u into distinct[u + 1].
  Found count(View<std::int64_t> distinct, ThreadTeam& team) const {
    std::vector<Found> of_runs(runs_.size());
    for_runs(team, [&](std::int64_t run, std::int64_t first, std::int64_t end) {
      Found found;
      std::fill(distinct.begin() + first + 1, distinct.begin() + end + 1, 0);
      for_groups(first, end, [&](std::int64_t u, std::int64_t i, std::int64_t next) {
        ++distinct[u + 1];
        found.report.pairs += next - i > 1;
        found.report.dropped += next - i - 1;
        found.shared += file(i) != file(next - 1);
      });
      of_runs[run] = found;
    });
    Found total;
    for (const auto& found : of_runs) {
      total.report.pairs += found.report.pairs;
      total.report.dropped += found.report.dropped;
      total.shared += found.shared;
    }
    return total;
  }

  // Writes one rating a pair to `out`, rows at new_offsets, and the number of its file.
  void resolve(DuplicatePolicy policy, View<const std::int64_t> new_offsets, RawRatings& out,
               View<std::uint8_t> out_file_of, ThreadTeam& team) const {
    for_runs(team, [&](std::int64_t, std::int64_t first, std::int64_t end) {
      std::int64_t to = new_offsets[first];
      for_groups(first, end, [&](std::int64_t, std::int64_t i, std::int64_t next) {
        out.users[to] = raw_.users[i];
        out.items[to] = raw_.items[i];
        out.values[to] = value_of(policy, i, next);
        if (!out_file_of.empty()) out_file_of[to] = file_of_[i];
        ++to;
      });
    });
  }

  // The ratings [begin, end) of one pair.
  struct Group {
    std::int64_t begin = 0, end = 0;
  };
  // The first group for which `is_wanted`, and how many there are.
  template <class Wanted>
  std::pair<Group, std::int64_t> first_of(const Wanted& is_wanted) const {
    std::pair<Group, std::int64_t> found;
    for_groups(0, offsets_.size() - 1, [&](std::int64_t, std::int64_t i, std::int64_t next) {
      if (is_wanted(Group{i, next}) && found.second++ == 0) found.first = {i, next};
    });
    return found;
  }

  // The number of the rating's file.
  std::uint8_t file(std::int64_t i) const { return file_of_.empty() ? 0 : file_of_[i]; }

 private:
  // Calls body(user, begin, end) for each group of equal pairs of these rows.
  template <class Body>
  void for_groups(std::int64_t first_user, std::int64_t end_user, const Body& body) const {
    for (std::int64_t u = first_user; u < end_user; ++u) {
      const std::int64_t row_end = offsets_[u + 1];
      for (std::int64_t i = offsets_[u]; i < row_end;) {
        std::int64_t next = i + 1;
        while (next < row_end && raw_.items[next] == raw_.items[i]) ++next;
        body(u, i, next);
        i = next;
      }
    }
  }

  // Calls body(run, first_user, end_user) for runs of whole rows, in parallel.
  template <class Body>
  void for_runs(ThreadTeam& team, const Body& body) const {
    team.for_chunks(std::ssize(runs_) - 1, 1, [&](std::int64_t r, std::int64_t) {
      body(r, std::int64_t{runs_[r]}, std::int64_t{runs_[r + 1]});
    });
  }

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
  View<const std::uint8_t> file_of_;
  View<const std::int64_t> offsets_;
  std::vector<std::int32_t> runs_;
};

[[noreturn]] void fail_duplicate(const Duplicates& duplicates, const Ratings::Arrays& arrays,
                                 const RawRatings& raw, const RatingFiles& files) {
  using Group = Duplicates::Group;
  const auto [first, any] = duplicates.first_of([](Group g) { return g.end - g.begin > 1; });
  const std::uint8_t file = duplicates.file(first.begin);
  const auto [group, count] = duplicates.first_of(
      [&](Group g) { return g.end - g.begin > 1 && duplicates.file(g.begin) == file; });
  fail(ErrorKind::data,
       "{}: found {} ratings of user {} and item {} ({} in all), expected every pair once; {} "
       "to resolve them",
       files.names[file], group.end - group.begin,
       id_text(arrays.user_names, arrays.user_ids, raw.users[group.begin]),
       id_text(arrays.item_names, arrays.item_ids, raw.items[group.begin]),
       counted(count, "such pair"), set_key("duplicates", {"last", "mean", "sum", "max"}));
}

[[noreturn]] void fail_shared(const Duplicates& duplicates, const Ratings::Arrays& arrays,
                              const RawRatings& raw, const RatingFiles& files) {
  using Group = Duplicates::Group;
  const auto files_of = [&](Group g) {
    const std::uint8_t first = duplicates.file(g.begin);
    while (g.begin < g.end - 1 && duplicates.file(g.begin) == first) ++g.begin;
    return std::pair(first, duplicates.file(g.begin));
  };
  const auto [first, any] =
      duplicates.first_of([&](Group g) { return files_of(g).first != files_of(g).second; });
  const auto both = files_of(first);
  const auto [group, count] = duplicates.first_of([&](Group g) { return files_of(g) == both; });
  fail(ErrorKind::data,
       "user {}, item {} is in both {} and {} ({}); remove {} from one of them: a test part that "
       "was trained on measures nothing",
       id_text(arrays.user_names, arrays.user_ids, raw.users[group.begin]),
       id_text(arrays.item_names, arrays.item_ids, raw.items[group.begin]), files.names[both.first],
       files.names[both.second], counted(count, "such pair"), count == 1 ? "it" : "them");
}

// Leaves one rating a pair, or throws.
DuplicateReport resolve(RawRatings& raw, RatingFiles& files, Ratings::Arrays& arrays,
                        DuplicatePolicy policy, ThreadTeam& team) {
  const Duplicates duplicates(raw, files.of, arrays.user_offsets);
  AlignedVector<std::int64_t> offsets(std::ssize(arrays.user_offsets));
  offsets[0] = 0;
  const Duplicates::Found found = duplicates.count(offsets, team);
  if (found.shared > 0) fail_shared(duplicates, arrays, raw, files);
  if (policy == DuplicatePolicy::error) fail_duplicate(duplicates, arrays, raw, files);
  for (std::int64_t u = 1; u < std::ssize(offsets); ++u) offsets[u] += offsets[u - 1];
  RawRatings distinct;
  resize(distinct, offsets.back());
  AlignedVector<std::uint8_t> file_of(files.of.empty() ? 0 : offsets.back());
  duplicates.resolve(policy, offsets, distinct, file_of, team);
  give_back(raw, team);
  raw = std::move(distinct);
  files.of = std::move(file_of);
  arrays.user_offsets = std::move(offsets);
  return found.report;
}

// Renumbers rows of names, some of which may not occur, among the occurring ones.
void keep_names(const IdNames& names, AlignedVector<std::int32_t>& ids, IdNames& kept) {
  if (names.empty()) return;
  kept = names.of_rows(ids);
  std::iota(ids.begin(), ids.end(), 0);
}

}  // namespace

Ratings make_ratings(RawRatings raw, RatingFiles& files, DuplicatePolicy policy, int threads,
                     const std::string& name, DuplicateReport* report) {
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
  const MutableColumns all{raw.users.data(), raw.items.data(), raw.values.data(),
                           files.of.empty() ? nullptr : files.of.data()};
  if (strictly_sorted(raw, team)) {
    replace_ids(raw.items, items, team);
  } else if (!sort_pairs({all.row, all.column, all.value, all.file}, arrays.user_offsets, items,
                         std::ssize(files.names), all, team)) {
    const DuplicateReport found = resolve(raw, files, arrays, policy, team);
    if (report != nullptr) *report = found;
  }
  arrays.users = std::move(raw.users);
  arrays.items = std::move(raw.items);
  arrays.values = std::move(raw.values);
  return Ratings(std::move(arrays));
}

Ratings make_ratings(RawRatings raw, DuplicatePolicy policy, int threads, const std::string& name,
                     DuplicateReport* report) {
  RatingFiles one{{name}, {}};
  return make_ratings(std::move(raw), one, policy, threads, name, report);
}

}  // namespace mf
