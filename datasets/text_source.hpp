// Internal: the bytes of a file, memory-mapped, or decompressed into memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/aligned.hpp"

namespace mf {

// Bytes with the mapping or buffer that owns them.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
};
Bytes own_bytes(AlignedVector<char> buffer);

// The file as it lies on disk: mapped if it is a regular file, else (a pipe) read to its end.
// Throws Error(data) for a missing file, a directory or no permission.
Bytes map_file(const std::string& path);

enum class Compression { none, gzip, xz, zstd, bzip2, zip };
Compression detect_compression(std::string_view bytes);  // by the first bytes

// Throws Error(data) where the stream is damaged or cut, Error(unsupported) where this build lacks
// the library.
Bytes decompress(const std::string& path, const Bytes& bytes, Compression compression);

// A text file, decompressed, without a UTF-8 byte order mark.
struct Text {
  std::string path;  // for messages
  Bytes bytes;
  std::string_view view() const { return bytes.view; }
};
Text make_text(const std::string& path, const Bytes& file);
Text open_text(const std::string& path);  // make_text of map_file

}  // namespace mf
