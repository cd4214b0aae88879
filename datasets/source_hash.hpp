// SHA-256 of a source file's content, independent of its compression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mf {

// SHA-256 of the uncompressed content of a file (gzip, xz, zstd, bzip2 by its first bytes), or, for
// a folder, combined_sha256 of its regular files. Throws Error(data) for a damaged file,
// Error(unsupported) if this build cannot uncompress it. One thread a file: a folder's are hashed
// beside each other.
std::string uncompressed_sha256(const std::string& path, int threads = 1);

// Identifies the content of the user's own files, which have no published checksum: the SHA-256 as
// above, but of a file (or of one in a folder) that has more than kTreePiece bytes
//   sha256-tree16m:<SHA-256 of the lines "<sha256>" of its pieces of kTreePiece bytes>
// since SHA-256 is a chain of one thread and its pieces are not. To check it:
//   split -b 16M --filter='sha256sum | cut -c1-64' FILE | sha256sum
inline constexpr std::int64_t kTreePiece = std::int64_t{16} << 20;
std::string own_source_hash(const std::string& path, int threads = 1);
// The same of what has been uncompressed already.
std::string own_content_hash(std::string_view content, int threads = 1);

// The hash of several files: of the lines "<sha256>  <name>" in the given order, as sha256sum
// prints them. A single file keeps its own hash; empty if one of the hashes is.
std::string combined_sha256(
    const std::vector<std::pair<std::string, std::string>>& names_and_hashes);

// For the sizes and times of change of a file, or of a folder's files, to see that it has changed
// without reading it.
std::string change_mark(const std::string& path);

// Files that are read and hashed: both must see the same.
class ChangeWatch {
 public:
  explicit ChangeWatch(const std::vector<std::string>& paths);
  void check() const;  // throws Error(data) if one has changed since

 private:
  std::vector<std::pair<std::string, std::string>> marks_;  // of each path
};

}  // namespace mf
