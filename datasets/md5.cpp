#include "datasets/md5.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.hpp"

namespace mf {
namespace {

// RFC 1321 defines its constants as floor(2^32 * |sin(i + 1)|), which double precision gives
// exactly.
std::array<std::uint32_t, 64> sine_table() {
  std::array<std::uint32_t, 64> table;
  for (std::size_t i = 0; i < 64; ++i) {
    table[i] = static_cast<std::uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
  }
  return table;
}

class Md5 {
 public:
  void update(const char* bytes, std::size_t count) {
    length_ += count;
    while (count > 0) {
      const std::size_t take = std::min(count, buffer_.size() - filled_);
      std::memcpy(buffer_.data() + filled_, bytes, take);
      filled_ += take;
      bytes += take;
      count -= take;
      if (filled_ == buffer_.size()) {
        block();
        filled_ = 0;
      }
    }
  }

  std::string hex() {
    const std::uint64_t bits = length_ * 8;
    std::array<char, 72> tail{};
    tail[0] = static_cast<char>(0x80);
    const std::size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
    for (std::size_t i = 0; i < 8; ++i) tail[zeros + i] = static_cast<char>(bits >> (8 * i) & 0xff);
    update(tail.data(), zeros + 8);
    std::string text;
    for (const std::uint32_t word : state_) {
      for (int shift = 0; shift < 32; shift += 8)
        text += fmt::format("{:02x}", word >> shift & 0xff);
    }
    return text;
  }

 private:
  void block() {
    static const auto sines = sine_table();
    static constexpr std::array<int, 16> shifts = {7, 12, 17, 22, 5, 9,  14, 20,
                                                   4, 11, 16, 23, 6, 10, 15, 21};
    std::array<std::uint32_t, 16> words;
    for (std::size_t i = 0; i < 16; ++i) {
      words[i] = 0;
      for (std::size_t k = 4; k-- > 0;) words[i] = words[i] << 8 | buffer_[4 * i + k];
    }
    auto [a, b, c, d] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      std::uint32_t mixed = 0;
      std::size_t word = 0;
      switch (i / 16) {
        case 0:
          mixed = (b & c) | (~b & d);
          word = i;
          break;
        case 1:
          mixed = (d & b) | (~d & c);
          word = (5 * i + 1) % 16;
          break;
        case 2:
          mixed = b ^ c ^ d;
          word = (3 * i + 5) % 16;
          break;
        default:
          mixed = c ^ (b | ~d);
          word = 7 * i % 16;
          break;
      }
      const std::uint32_t sum = a + mixed + sines[i] + words[word];
      a = d;
      d = c;
      c = b;
      b += std::rotl(sum, shifts[i / 16 * 4 + i % 4]);
    }
    state_[0] += a;
    state_[1] += b;
    state_[2] += c;
    state_[3] += d;
  }

  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace

std::string md5(std::string_view text) {
  Md5 hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

std::string md5_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  Md5 hash;
  std::vector<char> buffer(1 << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    hash.update(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) fail(ErrorKind::io, "{}: cannot be read: {}", path, std::strerror(errno));
  return hash.hex();
}

}  // namespace mf
