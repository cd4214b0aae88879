#include "datasets/readers/archive_reader.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.hpp"

#ifdef MF_HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#endif

namespace mf {
namespace {

const char* name_of(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return "gzip data";
    case Compression::xz:
      return "xz data";
    case Compression::zstd:
      return "zstd data";
    case Compression::bzip2:
      return "bzip2 data";
    case Compression::zip:
      return "a zip archive";
    case Compression::tar:
      return "a tar archive";
    case Compression::none:
      break;
  }
  return "an archive";
}

// Text of ratings packs 3 to 10 times; a text that packs hundreds of times is an attack on memory.
void check_growth(const std::string& path, std::size_t packed, std::size_t unpacked) {
  constexpr std::size_t kAlways = std::size_t{256} << 20;
  constexpr std::size_t kRatio = 200;
  if (unpacked <= kAlways || unpacked / kRatio <= packed) return;
  if (const char* lift = std::getenv("MFBENCH_UNPACK"); lift && std::string_view(lift) == "any") {
    return;
  }
  fail_in_file(path, fmt::format("{} packed bytes that unpack to more than {}", packed, unpacked),
               fmt::format("at most {} times as many", kRatio),
               "if you want this, set MFBENCH_UNPACK=any, or unpack it yourself");
}

}  // namespace

ArchiveReader::ArchiveReader(std::string path, const Bytes& bytes, Compression compression)
    : path_(std::move(path)), bytes_(bytes), compression_(compression) {
  open();
}

void ArchiveReader::fail_damaged(const std::string& cause) const {
  fail_in_file(path_, fmt::format("{} that is damaged ({})", name_of(compression_), cause),
               "a whole file", "it may be cut short: fetch or write it again");
}

Bytes ArchiveReader::read_all() {
  constexpr std::size_t kLeast = 1 << 16;
  AlignedVector<char> buffer(std::ssize(bytes_.view) + kLeast);
  std::size_t filled = 0;
  for (;;) {
    check_growth(path_, bytes_.view.size(), filled);
    if (buffer.size() - filled < kLeast) buffer.resize(2 * std::ssize(buffer));
    const std::size_t count = read_some(buffer.data() + filled, buffer.size() - filled);
    if (count == 0) break;
    filled += count;
  }
  buffer.resize(static_cast<std::int64_t>(filled));
  return own_bytes(std::move(buffer));
}

#ifdef MF_HAVE_LIBARCHIVE

namespace {

// libarchive converts names of members to the character set of the thread; UTF-8 holds them all.
class Utf8Names {
 public:
  Utf8Names() {
    if (utf8_ != nullptr) old_ = ::uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == nullptr) return;
    ::uselocale(old_);
    ::freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_ = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  locale_t old_ = nullptr;
};

int filter_of(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return ARCHIVE_FILTER_GZIP;
    case Compression::xz:
      return ARCHIVE_FILTER_XZ;
    case Compression::zstd:
      return ARCHIVE_FILTER_ZSTD;
    case Compression::bzip2:
      return ARCHIVE_FILTER_BZIP2;
    default:
      return ARCHIVE_FILTER_NONE;
  }
}

}  // namespace

bool have_libarchive() { return true; }

// A warning of libarchive means damage that it worked around: not good enough for data.
void ArchiveReader::check(int code) const {
  if (code == ARCHIVE_OK) return;
  const char* cause = archive_error_string(archive_.get());
  fail_damaged(cause != nullptr ? cause : "no cause given");
}

void ArchiveReader::open() {
  archive_.reset(archive_read_new(), archive_read_free);
  archive* a = archive_.get();
  if (a == nullptr) throw std::bad_alloc();
  const bool zip = compression_ == Compression::zip;
  if (zip) {
    // Reads by the directory at the end. Reading member by member from the start would not notice a
    // cut.
    archive_read_support_format_zip_seekable(a);
  } else if (compression_ == Compression::tar) {
    archive_read_support_format_tar(a);
  } else {
    archive_read_support_filter_by_code(a, filter_of(compression_));
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
  }
  const int code = archive_read_open_memory(a, bytes_.view.data(), bytes_.view.size());
  if (zip && code != ARCHIVE_OK) fail_damaged("no directory at its end");
  check(code);
  if (zip || compression_ == Compression::tar) return;
  const bool as_expected =
      archive_filter_count(a) == 2 && archive_filter_code(a, 0) == filter_of(compression_);
  if (!as_expected) fail_damaged("its header");
}

std::optional<ArchiveMember> ArchiveReader::next() {
  const Utf8Names names;
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(archive_.get(), &entry);
  if (code == ARCHIVE_EOF) return std::nullopt;
  check(code);
  const char* name = archive_entry_pathname(entry);
  return ArchiveMember{name != nullptr ? name : "", archive_entry_filetype(entry) == AE_IFREG};
}

std::size_t ArchiveReader::read_some(char* to, std::size_t room) {
  const la_ssize_t count = archive_read_data(archive_.get(), to, room);
  if (count < 0) check(static_cast<int>(count));
  return static_cast<std::size_t>(count);
}

std::size_t ArchiveReader::packed_size() const {
  return static_cast<std::size_t>(archive_filter_bytes(archive_.get(), -1));
}

#else

bool have_libarchive() { return false; }

void ArchiveReader::open() {
  fail(ErrorKind::unsupported,
       "{}: found {}, which needs libarchive, which this build lacks; decompress the file, or "
       "install libarchive-dev and build again",
       path_, name_of(compression_));
}

void ArchiveReader::check(int) const {}
std::optional<ArchiveMember> ArchiveReader::next() { return std::nullopt; }
std::size_t ArchiveReader::read_some(char*, std::size_t) { return 0; }
std::size_t ArchiveReader::packed_size() const { return 0; }

#endif

}  // namespace mf
