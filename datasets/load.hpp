// From a request (a spec's "datasets" entry) to a data set in memory, through the binary cache.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "datasets/dataset.hpp"
#include "datasets/synthetic.hpp"

namespace mf {

// Reads the keys of one "datasets" entry, an object. Does not read "split", which the harness does,
// except its key "given".
//   name                            catalog ("duplicates" overrides its policy), or imported (the
//                                   parts it was imported with: "split": {"given": "imported"})
//   like, scale, seed               a look-alike; scale in (0, 1000] multiplies its ratings
//   path | train, test[, validation]  files; format, duplicates, rating_scale {min, max, step}
// Throws Error(usage) with the JSON path.
DatasetRequest parse_dataset_request(JsonReader& reader);

// The object that a string in the place of a "datasets" entry is short for: "ml-1m" is
// {"name": "ml-1m"}, "ml-100k@u1" one with a given split, "like:netflix" is {"like": "netflix"}.
// Other values are returned as they are.
Json expand_dataset_entry(const Json& entry);

// Whether the data is at hand, without loading it: empty if so, else what is missing and what to
// do.
std::string why_unavailable(const DatasetRequest& request);

// Users, items and nnz where known without loading (catalog, look-alikes, an existing cache).
std::optional<Shape> expected_shape(const DatasetRequest& request);

// Loads through the cache. Throws Error(data) where it is not at hand.
Dataset load_dataset(const DatasetRequest& request, int threads);

// Where load_dataset keeps this data set. Look-alikes below 2 M ratings are made anew each time.
std::string cache_path(const DatasetRequest& request);

// Names given by `data import`: cache files that stand for themselves.
bool is_imported(const std::string& name);
inline constexpr const char* kImportKey = "import";  // CacheHead::key of such a file

}  // namespace mf
