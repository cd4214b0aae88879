#include "datasets/zip_file.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "datasets/parse_error.hpp"

namespace mf {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::size_t kMaxInput = std::size_t{1} << 30;  // zlib counts in 32 bits

// Little-endian fields of an archive; reading beyond its end is a damaged archive.
class ZipReader {
 public:
  ZipReader(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  template <class T>
  T at(std::uint64_t offset) const {
    static_assert(std::is_unsigned_v<T>);
    T value = 0;
    std::memcpy(&value, slice(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string_view slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) damaged("a field beyond its end");
    return bytes_.substr(offset, size);
  }

  void expect(std::uint64_t offset, std::uint32_t signature, const char* what) const {
    if (at<std::uint32_t>(offset) != signature) damaged(fmt::format("no {}", what));
  }

  std::uint64_t end_record() const {
    constexpr std::size_t kSize = 22;
    constexpr std::size_t kLongestComment = 65535;
    const std::size_t least =
        bytes_.size() > kSize + kLongestComment ? bytes_.size() - kSize - kLongestComment : 0;
    for (std::size_t at_end = bytes_.size(); at_end >= least + kSize; --at_end) {
      if (at<std::uint32_t>(at_end - kSize) == kEnd) return at_end - kSize;
    }
    damaged("no directory at its end");
  }

  [[noreturn]] void damaged(const std::string& found) const {
    fail_in_file(path_, "a zip archive with " + found, "a whole zip archive",
                 "the file may be cut short: fetch or write it again");
  }

 private:
  const std::string& path_;
  std::string_view bytes_;
};

// Sizes of 2^32 - 1 stand for 64-bit ones in the extra field 1, in this order.
void read_zip64(const ZipReader& zip, std::uint64_t extra, std::uint64_t length,
                ZipMember& member) {
  for (const std::uint64_t end = extra + length; extra + 4 <= end;) {
    const auto id = zip.at<std::uint16_t>(extra);
    const auto size = zip.at<std::uint16_t>(extra + 2);
    std::uint64_t at = extra + 4;
    if (id == 1) {
      for (auto* field : {&member.size, &member.compressed_size, &member.header_offset}) {
        if (*field != 0xffffffff) continue;
        *field = zip.at<std::uint64_t>(at);
        at += 8;
      }
    }
    extra += 4 + std::uint64_t{size};
  }
}

AlignedVector<char> inflate_raw(const ZipReader& zip, std::string_view input, std::uint64_t size) {
  AlignedVector<char> out(std::max<std::uint64_t>(size, 1));  // zlib refuses a null buffer
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::shared_ptr<z_stream> guard(&stream, [](z_stream* s) { inflateEnd(s); });
  std::size_t read = 0;
  std::size_t written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t give = std::min(kMaxInput, input.size() - read);
    const std::size_t room = std::min(kMaxInput, out.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data() + read));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    read += give - stream.avail_in;
    written += room - stream.avail_out;
  }
  if (status != Z_STREAM_END || written != size) zip.damaged("a damaged member");
  out.resize(size);
  return out;
}

std::uint32_t crc_of(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const std::size_t take = std::min(kMaxInput, bytes.size());
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(take));
    bytes.remove_prefix(take);
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

std::vector<ZipMember> zip_members(const std::string& path, const Bytes& archive) {
  const ZipReader zip(path, archive.view);
  const std::uint64_t end = zip.end_record();
  std::uint64_t count = zip.at<std::uint16_t>(end + 10);
  std::uint64_t at = zip.at<std::uint32_t>(end + 16);
  if (end >= 20 && zip.at<std::uint32_t>(end - 20) == kEnd64Locator) {
    const auto end64 = zip.at<std::uint64_t>(end - 20 + 8);
    zip.expect(end64, kEnd64, "64-bit directory");
    count = zip.at<std::uint64_t>(end64 + 32);
    at = zip.at<std::uint64_t>(end64 + 48);
  }
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    zip.expect(at, kCentralHeader, "directory entry");
    const auto name_size = zip.at<std::uint16_t>(at + 28);
    const auto extra_size = zip.at<std::uint16_t>(at + 30);
    ZipMember member;
    member.name = zip.slice(at + 46, name_size);
    member.flags = zip.at<std::uint16_t>(at + 8);
    member.method = zip.at<std::uint16_t>(at + 10);
    member.crc = zip.at<std::uint32_t>(at + 16);
    member.compressed_size = zip.at<std::uint32_t>(at + 20);
    member.size = zip.at<std::uint32_t>(at + 24);
    member.header_offset = zip.at<std::uint32_t>(at + 42);
    read_zip64(zip, at + 46 + name_size, extra_size, member);
    at += 46 + std::uint64_t{name_size} + extra_size + zip.at<std::uint16_t>(at + 32);
    members.push_back(std::move(member));
  }
  return members;
}

Bytes read_zip_member(const std::string& path, const Bytes& archive, const ZipMember& member) {
  const std::string name = path + "(" + member.name + ")";
  const ZipReader zip(name, archive.view);
  zip.expect(member.header_offset, kLocalHeader, "header of the member");
  const std::uint64_t data = member.header_offset + 30 +
                             zip.at<std::uint16_t>(member.header_offset + 26) +
                             zip.at<std::uint16_t>(member.header_offset + 28);
  const std::string_view input = zip.slice(data, member.compressed_size);
  const bool encrypted = (member.flags & 1) != 0;
  if (encrypted || (member.method != 0 && member.method != 8)) {
    fail_in_file(name, encrypted ? "an encrypted member" : fmt::format("method {}", member.method),
                 "a member stored (0) or deflated (8)", "unpack it with another program");
  }
  Bytes content{input, archive.owner};
  if (member.method == 8) {
    // Deflate cannot pack more than 1032 bytes into one: a larger size is damage, not data.
    if (member.size / 1032 > input.size()) zip.damaged("an impossible size");
    content = own_bytes(inflate_raw(zip, input, member.size));
  }
  if (content.view.size() != member.size || crc_of(content.view) != member.crc) {
    zip.damaged("a member that fails its checksum");
  }
  return content;
}

}  // namespace mf
