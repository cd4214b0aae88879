// From a request (datasets/dataset_entry.hpp) to a data set in memory, through the binary cache.
#pragma once

#include <optional>
#include <string>

#include "datasets/cache.hpp"
#include "datasets/from_files.hpp"
#include "datasets/ratings/dataset.hpp"
#include "datasets/request.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf {

// Whether the data is at hand, without loading it: empty if so, else the missing files and the
// remedy.
std::string why_unavailable(const DatasetRequest& request);

// The files it is read from; empty for look-alikes, enlarged sets and sets that are only in the
// cache.
std::optional<Source> source_of(const DatasetRequest& request);

// The last time that one of the user's own files of it was written, in seconds since 1970; empty
// for other data, or if unknown.
std::optional<std::int64_t> written_at(const DatasetRequest& request);

// A mark that changes whenever the files of the data do; empty for data without files, and for
// files that cannot be read.
std::optional<std::string> mark_of_files(const DatasetRequest& request);

// The content hash of the ratings that the user's own file or folder holds, if the cache knows it
// without reading them; empty for other data, for parts (the hash does not cover which rating is in
// which), or if a rule selects ratings.
std::optional<std::uint64_t> known_content(const DatasetRequest& request);

// Users, items and nnz if known without loading (catalog, look-alikes, enlarged sets of those, an
// existing cache). Rules leave these at most.
std::optional<Shape> expected_shape(const DatasetRequest& request);

// Whether it is written to the cache when it has been read or made: not small look-alikes.
bool is_cacheable(const DatasetRequest& request);

// Loads through the cache, which holds the ratings before any rule. Throws Error(data) if it is not
// at hand.
Dataset load_dataset(const DatasetRequest& request, int threads);

// The cache file that load_dataset would read; empty if it would build one, or use none.
std::optional<std::string> fresh_cache(const DatasetRequest& request);

// A data set of which each rank has read the rows of its users.
struct DatasetSlice {
  CacheSlice slice;
  bool whole = false;  // each had to read or make all of it, as no cache file serves all ranks
};

// The same ratings as load_dataset. All ranks together. `columns`: when the cache's columns are
// read. Damage that is found while they are cut takes another call, with ReadColumns::now, which
// builds them again.
DatasetSlice load_dataset_slice(const DatasetRequest& request, Communicator& ranks, int threads,
                                ReadColumns columns = ReadColumns::now);

// The cache file of load_dataset. Look-alikes below 2 M ratings are made anew each time.
std::string cache_path(const DatasetRequest& request);

// Why the values of this request have no known scale, and what to do; empty if they have one.
std::optional<std::string> why_no_rating_scale(const DatasetRequest& request);

// Names given by `data import`: cache files that stand for themselves.
bool is_imported(const std::string& name);
inline constexpr const char* kImportKey = "import";  // CacheHead::key of such a file

}  // namespace mf
