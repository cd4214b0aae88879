// Internal: a parallel, stable sort of ratings. Rows are grouped into at most kMaxBuckets buckets
// of about equal numbers of ratings, ratings are moved into their bucket in one pass over the
// memory, and each bucket is then small enough to be sorted inside a cache. A stable order is
// unique, so no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/ids/id_index.hpp"

namespace mf {

// Threads worth starting for `count` ratings.
int useful_threads(int threads, std::int64_t count);

// offsets[k] = number of keys below k, for k in [0, n_keys]: n_keys + 1 entries.
AlignedVector<std::int64_t> key_offsets(View<const std::int32_t> keys, std::int32_t n_keys,
                                        ThreadTeam& team);

// Cuts rows into runs of whole rows with about `target` entries each (more if one row has more).
// Returns the first row of each run, then the number of rows.
std::vector<std::int32_t> cut_rows(View<const std::int64_t> offsets, std::int64_t target);

// Ratings as columns. `file`, if they come from several files, is the number of each one's.
template <class Int, class Float, class Byte>
struct Columns {
  Int* row;
  Int* column;
  Float* value;
  Byte* file = nullptr;
};
using ConstColumns = Columns<const std::int32_t, const float, const std::uint8_t>;
using MutableColumns = Columns<std::int32_t, float, std::uint8_t>;

// Sorts ratings by row, of which `offsets` are known, and then by column. source.column are ids, of
// which `columns` makes indices; equal pairs stay in the order of the source. source.file, if it is
// there, goes along: numbers below n_files. Returns whether there are no equal pairs. The target
// may be the source. Takes 8 bytes a rating more, or 12 if file, row and column within a bucket do
// not fit into 32 bits together.
bool sort_pairs(ConstColumns source, View<const std::int64_t> offsets, const IdIndex& columns,
                std::int64_t n_files, MutableColumns target, ThreadTeam& team);

// Sorts ratings by row only; within a row they stay in the order of the source. Columns are indices
// below n_columns. Without target.row the rows, which follow from the offsets, are not written. Its
// memory, as above, is freed while the target, which should be fresh, is written.
void sort_rows(ConstColumns source, View<const std::int64_t> offsets, std::int64_t n_columns,
               MutableColumns target, ThreadTeam& team);

}  // namespace mf
