// SHA-256 (FIPS 180-4) for files and specs, and a fast 64-bit hash for large arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mf {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  std::string hex();  // ends the message: 64 lower-case hex digits

 private:
  void block(const std::uint8_t* bytes);
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

std::string sha256(std::string_view text);
std::string sha256_file(const std::string& path);

// 64-bit hash of bytes: multiply-and-fold over 16-byte pieces, several GB/s a thread. Detects
// corruption; not for adversaries.
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

template <class T>
std::uint64_t hash64_of(std::span<const T> values, std::uint64_t seed = 0) {
  return hash64(std::as_bytes(values), seed);
}

// The hash of each MiB, then of those hashes: the same for any number of threads.
std::uint64_t hash64_parallel(std::span<const std::byte> bytes, std::uint64_t seed, int threads);

}  // namespace mf
