// Internal: a parallel, stable, counting sort of ratings by a dense key. Keys are grouped into at
// most kMaxBuckets buckets of about equal numbers of ratings, ratings are moved into their bucket
// in one pass, and each bucket is then small enough to be sorted inside a cache. A stable order is
// unique, so no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

// Threads worth starting for `count` ratings.
int useful_threads(int threads, std::int64_t count);

// offsets[k] = number of keys below k, for k in [0, n_keys]: n_keys + 1 entries.
AlignedVector<std::int64_t> key_offsets(View<const std::int32_t> keys, std::int32_t n_keys,
                                        ThreadTeam& team);

// Cuts rows into runs of whole rows with about `target` entries each (more where one row has more).
// Returns the first row of each run, then the number of rows.
std::vector<std::int32_t> cut_rows(View<const std::int64_t> offsets, std::int64_t target);

// One rating as three columns: the key of the sort, the other index, the value.
template <class Int, class Float>
struct Columns {
  Int* key;
  Int* other;
  Float* value;
};
using ConstColumns = Columns<const std::int32_t, const float>;
using MutableColumns = Columns<std::int32_t, float>;

// Sorts ratings by their key, of which `offsets` are known; equal keys stay in the order of the
// source. Source and target must not overlap.
void sort_by_key(ConstColumns source, View<const std::int64_t> offsets, MutableColumns target,
                 ThreadTeam& team);

}  // namespace mf
