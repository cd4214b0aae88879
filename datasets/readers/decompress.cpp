#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kGzip = "\x1f\x8b"sv;
constexpr std::string_view kGzipDeflate = "\x1f\x8b\x08"sv;
constexpr std::size_t kTrailer = 8;  // CRC-32 and size modulo 2^32

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The size of the member whose trailer ends at `end` of `input`, if `output` can begin with its
// content; npos if not.
std::size_t member_size(std::string_view input, std::size_t end, std::string_view output) {
  if (end < kTrailer) return std::string_view::npos;
  const std::uint32_t crc = number_at(input, end - kTrailer);
  for (std::size_t size = number_at(input, end - 4); size <= output.size();
       size += std::size_t{1} << 32) {
    if (crc32(output.substr(0, size)) == crc) return size;
  }
  return std::string_view::npos;
}

// Whether `output` matches the trailers in `input` (RFC 1952): libarchive does not look at them.
// Members may follow one another, as `cat a.gz b.gz` makes them; each ends where the next header
// begins and the trailer before it fits.
bool gzip_checksums_hold(std::string_view input, std::string_view output) {
  const std::uint32_t whole = static_cast<std::uint32_t>(output.size());
  if (number_at(input, input.size() - 4) == whole &&
      number_at(input, input.size() - kTrailer) == crc32(output)) {
    return true;  // one member, as nearly always
  }
  for (std::size_t at = kGzipDeflate.size(); at < input.size(); ++at) {
    at = std::min(input.find(kGzipDeflate, at), input.size());
    const std::size_t size = member_size(input, at, output);
    if (size != std::string_view::npos) output.remove_prefix(size);
    if (at == input.size()) return size != std::string_view::npos && output.empty();
  }
  return false;
}

// 0x184D2A50 to 5F: parallel and seekable writers of zstd begin with one.
bool starts_with_skippable_frame(std::string_view bytes) {
  return bytes.size() > 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18"sv;
}

// libarchive looks for the first frame of data.
Bytes after_skippable_frames(Bytes bytes) {
  constexpr std::size_t kHeader = 8;  // magic number, size
  while (starts_with_skippable_frame(bytes.view) && bytes.view.size() > kHeader) {
    const std::size_t frame = kHeader + std::size_t{number_at(bytes.view, 4)};
    if (frame >= bytes.view.size()) break;
    bytes.view.remove_prefix(frame);
  }
  return bytes;
}

Bytes decompress_stream(const std::string& path, const Bytes& bytes, Compression compression) {
  ArchiveReader reader(path, bytes, compression);
  Bytes content = reader.next() ? reader.read_all() : Bytes();  // nothing was compressed
  if (compression == Compression::gzip && !gzip_checksums_hold(bytes.view, content.view)) {
    reader.fail_damaged("its checksum does not hold");
  }
  // libarchive's bzip2 ends silently if the following bytes are not a stream.
  if (compression == Compression::bzip2 && reader.packed_size() != bytes.view.size()) {
    reader.fail_damaged(fmt::format("the part behind its first {} bytes", reader.packed_size()));
  }
  return content;
}

constexpr std::array kRatingFiles = {"u.data"sv, "ratings.dat"sv, "ratings.csv"sv};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_rating_file(std::string_view path) {
  return std::ranges::find(kRatingFiles, file_name(path)) != kRatingFiles.end();
}

// Files that a Mac adds to an archive.
bool is_of_mac(std::string_view path) {
  return path.starts_with("__MACOSX/") || file_name(path).starts_with("._") ||
         file_name(path) == ".DS_Store";
}

}  // namespace

Compression detect_compression(std::string_view bytes) {
  if (bytes.starts_with(kGzip)) return Compression::gzip;
  if (bytes.starts_with("\xfd\x37zXZ\0"sv)) return Compression::xz;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv) || starts_with_skippable_frame(bytes)) {
    return Compression::zstd;
  }
  if (bytes.starts_with("BZh"sv)) return Compression::bzip2;
  if (bytes.starts_with("PK\x03\x04"sv) || bytes.starts_with("PK\x05\x06"sv)) {
    return Compression::zip;
  }
  return Compression::none;
}

Bytes decompress(const std::string& path, const Bytes& bytes, Compression compression) {
  if (compression == Compression::none) return bytes;
  if (compression == Compression::zip) return unpack(path, bytes, compression);
  if (compression == Compression::zstd) {
    return decompress_stream(path, after_skippable_frames(bytes), compression);
  }
  return decompress_stream(path, bytes, compression);
}

Bytes unpack(const std::string& path, const Bytes& archive, Compression kind) {
  std::vector<std::string> files;
  for (ArchiveReader reader(path, archive, kind); const auto member = reader.next();) {
    if (member->file && !is_of_mac(member->name)) files.push_back(member->name);
  }
  const auto count = std::ssize(files);
  if (count > 1) std::erase_if(files, [](const auto& name) { return !is_rating_file(name); });
  if (files.size() != 1) {
    fail_in_file(
        path, fmt::format("an archive of {} files", count),
        "an archive of one file of ratings, or one with a ratings.csv, ratings.dat or u.data",
        "unpack it and name the file");
  }
  ArchiveReader reader(path, archive, kind);
  while (const auto member = reader.next()) {
    if (member->name == files.front()) return reader.read_all();
  }
  return {};
}

std::string file_of_ratings(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto name : kRatingFiles) {
    const auto file = std::filesystem::path(path) / name;
    if (std::filesystem::is_regular_file(file, error)) found.push_back(file.string());
  }
  const bool arrays = std::filesystem::exists(std::filesystem::path(path) / "users.npy", error);
  return found.size() == 1 && !arrays ? found.front() : path;
}

Text make_text(const std::string& path, const Bytes& file, const OnContent& on_content) {
  Text text{path, file};
  const Compression compression = detect_compression(text.view());
  text.bytes = decompress(path, file, compression);
  if (on_content) on_content(compression == Compression::zip ? file : text.bytes);
  constexpr std::size_t kTarMark = 257;
  if (text.view().size() > kTarMark && text.view().substr(kTarMark).starts_with("ustar"))
    text.bytes = unpack(path, text.bytes, Compression::tar);
  if (text.view().starts_with("\xef\xbb\xbf")) text.bytes.view.remove_prefix(3);
  return text;
}

Text open_text(const std::string& path) { return make_text(path, map_file(path)); }

}  // namespace mf
