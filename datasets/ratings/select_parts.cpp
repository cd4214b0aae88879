// Two passes over runs of whole rows. The first counts the ratings of each part in each run, from
// the labels alone; then every run knows where its ratings go, and the second copies them: rows and
// users of the parts from the offsets, items and values through a buffer inside the cache, without
// a branch on the labels, which are random.
#include "datasets/ratings/select_parts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRunRatings = std::int64_t{1} << 16;
constexpr std::int64_t kBlock = 2048;       // ratings in the buffer
constexpr std::int64_t kReleasedRuns = 16;  // runs whose memory is given back together

// Arrays of a part, beside what owns its ids.
struct Selection {
  SharedIds ids;
  Ratings::Arrays own;

  Ratings::Views views() const {
    return {own.users, own.items, own.values,     own.user_offsets,
            ids.users, ids.items, ids.user_names, ids.item_names};
  }
};

// Flags that many threads set.
void mark(AlignedVector<std::uint8_t>& flags, const std::int32_t* items, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::atomic_ref<std::uint8_t> flag(flags[items[i]]);
    // Popular items are marked a million times: only the first of them writes to the line.
    if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
  }
}

// One part while it grows.
struct GrowingPart {
  std::uint8_t label = 0;
  std::vector<std::int64_t> first;  // of each run: the place of its first rating; then the end
  std::shared_ptr<Selection> selection;
  AlignedVector<std::uint8_t> item_rated;

  GrowingPart(const SharedIds& ids, std::uint8_t wanted, std::int64_t n_runs)
      : label(wanted),
        first(n_runs + 1, 0),
        selection(std::make_shared<Selection>()),
        item_rated(ids.items.size(), 0) {
    selection->ids = ids;
  }

  // Once `first` is known.
  void allocate(std::int64_t n_offsets) {
    Ratings::Arrays& own = selection->own;
    own.user_offsets.resize(n_offsets);
    own.user_offsets[0] = 0;
    own.users.resize(first.back());
    own.items.resize(first.back());
    own.values.resize(first.back());
  }
};

// Copies one run of rows into a part.
class RunCopy {
 public:
  RunCopy(const Ratings& all, View<const std::uint8_t> labels, GrowingPart& part)
      : all_(all), labels_(labels), part_(part), own_(part.selection->own) {}

  void operator()(std::int64_t first_user, std::int64_t end_user, std::int64_t at) const {
    const auto offsets = all_.user_offsets();
    rows(first_user, end_user, at);
    for (std::int64_t i = offsets[first_user]; i < offsets[end_user]; i += kBlock) {
      at += block(i, std::min(i + kBlock, offsets[end_user]), at);
    }
  }

 private:
  // Offsets and users.
  void rows(std::int64_t first_user, std::int64_t end_user, std::int64_t at) const {
    const auto offsets = all_.user_offsets();
    for (std::int64_t u = first_user; u < end_user; ++u) {
      const std::int64_t end = at + std::count(labels_.begin() + offsets[u],
                                               labels_.begin() + offsets[u + 1], part_.label);
      std::fill(own_.users.begin() + at, own_.users.begin() + end, static_cast<std::int32_t>(u));
      own_.user_offsets[u + 1] = end;
      at = end;
    }
  }

  // Items and values of ratings [begin, end); returns how many belong to the part.
  std::int64_t block(std::int64_t begin, std::int64_t end, std::int64_t at) const {
    std::array<std::int32_t, kBlock> items;
    std::array<float, kBlock> values;
    const std::int32_t* const from_items = all_.items().data() + begin;
    const float* const from_values = all_.values().data() + begin;
    const std::uint8_t* const labels = labels_.data() + begin;
    std::size_t kept = 0;
    for (std::int64_t i = 0; i < end - begin; ++i) {
      items[kept] = from_items[i];
      values[kept] = from_values[i];
      kept += labels[i] == part_.label ? 1 : 0;
    }
    const auto count = static_cast<std::int64_t>(kept);
    std::copy_n(items.data(), count, own_.items.data() + at);
    std::copy_n(values.data(), count, own_.values.data() + at);
    mark(part_.item_rated, items.data(), count);
    return count;
  }

  const Ratings& all_;
  View<const std::uint8_t> labels_;
  GrowingPart& part_;
  Ratings::Arrays& own_;
};

// How many of each part a run has.
void count_run(View<const std::uint8_t> labels, std::int64_t run, std::vector<GrowingPart>& parts) {
  for (GrowingPart& part : parts) {
    part.first[run + 1] = std::count(labels.begin(), labels.end(), part.label);
  }
}

template <class T>
void give_back(View<const T> column, std::int64_t begin, std::int64_t end) {
  const auto part = column.part(begin, end);
  give_back_pages(const_cast<T*>(part.data()), part.size_bytes());
}

void cut(const Ratings& all, View<const std::uint8_t> labels, std::vector<GrowingPart>& parts,
         const std::vector<std::int32_t>& runs, Originals originals, ThreadTeam& team) {
  const auto offsets = all.user_offsets();
  const std::int64_t n_runs = std::ssize(runs) - 1;
  team.for_chunks(n_runs, 1, [&](std::int64_t r, std::int64_t) {
    count_run(labels.part(offsets[runs[r]], offsets[runs[r + 1]]), r, parts);
  });
  for (GrowingPart& part : parts) {
    std::partial_sum(part.first.begin(), part.first.end(), part.first.begin());
    part.allocate(offsets.size());
  }
  const std::int64_t together = originals == Originals::consumed ? kReleasedRuns : 1;
  team.for_chunks(n_runs, together, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      for (GrowingPart& part : parts)
        RunCopy(all, labels, part)(runs[r], runs[r + 1], part.first[r]);
    }
    if (originals == Originals::kept) return;
    give_back(all.users(), offsets[runs[begin]], offsets[runs[end]]);
    give_back(all.items(), offsets[runs[begin]], offsets[runs[end]]);
    give_back(all.values(), offsets[runs[begin]], offsets[runs[end]]);
  });
}

}  // namespace

std::vector<SelectedPart> select_parts(const Ratings& all, const SharedIds& ids,
                                       View<const std::uint8_t> labels,
                                       View<const std::uint8_t> wanted, int threads,
                                       Originals originals) {
  if (labels.size() != all.nnz()) {
    fail(ErrorKind::usage, "found {} labels for {} ratings", labels.size(), all.nnz());
  }
  std::vector<SelectedPart> selected;
  if (all.user_offsets().empty()) {
    for (std::int64_t k = 0; k < wanted.size(); ++k) {
      selected.push_back({no_ratings_of(ids), AlignedVector<std::uint8_t>(all.n_items(), 0)});
    }
    return selected;
  }
  const auto runs = cut_rows(all.user_offsets(), kRunRatings);
  std::vector<GrowingPart> parts;
  for (const std::uint8_t label : wanted) parts.emplace_back(ids, label, std::ssize(runs) - 1);
  ThreadTeam team(useful_threads(threads, all.nnz()));
  cut(all, labels, parts, runs, originals, team);
  for (GrowingPart& part : parts) {
    const Ratings::Views views = part.selection->views();
    selected.push_back({Ratings(views, std::move(part.selection)), std::move(part.item_rated)});
  }
  return selected;
}

Ratings no_ratings_of(const SharedIds& ids) {
  // From calloc, whose pages take no memory before they are written: 8 bytes a user.
  struct Nothing {
    std::shared_ptr<const void> ids;
    std::unique_ptr<std::int64_t[], void (*)(void*)> offsets{nullptr, std::free};
  };
  auto nothing = std::make_shared<Nothing>();
  nothing->ids = ids.owner;
  const std::int64_t n = ids.users.size() + 1;
  nothing->offsets.reset(
      static_cast<std::int64_t*>(std::calloc(static_cast<std::size_t>(n), sizeof(std::int64_t))));
  if (nothing->offsets == nullptr) throw std::bad_alloc();
  Ratings::Views views;
  views.user_offsets = {nothing->offsets.get(), n};
  views.user_ids = ids.users;
  views.item_ids = ids.items;
  views.user_names = ids.user_names;
  views.item_names = ids.item_names;
  return {views, std::move(nothing)};
}

Ratings select(const Ratings& all, View<const std::uint8_t> keep, std::uint8_t label, int threads) {
  return select(all, share_ids(all), keep, label, threads);
}

Ratings select(const Ratings& all, const SharedIds& ids, View<const std::uint8_t> keep,
               std::uint8_t label, int threads) {
  const std::array<std::uint8_t, 1> wanted = {label};
  return select_parts(all, ids, keep, wanted, threads).front().ratings;
}

}  // namespace mf
