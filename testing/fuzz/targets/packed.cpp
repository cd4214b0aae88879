// A file of ratings, however it is compressed.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/source_hash.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

void compressed(std::string_view input) {
  const std::string path = write_scratch("ratings", input);
  const bool hashed = accepts([&] { uncompressed_sha256(path); });
  const RawRatings raw = read_ratings(path, {});
  expect(hashed, "what can be read has a hash");
  check_raw(raw);
  make_canonical(raw);
}

// An archive whose headers have the checksums that fit: chance does not find them.
void tar(std::string_view input) {
  constexpr std::size_t kBlock = 512, kSize = 124, kSum = 148, kMark = 257;
  std::string bytes(input);
  for (std::size_t at = 0; at + kBlock <= bytes.size();) {
    bytes.replace(at + kMark, 5, "ustar");
    bytes.replace(at + kSum, 8, 8, ' ');
    const auto header = std::string_view(bytes).substr(at, kBlock);
    std::uint64_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::uint64_t size = 0;
    std::from_chars(header.data() + kSize, header.data() + kSize + 11, size, 8);
    bytes.replace(at + kSum, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    at += kBlock + (std::min<std::uint64_t>(size, bytes.size()) + kBlock - 1) / kBlock * kBlock;
  }
  compressed(bytes);
}

const Registrar tar_target({"tar", tar});
const Registrar compressed_target({"compressed", compressed});

}  // namespace
}  // namespace mf::fuzz
