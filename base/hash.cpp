#include "base/hash.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"

namespace mf {
namespace {

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

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

void Sha256::block(const std::uint8_t* bytes) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = std::uint32_t{bytes[4 * i]} << 24 | std::uint32_t{bytes[4 * i + 1]} << 16 |
           std::uint32_t{bytes[4 * i + 2]} << 8 | std::uint32_t{bytes[4 * i + 3]};
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  length_ += bytes.size();
  const auto* p = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    if (filled_ == 0 && left >= 64) {
      block(p);
      p += 64;
      left -= 64;
      continue;
    }
    const std::size_t take = std::min(left, buffer_.size() - filled_);
    std::memcpy(buffer_.data() + filled_, p, take);
    filled_ += take;
    p += take;
    left -= take;
    if (filled_ == buffer_.size()) {
      block(buffer_.data());
      filled_ = 0;
    }
  }
}

std::string Sha256::hex() {
  const std::uint64_t bits = length_ * 8;
  std::array<std::byte, 72> tail{};
  tail[0] = std::byte{0x80};
  const std::size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i) & 0xff);
  }
  update(std::span(tail).first(zeros + 8));
  std::string text;
  for (const auto word : state_) text += fmt::format("{:08x}", word);
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text.data(), text.size())));
  return hash.hex();
}

std::string sha256_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    hash.update(std::as_bytes(std::span(buffer.data(), static_cast<std::size_t>(in.gcount()))));
  }
  if (in.bad()) fail(ErrorKind::io, "{}: cannot be read: {}", path, std::strerror(errno));
  return hash.hex();
}

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

std::uint64_t hash64_parallel(std::span<const std::byte> bytes, std::uint64_t seed, int threads) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  const std::size_t pieces = (bytes.size() + piece - 1) / piece;
  std::vector<std::uint64_t> hashes(pieces);
  ThreadTeam team(std::min(threads, static_cast<int>(std::min<std::size_t>(pieces + 1, 1024))));
  team.for_chunks(static_cast<std::int64_t>(pieces), 1, [&](std::int64_t begin, std::int64_t) {
    const auto i = static_cast<std::size_t>(begin);
    hashes[i] = hash64(bytes.subspan(i * piece, std::min(piece, bytes.size() - i * piece)), seed);
  });
  return hash64_of(std::span<const std::uint64_t>(hashes), seed ^ bytes.size());
}

}  // namespace mf
