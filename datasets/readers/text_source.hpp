// Internal: a text file, memory-mapped, or decompressed into memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/files/mapped_file.hpp"

namespace mf {

enum class Compression { none, gzip, xz, zstd, bzip2, zip, tar };
Compression detect_compression(std::string_view bytes);  // by the first bytes; no tar

// Throws Error(data) if the stream is damaged or cut, Error(unsupported) if this build lacks the
// library.
Bytes decompress(const std::string& path, const Bytes& bytes, Compression compression);

// Of an archive its one file, or the one of ratings beside others. Throws Error(data) without one.
Bytes unpack(const std::string& path, const Bytes& archive, Compression kind);
// A folder as MovieLens publishes it: its file of ratings. Any other path as it is.
std::string file_of_ratings(const std::string& path);

// A text file, decompressed, without a UTF-8 byte order mark.
struct Text {
  std::string path;  // for messages
  Bytes bytes;
  std::int64_t lines_before = 0;  // of the view, which were passed over
  std::string_view view() const { return bytes.view; }
};
// `on_content`, if given, gets the content to hash before it is parsed: the whole file,
// decompressed, or an archive unchanged.
using OnContent = std::function<void(const Bytes&)>;
Text make_text(const std::string& path, const Bytes& file, const OnContent& on_content = nullptr);
Text open_text(const std::string& path);  // make_text of map_file

}  // namespace mf
