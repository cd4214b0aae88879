// Zip archives for tests, byte by byte by PKWARE's APPNOTE.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"

namespace mf::test {

// A zip archive of stored members.
inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  std::string directory;
  const auto number = [](std::string& to, std::uint64_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) to += static_cast<char>(value >> (8 * b) & 0xff);
  };
  for (const auto& [name, content] : members) {
    const std::size_t at = out.size();
    std::string common;
    number(common, 20, 2);          // version needed
    number(common, 0, 2);           // flags
    number(common, 0, 2);           // stored
    number(common, 0x00210000, 4);  // 1980-01-01
    number(common, crc32(content), 4);
    number(common, content.size(), 4);
    number(common, content.size(), 4);
    number(common, name.size(), 2);
    number(common, 0, 2);  // extra
    number(out, 0x04034b50, 4);
    out += common + name + content;
    number(directory, 0x02014b50, 4);
    number(directory, 20, 2);
    directory += common;
    number(directory, 0, 2);  // comment
    number(directory, 0, 2);  // disk
    number(directory, 0, 2);  // attributes
    number(directory, 0, 4);
    number(directory, at, 4);
    directory += name;
  }
  const std::size_t begin = out.size();
  out += directory;
  number(out, 0x06054b50, 4);
  number(out, 0, 4);
  number(out, members.size(), 2);
  number(out, members.size(), 2);
  number(out, directory.size(), 4);
  number(out, begin, 4);
  number(out, 0, 2);
  return out;
}

}  // namespace mf::test
