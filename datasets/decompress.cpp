// gzip through zlib and zip through zip_file need no further library; xz, zstd and bzip2 go through
// libarchive.
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "datasets/parse_error.hpp"
#include "datasets/text_source.hpp"
#include "datasets/zip_file.hpp"

#ifdef MF_HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace mf {
namespace {

using std::string_view_literals::operator""sv;

const char* name_of(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    case Compression::zstd:
      return "zstd";
    case Compression::bzip2:
      return "bzip2";
    case Compression::zip:
      return "zip";
    case Compression::none:
      break;
  }
  return "uncompressed";
}

[[noreturn]] void fail_stream(const std::string& path, Compression compression,
                              const std::string& cause) {
  fail_in_file(path, fmt::format("damaged {} data ({})", name_of(compression), cause),
               "a whole compressed file", "it may be cut short: fetch or write it again");
}

// A buffer that grows as decompressed bytes arrive.
class Sink {
 public:
  explicit Sink(std::size_t guess) : buffer_(std::max<std::size_t>(guess, 1 << 16)) {}
  char* room(std::size_t least) {
    if (buffer_.size() - filled_ < least) {
      buffer_.resize(std::max(2 * buffer_.size(), filled_ + least));
    }
    return buffer_.data() + filled_;
  }
  std::size_t left() const { return buffer_.size() - filled_; }
  void add(std::size_t count) { filled_ += count; }
  Bytes take() {
    buffer_.resize(filled_);
    return own_bytes(std::move(buffer_));
  }

 private:
  AlignedVector<char> buffer_;
  std::size_t filled_ = 0;
};

// One gzip member after another, as `cat a.gz b.gz` makes them.
Bytes gunzip(const std::string& path, std::string_view input) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
  Sink sink(4 * input.size());
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
  const std::shared_ptr<z_stream> guard(&stream, [](z_stream* s) { inflateEnd(s); });
  for (;;) {
    const std::size_t give = std::min(kMost, input.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(sink.room(1 << 16));
    const std::size_t room = std::min(kMost, sink.left());
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    input.remove_prefix(give - stream.avail_in);
    sink.add(room - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (input.empty()) return sink.take();
      inflateReset(&stream);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail_stream(path, Compression::gzip, stream.msg != nullptr ? stream.msg : "no cause given");
    } else if (input.empty() && stream.avail_out > 0) {
      fail_stream(path, Compression::gzip, "the stream ends early");
    }
  }
}

Bytes unzip(const std::string& path, const Bytes& archive) {
  std::vector<ZipMember> members = zip_members(path, archive);
  std::erase_if(members, [](const ZipMember& m) { return m.name.ends_with('/'); });
  if (members.size() != 1) {
    fail_in_file(path, fmt::format("a zip archive of {} files", members.size()),
                 "an archive of one file of ratings", "unpack it and name the file");
  }
  return read_zip_member(path, archive, members[0]);
}

#ifdef MF_HAVE_LIBARCHIVE
Bytes through_libarchive(const std::string& path, std::string_view input, Compression compression) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  if (reader == nullptr) throw std::bad_alloc();
  archive* a = reader.get();
  const auto check = [&](la_ssize_t status) {
    if (status >= ARCHIVE_WARN) return;
    const char* cause = archive_error_string(a);
    fail_stream(path, compression, cause != nullptr ? cause : "no cause given");
  };
  check(archive_read_support_filter_xz(a));
  check(archive_read_support_filter_zstd(a));
  check(archive_read_support_filter_bzip2(a));
  check(archive_read_support_format_raw(a));
  check(archive_read_support_format_empty(a));
  check(archive_read_open_memory(a, input.data(), input.size()));
  archive_entry* entry = nullptr;
  const int header = archive_read_next_header(a, &entry);
  Sink sink(4 * input.size());
  if (header == ARCHIVE_EOF) return sink.take();  // nothing was compressed
  check(header);
  for (;;) {
    char* room = sink.room(1 << 20);
    const la_ssize_t count = archive_read_data(a, room, sink.left());
    check(count);
    if (count <= 0) break;
    sink.add(static_cast<std::size_t>(count));
  }
  return sink.take();
}
#else
[[noreturn]] Bytes through_libarchive(const std::string& path, std::string_view,
                                      Compression compression) {
  fail(
      ErrorKind::unsupported,
      "{}: found {} data, which needs libarchive, and this build has none; decompress the file, or "
      "install the development files of libarchive and build again",
      path, name_of(compression));
}
#endif

}  // namespace

Compression detect_compression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b"sv)) return Compression::gzip;
  if (bytes.starts_with("\xfd\x37zXZ\0"sv)) return Compression::xz;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  if (bytes.starts_with("BZh"sv)) return Compression::bzip2;
  if (bytes.starts_with("PK\x03\x04"sv) || bytes.starts_with("PK\x05\x06"sv)) {
    return Compression::zip;
  }
  return Compression::none;
}

Bytes decompress(const std::string& path, const Bytes& bytes, Compression compression) {
  switch (compression) {
    case Compression::none:
      return bytes;
    case Compression::gzip:
      return gunzip(path, bytes.view);
    case Compression::zip:
      return unzip(path, bytes);
    default:
      return through_libarchive(path, bytes.view, compression);
  }
}

}  // namespace mf
