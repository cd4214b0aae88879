// The binary cache: one file a data set, versioned, checksummed. A file that is
// corrupt, cut short or of another version is named and rebuilt, never read. It is written to a
// temporary file beside it and renamed, under a lock, so two processes may build it at once.
// The README of this folder has the layout of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/ranks/communicator.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {

// $MFBENCH_CACHE, else $XDG_CACHE_HOME/mfbench, else ~/.cache/mfbench. Without HOME, that of the
// user's entry in the system, else .mfbench-cache in the working folder; one warning says which.
std::string cache_folder();

// The header of a cache file, read without its arrays (their checksums are not verified).
struct CacheHead {
  DatasetInfo info;
  std::string key;
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
  bool has_parts = false;
  bool user_names = false, item_names = false;  // ids that are text
  bool has_times = false;                       // of the ratings
};
CacheHead read_cache_head(const std::string& path);  // throws Error(data) naming what is wrong

// Writes atomically. Throws Error(io) that names the path and the cause (disk full, no permission).
// A content hash that is not known yet (0) is computed. On the disk itself when it returns.
// Without `replace`, a file that is there (another process was first) is Error(usage).
void write_cache(const std::string& path, const Dataset& data, int threads,
                 const std::string& key = "", bool replace = true);

// Waits for a process that writes the file, then removes it. Throws Error(io).
void remove_cache(const std::string& path);

// When the columns of the ratings are read: with the rest, or when they are cut (Dataset::unread).
// The users of the latter are not read: they follow from the offsets.
enum class ReadColumns { now, when_cut };

// Reads the file and verifies version, sizes and checksum of what is in memory then. Throws
// Error(data) naming what is wrong. `times`: with those of the ratings, where it has them; else
// they are not looked at.
Dataset read_cache(const std::string& path, int threads, bool times = false);

// A cache file over ranks: each reads the rows of its users and checks them. Other ratings
// are undefined.
struct CacheSlice {
  Dataset data;       // parts and times, if there are any, are of all ratings
  PartOffsets users;  // rank r has the rows [users[r], users[r + 1])
};

// Checks all that read_cache() does, each byte by one rank at least: the checksum of a section is
// put together of those of its pieces. Every rank checks what all rely on: offsets, ids, names. All
// ranks together; throws on all where one finds that its file cannot be used.
CacheSlice read_cache_slice(const std::string& path, Communicator& ranks, int threads,
                            bool times = false, ReadColumns columns = ReadColumns::now);

// The data set from the cache at `path`, or from `build`, which is then cached. `key` is a text
// that identifies the source (hash, size, time of change, options): a cache written under another
// key is stale and rebuilt. Where a cache is named and rebuilt, one warning says so, and
// one where the cache cannot be written, and the data set is returned all the same.
//
// `times`: a cache without those of the ratings is built again, and one that has them is as good
// where they are not asked for.
//
// The file is not flushed to the disk: after a power cut it may be damaged, which is seen when it
// is read, and built again.
Dataset cached(const std::string& path, const std::string& key,
               const std::function<Dataset()>& build, int threads, bool times = false);

}  // namespace mf
