#include "datasets/cache_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "base/error.hpp"
#include "base/files/mapped_file.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"

namespace mf {

std::size_t sections_in(const FixedHeader& header) {
  switch (header.version) {
    case kPlainVersion:
      return kPlainSections;
    case kNamedVersion:
      return kNamedSections;
    default:
      return kSections;
  }
}

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::array<std::uint64_t, kSections> section_sizes(const FixedHeader& header) {
  const auto m = static_cast<std::uint64_t>(header.n_users);
  const auto n = static_cast<std::uint64_t>(header.n_items);
  const auto nnz = static_cast<std::uint64_t>(header.nnz);
  return {4 * nnz,
          4 * nnz,
          4 * nnz,
          8 * (m + 1),
          4 * m,
          4 * n,
          static_cast<std::uint64_t>(header.n_parts),
          header.user_name_bytes > 0 ? 8 * (m + 1) : 0,
          header.user_name_bytes,
          header.item_name_bytes > 0 ? 8 * (n + 1) : 0,
          header.item_name_bytes,
          header.version == kTimedVersion ? sizeof(RatingTime) * nnz : 0};
}

std::uint64_t total_bytes(const FixedHeader& header) {
  std::uint64_t bytes = header.header_bytes;
  for (const auto size : section_sizes(header)) bytes += round_up(size);
  return bytes;
}

std::uint64_t hash_header(FixedHeader header, std::span<const std::byte> rest) {
  header.header_hash = 0;
  return hash64(rest, hash64_of(std::span<const FixedHeader>(&header, 1)));
}

namespace {

// The library would cast what is no such number to one.
std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t most) {
  const Json& value = json.at(key);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value;
  fail(ErrorKind::data, "\"{}\" is {}, expected a whole number up to {}", key, describe(value),
       most);
}

RatingScale scale_from_json(const Json& json) {
  const RatingScale scale{json.at(0), json.at(1), json.at(2)};
  if (std::isfinite(scale.min) && std::isfinite(scale.max) && std::isfinite(scale.step)) {
    return scale;
  }
  fail(ErrorKind::data, "\"scale\" is {}, expected numbers of 32 bits", describe(json));
}

DatasetInfo info_from_json(const Json& json) {
  constexpr std::uint64_t kMostPairs = std::numeric_limits<std::int64_t>::max();
  DatasetInfo info;
  info.name = json.at("name");
  info.look_alike = json.at("look_alike");
  info.source = json.at("source");
  info.source_hash = json.at("source_hash");
  if (const Json& scale = json.at("scale"); !scale.is_null()) {
    info.scale = scale_from_json(scale);
  }
  info.duplicate_pairs =
      static_cast<std::int64_t>(whole_number(json, "duplicate_pairs", kMostPairs));
  info.duplicate_policy = json.at("duplicate_policy");
  info.content_hash = whole_number(json, "content_hash", std::numeric_limits<std::uint64_t>::max());
  return info;
}

[[noreturn]] void fail_cut_cache(const std::string& path, std::size_t found,
                                 std::uint64_t expected) {
  fail(ErrorKind::data, "{}: the cache is cut short: found {} bytes, expected {}", path, found,
       expected);
}

void check_identity(const std::string& path, const FixedHeader& header) {
  if (header.magic != kMagic) {
    fail(ErrorKind::data, "{}: no mfbench cache: the file does not begin with MFBCACHE", path);
  }
  if (header.endian != kEndianMark) {
    fail(ErrorKind::data, "{}: the cache was written on a machine of another byte order", path);
  }
  if (header.version < kPlainVersion || header.version > kTimedVersion) {
    fail(ErrorKind::data,
         "{}: the cache has format version {}, this program reads versions {} to {}", path,
         header.version, kPlainVersion, kTimedVersion);
  }
}

bool sane_names(const FixedHeader& header) {
  const bool named = header.user_name_bytes > 0 || header.item_name_bytes > 0;
  constexpr std::uint64_t most = std::uint64_t{1} << 58;
  const bool fits = header.version == kTimedVersion || named == (header.version == kNamedVersion);
  return fits && header.user_name_bytes < most && header.item_name_bytes < most;
}

void check_sizes(const std::string& path, const FixedHeader& header, std::size_t file_bytes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const bool sane = header.n_users >= 0 && header.n_users <= most && header.n_items >= 0 &&
                    header.n_items <= most && header.nnz >= 0 &&
                    header.nnz < (std::int64_t{1} << 58) &&
                    (header.n_parts == 0 || header.n_parts == header.nnz) && sane_names(header);
  if (!sane || total_bytes(header) != header.file_bytes) {
    fail(ErrorKind::data, "{}: the cache is corrupt: {} users, {} items and {} ratings in {} bytes",
         path, header.n_users, header.n_items, header.nnz, header.file_bytes);
  }
  if (file_bytes < header.file_bytes) fail_cut_cache(path, file_bytes, header.file_bytes);
  if (file_bytes > header.file_bytes) {
    fail(ErrorKind::data, "{}: the cache is corrupt: {} bytes follow its end", path,
         file_bytes - header.file_bytes);
  }
}

}  // namespace

FixedHeader checked_header(const std::string& path, std::span<const std::byte> file) {
  FixedHeader header;
  // The magic is looked at first, so that a short text file is called what it is.
  const auto start = file.first(std::min(file.size(), sizeof kMagic));
  if (!std::ranges::equal(start, std::as_bytes(std::span(kMagic)).first(start.size()))) {
    fail(ErrorKind::data, "{}: no mfbench cache: the file does not begin with MFBCACHE", path);
  }
  if (file.size() < sizeof header) fail_cut_cache(path, file.size(), sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  check_identity(path, header);
  if (header.header_bytes < sizeof header || header.header_bytes > (std::uint64_t{1} << 30)) {
    fail(ErrorKind::data, "{}: the cache is corrupt: its header claims {} bytes", path,
         header.header_bytes);
  }
  if (header.header_bytes > file.size()) fail_cut_cache(path, file.size(), header.header_bytes);
  const auto rest =
      file.subspan(sizeof header, static_cast<std::size_t>(header.header_bytes) - sizeof header);
  if (hash_header(header, rest) != header.header_hash || header.json_bytes > rest.size()) {
    fail(ErrorKind::data, "{}: the cache is corrupt: checksum of the header", path);
  }
  check_sizes(path, header, file.size());
  return header;
}

CacheHead head_of(const std::string& path, const FixedHeader& header,
                  std::span<const std::byte> file) {
  CacheHead head;
  const auto* text = reinterpret_cast<const char*>(file.data() + sizeof header);
  const auto corrupt = [&](const std::exception& error) {
    fail(ErrorKind::data, "{}: the cache is corrupt: its description: {}", path, error.what());
  };
  try {
    const Json json = parse_json({text, static_cast<std::size_t>(header.json_bytes)}, "JSON");
    head.info = info_from_json(json);
    head.key = json.at("key");
    head.has_times = header.version == kTimedVersion &&
                     (json.contains(kFractionsKept) || head.info.source != "file" ||
                      head.key == "import");  // which could not be built again
  } catch (const Json::exception& error) {
    corrupt(error);
  } catch (const Error& error) {
    corrupt(error);
  }
  head.n_users = header.n_users;
  head.n_items = header.n_items;
  head.nnz = header.nnz;
  head.has_parts = header.n_parts > 0;
  head.user_names = header.user_name_bytes > 0;
  head.item_names = header.item_name_bytes > 0;
  return head;
}

CacheHead read_cache_head(const std::string& path) {
  static std::atomic<bool> told = false;
  struct stat status {};
  // Checksums do not say who wrote it.
  const bool other = ::lstat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid();
  if (other && status.st_uid != 0 && !is_silent && !told.exchange(true))
    warn("{}: user {} wrote it; MFBENCH_CACHE may name a folder of yours", path, status.st_uid);
  return of_whole_files([&] {
    const Bytes mapped = map_file(path, Origin::found);
    const auto bytes = std::as_bytes(std::span(mapped.view));
    return head_of(path, checked_header(path, bytes), bytes);
  });
}

}  // namespace mf
