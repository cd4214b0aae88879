// The binary cache: one file a data set, versioned, checksummed, memory-mapped. A file that is
// corrupt, cut short or of another version is named and rebuilt, never read. It is written to a
// temporary file beside it and renamed, under a lock, so two processes may build it at once.
// The README of this folder has the layout of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "datasets/ratings/dataset.hpp"

namespace mf {

// $MFBENCH_CACHE, else $XDG_CACHE_HOME/mfbench, else ~/.cache/mfbench. Without HOME, that of the
// user's entry in the system, else .mfbench-cache in the working folder; one warning says which.
std::string cache_folder();

// What a cache file says about itself, read without its arrays (their checksums are not verified).
struct CacheHead {
  DatasetInfo info;
  std::string key;
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
  bool has_parts = false;
  bool user_names = false, item_names = false;  // ids that are text
};
CacheHead read_cache_head(const std::string& path);  // throws Error(data) naming what is wrong

// Writes atomically. Throws Error(io) that names the path and the cause (disk full, no permission).
// A content hash that is not known yet (0) is computed.
void write_cache(const std::string& path, const Dataset& data, int threads,
                 const std::string& key = "");

// Maps the file and verifies version, sizes and checksum. Throws Error(data) naming what is wrong.
Dataset read_cache(const std::string& path, int threads);

// The data set from the cache at `path`, or from `build`, which is then cached. `key` is a text
// that identifies the source (hash, size, time of change, options): a cache written under another
// key is stale and rebuilt. Where a cache is named and rebuilt, one warning says so, and
// one where the cache cannot be written, and the data set is returned all the
// same.
Dataset cached(const std::string& path, const std::string& key,
               const std::function<Dataset()>& build, int threads);

}  // namespace mf
