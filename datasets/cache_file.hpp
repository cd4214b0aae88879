// Internal: the layout of a cache file, for those who write and read one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "datasets/cache.hpp"

namespace mf {

inline constexpr std::array<char, 8> kMagic = {'M', 'F', 'B', 'C', 'A', 'C', 'H', 'E'};
// Version 2 has names, which version 1 has not, and version 3 times: what has none is written as
// before.
inline constexpr std::uint32_t kPlainVersion = 1;
inline constexpr std::uint32_t kNamedVersion = 2;
inline constexpr std::uint32_t kTimedVersion = 3;
inline constexpr std::uint32_t kEndianMark = 0x01020304;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kPlainSections = 7;
inline constexpr std::size_t kNamedSections = 11;
inline constexpr std::size_t kSections = 12;
inline constexpr std::array<const char*, kSections> kSectionNames = {
    "users",      "items",
    "values",     "user_offsets",
    "user_ids",   "item_ids",
    "parts",      "user_name_offsets",
    "user_names", "item_name_offsets",
    "item_names", "times"};

inline constexpr const char* kFractionsKept = "fractions_kept";  // of times; absent: dropped

// The start of the file; the JSON text follows, then the sections, each at a multiple of 64 bytes.
struct FixedHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kPlainVersion;
  std::uint32_t endian = kEndianMark;
  std::uint64_t header_bytes = 0;  // this struct and the JSON text, rounded up to 64
  std::uint64_t json_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
  std::int64_t n_parts = 0;                                  // nnz or 0
  std::uint64_t header_hash = 0;                             // of the header with this field zero
  std::array<std::uint64_t, kNamedSections> section_hash{};  // of those that there are
  std::uint64_t user_name_bytes = 0;                         // of all names; 0: ids are integers
  std::uint64_t item_name_bytes = 0;
  std::uint64_t times_hash = 0;  // of the last section

  std::uint64_t& hash_of(std::size_t section) {
    return section < kNamedSections ? section_hash[section] : times_hash;
  }
  std::uint64_t hash_of(std::size_t section) const {
    return section < kNamedSections ? section_hash[section] : times_hash;
  }
};
static_assert(sizeof(FixedHeader) == 192);
static_assert(sizeof(RatingTime) == 16);

std::size_t sections_in(const FixedHeader& header);
std::uint64_t round_up(std::uint64_t bytes);  // to a multiple of kAlignment
std::array<std::uint64_t, kSections> section_sizes(const FixedHeader& header);
std::uint64_t total_bytes(const FixedHeader& header);
std::uint64_t hash_header(FixedHeader header, std::span<const std::byte> rest);

// Throws Error(data): the file is none, is cut short or of another version, or its header is
// damaged.
FixedHeader checked_header(const std::string& path, std::span<const std::byte> file);
CacheHead head_of(const std::string& path, const FixedHeader& header,
                  std::span<const std::byte> file);

}  // namespace mf
