#include "base/hash.hpp"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {
namespace {

[[noreturn]] void fail_digest() {
  fail(ErrorKind::unsupported, "libcrypto refuses a checksum (SHA-256): {}",
       ERR_reason_error_string(ERR_get_error()));
}

std::uint64_t load64(const std::byte* p) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, 8);
  return v;
}

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (context_ == nullptr) throw std::bad_alloc();
  if (EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) fail_digest();
}

void Sha256::update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) fail_digest();
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) fail_digest();
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string hash64_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t k0 = 0x9e3779b97f4a7c15ULL;
  constexpr std::uint64_t k1 = 0xd1342543de82ef95ULL;
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t a = mix64(seed ^ k0);
  std::uint64_t b = mix64(seed ^ k1);
  // Two chains, so that the multiplications of one hide the latency of the other.
  for (; left >= 32; p += 32, left -= 32) {
    a = fold(a ^ load64(p), k1 ^ load64(p + 8)) + k0;
    b = fold(b ^ load64(p + 16), k0 ^ load64(p + 24)) + k1;
  }
  std::array<std::byte, 32> rest{};
  if (left > 0) std::memcpy(rest.data(), p, left);
  a = fold(a ^ load64(rest.data()), k1 ^ load64(rest.data() + 8)) + k0;
  b = fold(b ^ load64(rest.data() + 16), k0 ^ load64(rest.data() + 24)) + k1;
  return mix64(a ^ std::rotl(b, 32) ^ (static_cast<std::uint64_t>(bytes.size()) * k0));
}

PieceHash::PieceHash(std::span<const std::byte> bytes, std::uint64_t seed)
    : bytes_(bytes),
      seed_(seed),
      hashes_((bytes.size() + kPieceBytes - 1) / static_cast<std::size_t>(kPieceBytes)) {}

void PieceHash::take(std::int64_t piece) {
  const View all(bytes_);
  const std::int64_t begin = piece * kPieceBytes;
  take(piece, all.part(begin, std::min(begin + kPieceBytes, all.size())).span());
}

void PieceHash::take(std::int64_t piece, std::span<const std::byte> bytes) {
  hashes_[static_cast<std::size_t>(piece)] = hash64(bytes, seed_);
}

std::uint64_t PieceHash::value() const {
  return hash64_of(std::span<const std::uint64_t>(hashes_), seed_ ^ bytes_.size());
}

std::uint64_t hash64_parallel(std::span<const std::byte> bytes, std::uint64_t seed, int threads) {
  PieceHash hash(bytes, seed);
  const auto pieces = std::min<std::int64_t>(hash.pieces() + 1, 1024);
  ThreadTeam team(std::min(threads, static_cast<int>(pieces)));
  team.for_each(hash.pieces(), 1, [&](std::int64_t i) { hash.take(i); });
  return hash.value();
}

}  // namespace mf
