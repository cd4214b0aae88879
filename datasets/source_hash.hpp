// SHA-256 of what a source file holds, whatever it was compressed with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mf {

// SHA-256 of the uncompressed content of a file (gzip, xz, zstd, bzip2 by its first bytes), or, for
// a folder, combined_sha256 of its regular files. Throws Error(data) for a damaged file,
// Error(unsupported) where this build cannot uncompress it. One thread a file: a folder's are
// hashed beside each other.
std::string uncompressed_sha256(const std::string& path, int threads = 1);

// Whether the content of the file has to be uncompressed for its SHA-256. A zip archive (.npz) is a
// format of its own, not one compressed file.
bool is_compressed(const std::string& path);

// The hash of several files: of the lines "<sha256>  <name>" in the given order, as sha256sum
// prints them. One file alone keeps its own hash; empty where one of the hashes is.
std::string combined_sha256(
    const std::vector<std::pair<std::string, std::string>>& names_and_hashes);

// Size and time of change of a file (of a folder: of its files together), to see that it has
// changed without reading it.
std::string change_mark(const std::string& path);

}  // namespace mf
