// Two passes over runs of as many ratings each. The first counts the ratings of each part in each
// run, by the labels; then every run knows the places of its ratings, and the second copies them
// block by block: all parts of a block from the cache, through a buffer within it, without a branch
// on the labels, which are random. So 8 bytes a rating are read and 12 are written, without
// users 8. The longest part is the system's: the first touch of new memory.
#include "datasets/ratings/select_parts.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

#include "base/clones.hpp"
#include "base/error.hpp"
#include "base/host/pages.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

// Runs of ratings, by which the work is cut.
struct RatingRuns {
  std::vector<std::int32_t> first_row;     // the first rating's; then the number of rows
  std::vector<std::int64_t> first_rating;  // of each run; then the number of ratings
  std::int64_t count() const { return std::ssize(first_row) - 1; }
};

// For the ratings of the rows, which have these offsets, by pieces of `piece` ratings of all.
RatingRuns runs_of(View<const std::int64_t> offsets, RowRange rows, std::int64_t piece) {
  RatingRuns runs;
  const std::int64_t last = offsets[rows.end];
  auto row = static_cast<std::int32_t>(rows.first);
  for (std::int64_t at = offsets[rows.first]; at < last; at = (at / piece + 1) * piece) {
    const auto after = std::upper_bound(offsets.begin() + row, offsets.begin() + rows.end, at);
    // Rows without ratings before the first one are its run's.
    if (!runs.first_row.empty()) row = static_cast<std::int32_t>(after - offsets.begin() - 1);
    runs.first_row.push_back(row);
    runs.first_rating.push_back(at);
  }
  // Without ratings there are no runs, and all rows are empty.
  runs.first_row.push_back(
      static_cast<std::int32_t>(runs.first_row.empty() ? rows.first : rows.end));
  runs.first_rating.push_back(last);
  return runs;
}

// Arrays of a part, beside the owner of its ids.
struct Selection {
  SharedIds ids;
  Ratings::Arrays own;

  Ratings::Views views() const {
    return {own.users, own.items, own.values,     own.user_offsets,
            ids.users, ids.items, ids.user_names, ids.item_names};
  }
};

// In bytes, of which a vector has the most, and so in pieces whose counts fit one.
MF_CLONES std::int64_t count_equal(const std::uint8_t* labels, std::int64_t count,
                                   std::uint8_t label) {
  constexpr std::int64_t kPiece = 128;
  std::int64_t all = 0;
  std::int64_t i = 0;
  for (; i + kPiece <= count; i += kPiece) {
    std::uint8_t piece = 0;
    for (std::int64_t k = 0; k < kPiece; ++k)
      piece = static_cast<std::uint8_t>(piece + (labels[i + k] == label ? 1 : 0));
    all += piece;
  }
  for (; i < count; ++i) all += labels[i] == label ? 1 : 0;
  return all;
}

// Flags that many threads set.
void mark(AlignedVector<std::uint8_t>& flags, const std::int32_t* items, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::atomic_ref<std::uint8_t> flag(flags[items[i]]);
    // Popular items are marked a million times: only the first of them writes to the line.
    if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
  }
}

#if defined(__x86_64__)
// Sixteen at a time: a store of all lanes, of which the kept ones are the first.
__attribute__((target("avx512f,avx512bw,avx512vl,popcnt"))) std::int64_t keep_by_16(
    const std::uint8_t* labels, const std::int32_t* items, const float* values, std::int64_t count,
    std::uint8_t label, std::int32_t* kept_items, float* kept_values) {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(label));
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; i += 16) {
    const auto there = static_cast<__mmask16>((1U << std::min<std::int64_t>(16, count - i)) - 1);
    const __mmask16 keep =
        _mm_mask_cmpeq_epi8_mask(there, _mm_maskz_loadu_epi8(there, labels + i), wanted);
    const __m512i own_items = _mm512_maskz_loadu_epi32(keep, items + i);
    const __m512 own_values = _mm512_maskz_loadu_ps(keep, values + i);
    _mm512_storeu_si512(kept_items + kept, _mm512_maskz_compress_epi32(keep, own_items));
    _mm512_storeu_ps(kept_values + kept, _mm512_maskz_compress_ps(keep, own_values));
    kept += _mm_popcnt_u32(keep);
  }
  return kept;
}
#endif

// One part while it grows.
struct GrowingPart {
  std::uint8_t label = 0;
  std::vector<std::int64_t> first;  // of each run: the place of its first rating; then the end
  std::shared_ptr<Selection> selection = std::make_shared<Selection>();
  AlignedVector<std::uint8_t> item_rated;

  GrowingPart(const SharedIds& ids, WantedPart wanted, const std::vector<std::int64_t>& counts,
              std::int64_t n_offsets)
      : label(wanted.label), first(counts.size() + 1, 0), item_rated(ids.items.size(), 0) {
    std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
    selection->ids = ids;
    Ratings::Arrays& own = selection->own;
    own.user_offsets.resize(n_offsets);
    own.user_offsets[0] = 0;
    if (wanted.users == UsersColumn::made) own.users.resize(first.back());
    own.items.resize(first.back());
    own.values.resize(first.back());
  }
};

// Copies the ratings of one run that belong to a part: rows in order, blocks of them.
class PartWriter {
 public:
  PartWriter(GrowingPart& part, std::int64_t run)
      : part_(part),
        own_(part.selection->own),
        has_users_(!own_.users.empty()),
        at_(part.first[static_cast<std::size_t>(run)]) {}

  // The next ratings of a row.
  void take(const std::uint8_t* labels, const std::int32_t* items, const float* values,
            std::int64_t count, std::int32_t user) {
    const std::int64_t kept = keep_labelled(isa_, labels, items, values, count, part_.label,
                                            items_.data() + kept_, values_.data() + kept_);
    if (has_users_) std::fill_n(own_.users.data() + at_ + kept_, kept, user);
    kept_ += kept;
  }

  void end_row(std::int64_t user) { own_.user_offsets[user + 1] = at_ + kept_; }

  // At the end of each block.
  void flush() {
    std::copy_n(items_.data(), kept_, own_.items.data() + at_);
    std::copy_n(values_.data(), kept_, own_.values.data() + at_);
    mark(part_.item_rated, items_.data(), kept_);
    at_ += kept_;
    kept_ = 0;
  }

 private:
  GrowingPart& part_;
  Ratings::Arrays& own_;
  const bool has_users_;
  const Isa isa_ = has(Isa::avx512) ? Isa::avx512 : Isa::scalar;
  std::int64_t at_;
  std::int64_t kept_ = 0;
  std::array<std::int32_t, kLabelBlock + kKeptBehind> items_;
  std::array<float, kLabelBlock + kKeptBehind> values_;
};

// Columns from rating `first` on.
struct Source {
  const std::int32_t* items;
  const float* values;
  std::int64_t first = 0;
};

class RunCopy {
 public:
  RunCopy(View<const std::int64_t> offsets, const LabelsOf& labels, const RatingRuns& runs,
          std::vector<GrowingPart>& parts)
      : offsets_(offsets), labels_(labels), runs_(runs), parts_(parts) {}

  // All of one run into all parts.
  void operator()(std::int64_t run, const Source& from) const {
    std::vector<PartWriter> writers;
    writers.reserve(parts_.size());
    for (GrowingPart& part : parts_) writers.emplace_back(part, run);
    const auto at = static_cast<std::size_t>(run);
    const std::int64_t end = runs_.first_rating[at + 1];
    std::int32_t row = runs_.first_row[at];
    for (std::int64_t i = runs_.first_rating[at]; i < end; i += kLabelBlock)
      row = block(from, i, std::min(i + kLabelBlock, end), row, writers);
    for (; row < runs_.first_row[at + 1]; ++row)  // without ratings, at the end
      for (PartWriter& writer : writers) writer.end_row(row);
  }

 private:
  // Returns the row that continues.
  std::int32_t block(const Source& from, std::int64_t begin, std::int64_t end, std::int32_t row,
                     std::vector<PartWriter>& writers) const {
    const std::uint8_t* const labels = labels_(begin, end, scratch_);
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t row_end = offsets_[row + 1];
      const std::int64_t stop = std::min(row_end, end);
      for (PartWriter& writer : writers) {
        writer.take(labels + (i - begin), from.items + (i - from.first),
                    from.values + (i - from.first), stop - i, row);
        if (stop == row_end) writer.end_row(row);
      }
      if (stop == row_end) ++row;
      i = stop;
    }
    for (PartWriter& writer : writers) writer.flush();
    return row;
  }

  const View<const std::int64_t> offsets_;
  const LabelsOf& labels_;
  const RatingRuns& runs_;
  std::vector<GrowingPart>& parts_;
  mutable LabelBlock scratch_;
};

void cut(const Ratings& all, const LabelsOf& labels, std::vector<GrowingPart>& parts,
         const RatingRuns& runs, Originals originals, UnreadRatings* unread, ThreadTeam& team) {
  const bool consume = originals == Originals::consumed && unread == nullptr;
  const Ratings none;
  const Ratings& released = consume ? all : none;
  UsedColumn users(released.users()), items(released.items()), values(released.values());
  team.for_chunks(runs.count(), 1, [&](std::int64_t run, std::int64_t) {
    const RunCopy copy(all.user_offsets(), labels, runs, parts);
    const std::int64_t first = runs.first_rating[static_cast<std::size_t>(run)];
    if (unread != nullptr) {
      const std::int64_t number = first / unread->piece();
      return unread->read(number, [&](const std::int32_t* of_items, const float* of_values) {
        copy(run, {of_items, of_values, number * unread->piece()});
      });
    }
    copy(run, {all.items().data(), all.values().data()});
    const std::int64_t last = runs.first_rating[static_cast<std::size_t>(run) + 1];
    for (UsedColumn* column : {&users, &items, &values})
      if (consume) column->used(first, last);
  });
}

void fill(AlignedVector<std::int64_t>& offsets, std::int64_t begin, std::int64_t end,
          std::int64_t value, ThreadTeam& team) {
  constexpr std::int64_t kFilled = std::int64_t{1} << 18;
  team.for_chunks(end - begin, kFilled, [&](std::int64_t first, std::int64_t last) {
    std::fill(offsets.begin() + begin + first, offsets.begin() + begin + last, value);
  });
}

// How many ratings of each run are labelled wanted[k]: entry k of the result.
std::vector<std::vector<std::int64_t>> count_parts(const LabelsOf& labels, const RatingRuns& runs,
                                                   View<const WantedPart> wanted,
                                                   ThreadTeam& team) {
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(wanted.size()));
  for (auto& of_runs : counts) of_runs.resize(static_cast<std::size_t>(runs.count()), 0);
  team.for_chunks(runs.count(), 1, [&](std::int64_t run, std::int64_t) {
    const auto r = static_cast<std::size_t>(run);
    LabelBlock scratch;
    for (std::int64_t i = runs.first_rating[r]; i < runs.first_rating[r + 1]; i += kLabelBlock) {
      const std::int64_t end = std::min(i + kLabelBlock, runs.first_rating[r + 1]);
      const std::uint8_t* const block = labels(i, end, scratch);
      for (std::size_t k = 0; k < counts.size(); ++k)
        counts[k][r] += count_label(block, end - i, wanted[static_cast<std::int64_t>(k)].label);
    }
  });
  return counts;
}

}  // namespace

std::int64_t keep_labelled([[maybe_unused]] Isa isa, const std::uint8_t* labels,
                           const std::int32_t* items, const float* values, std::int64_t count,
                           std::uint8_t label, std::int32_t* kept_items, float* kept_values) {
#if defined(__x86_64__)
  if (isa == Isa::avx512)
    return keep_by_16(labels, items, values, count, label, kept_items, kept_values);
#endif
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    kept_items[kept] = items[i];
    kept_values[kept] = values[i];
    kept += labels[i] == label ? 1 : 0;
  }
  return kept;
}

std::int64_t count_label(const std::uint8_t* labels, std::int64_t count, std::uint8_t label) {
  return count_equal(labels, count, label);
}

std::vector<SelectedPart> select_parts(const Ratings& all, RowRange rows, const SharedIds& ids,
                                       const LabelsOf& labels, View<const WantedPart> wanted,
                                       ThreadTeam& team, Originals originals,
                                       UnreadRatings* unread) {
  constexpr std::int64_t kRunRatings = std::int64_t{1} << 16;
  std::vector<SelectedPart> selected;
  if (all.user_offsets().empty()) {
    for (std::int64_t k = 0; k < wanted.size(); ++k) {
      selected.push_back({no_ratings_of(ids), AlignedVector<std::uint8_t>(all.n_items(), 0)});
    }
    return selected;
  }
  const RatingRuns runs =
      runs_of(all.user_offsets(), rows, unread != nullptr ? unread->piece() : kRunRatings);
  const auto counts = count_parts(labels, runs, wanted, team);
  std::vector<GrowingPart> parts;
  for (std::int64_t k = 0; k < wanted.size(); ++k)
    parts.emplace_back(ids, wanted[k], counts[static_cast<std::size_t>(k)],
                       all.user_offsets().size());
  cut(all, labels, parts, runs, originals, unread, team);
  for (GrowingPart& part : parts) {
    auto& offsets = part.selection->own.user_offsets;
    fill(offsets, 0, runs.first_row.front() + std::int64_t{1}, 0, team);
    fill(offsets, runs.first_row.back(), std::ssize(offsets), part.first.back(), team);
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
  if (keep.size() != all.nnz()) {
    fail(ErrorKind::usage, "found {} labels for {} ratings", keep.size(), all.nnz());
  }
  ThreadTeam team(useful_threads(threads, all.nnz()));
  const std::array<WantedPart, 1> wanted = {WantedPart{label}};
  return select_parts(all, {0, all.n_users()}, share_ids(all), stored_labels(keep), wanted, team)
      .front()
      .ratings;
}

}  // namespace mf
