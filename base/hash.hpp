// SHA-256 (FIPS 180-4) for files and specs, by libcrypto; the checksum of gzip, by zlib; and a fast
// 64-bit hash of our own for large arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;

namespace mf {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  std::string hex();  // ends the message: 64 lower-case hex digits

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

std::string sha256(std::string_view text);

// The checksum of gzip and zip (ISO 3309, reflected, polynomial 0xedb88320).
std::uint32_t crc32(std::string_view bytes);

// 64-bit hash of bytes: multiply-and-fold over 16-byte pieces, several GB/s a thread. Detects
// corruption; not for adversaries.
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::string hash64_text(std::uint64_t hash);  // 16 lower-case hex digits

template <class T>
std::uint64_t hash64_of(std::span<const T> values, std::uint64_t seed = 0) {
  return hash64(std::as_bytes(values), seed);
}

// The hash of each MiB, then of those hashes: the same for any number of threads, which take the
// pieces in any order.
class PieceHash {
 public:
  static constexpr std::int64_t kPieceBytes = 1 << 20;
  PieceHash(std::span<const std::byte> bytes, std::uint64_t seed);
  std::int64_t pieces() const { return std::ssize(hashes_); }
  void take(std::int64_t piece);                                    // each once
  void take(std::int64_t piece, std::span<const std::byte> bytes);  // which lie elsewhere
  std::uint64_t value() const;                                      // once all are taken
  // For a piece that was taken; or as found elsewhere.
  std::uint64_t piece(std::int64_t number) const {
    return hashes_[static_cast<std::size_t>(number)];
  }
  void set_piece(std::int64_t number, std::uint64_t hash) {
    hashes_[static_cast<std::size_t>(number)] = hash;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> hashes_;
};

// PieceHash of all pieces.
std::uint64_t hash64_parallel(std::span<const std::byte> bytes, std::uint64_t seed, int threads);

}  // namespace mf
