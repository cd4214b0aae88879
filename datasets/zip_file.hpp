// Internal: members of a zip archive (PKWARE APPNOTE 6.3), stored or deflated, with zip64 sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/text_source.hpp"

namespace mf {

struct ZipMember {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint32_t crc = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;
};

// From the central directory. Throws Error(data) where the archive is damaged or cut.
std::vector<ZipMember> zip_members(const std::string& path, const Bytes& archive);

// The content, checked against size and CRC-32. A stored member is a view into the archive.
Bytes read_zip_member(const std::string& path, const Bytes& archive, const ZipMember& member);

}  // namespace mf
