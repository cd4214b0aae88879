// Archives for tests, written byte by byte, so that they can be hostile: zip (stored) and ustar.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace mf::test {

struct Member {
  std::string name;
  std::string content;  // of a link: its target
  std::uint32_t mode = 0100644;
  char type = '0';  // ustar: '0' file, '1' hard link, '2' symbolic link, '3' device, '5' folder
};

inline std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1U ? 0xedb88320U : 0U);
  }
  return ~crc;
}

inline void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// PKWARE APPNOTE 6.3; the upper half of the external attributes is the Unix mode.
inline std::string make_zip(const std::vector<Member>& members) {
  std::string zip;
  std::string central;
  for (const auto& member : members) {
    std::string common;
    put(common, 10, 2);  // version needed
    put(common, 0, 2);   // flags
    put(common, 0, 2);   // stored
    put(common, 0, 4);   // time and date
    put(common, crc32_of(member.content), 4);
    put(common, member.content.size(), 4);
    put(common, member.content.size(), 4);
    put(common, member.name.size(), 2);
    put(common, 0, 2);  // extra
    central += "PK\x01\x02";
    put(central, 3 << 8 | 20, 2);  // made by Unix
    central += common;
    put(central, 0, 2);  // comment
    put(central, 0, 2);  // disk
    put(central, 0, 2);  // internal attributes
    put(central, std::uint64_t{member.mode} << 16, 4);
    put(central, zip.size(), 4);
    central += member.name;
    zip += "PK\x03\x04" + common + member.name + member.content;
  }
  const std::size_t start = zip.size();
  zip += central;
  zip += "PK\x05\x06";
  put(zip, 0, 4);
  put(zip, members.size(), 2);
  put(zip, members.size(), 2);
  put(zip, central.size(), 4);
  put(zip, start, 4);
  put(zip, 0, 2);
  return zip;
}

// POSIX.1-1988 ustar.
inline std::string make_tar(const std::vector<Member>& members) {
  std::string tar;
  for (const auto& member : members) {
    const bool link = member.type == '1' || member.type == '2';
    const std::size_t size = member.type == '0' ? member.content.size() : 0;
    std::string header(512, '\0');
    const auto field = [&](std::size_t at, const std::string& text) {
      header.replace(at, text.size(), text);
    };
    const auto octal = [](std::size_t value, int digits) {
      std::string text(static_cast<std::size_t>(digits) + 1, '\0');
      std::snprintf(text.data(), text.size(), "%0*zo", digits, value);
      text.pop_back();
      return text;
    };
    field(0, member.name);
    field(100, octal(member.mode & 07777, 7));
    field(124, octal(size, 11));
    field(136, octal(0, 11));
    field(148, "        ");
    header[156] = member.type;
    if (link) field(157, member.content);
    field(257, std::string("ustar\00000", 8));
    std::size_t sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    field(148, octal(sum, 6) + std::string("\0 ", 2));
    tar += header;
    tar += member.content.substr(0, size);
    tar += std::string((512 - size % 512) % 512, '\0');
  }
  return tar + std::string(1024, '\0');
}

}  // namespace mf::test
