// Cache files, as they are and with checksums that fit: those say that a file is as it was written,
// not by whom.
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "datasets/cache.hpp"
#include "datasets/data_commands.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

// Where the numbers of the header are (datasets/cache_file.hpp). Inputs that must be taken show
// whether they still are.
enum Place : std::size_t {
  kHeaderBytes = 16,
  kJsonBytes = 24,
  kFileBytes = 32,
  kUsers = 40,
  kItems = 48,
  kRatings = 56,
  kParts = 64,
  kHeaderHash = 72,
  kSectionHash = 80,
  kUserNameBytes = 168,
  kItemNameBytes = 176,
  kTimesHash = 184,
  kFixed = 192
};

std::uint64_t number(const std::string& file, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

void put(std::string& file, std::size_t at, std::uint64_t value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

std::span<const std::byte> bytes(const std::string& file, std::size_t at, std::size_t size) {
  return std::as_bytes(std::span(file)).subspan(at, size);
}

std::size_t round_up(std::size_t size) { return (size + 63) / 64 * 64; }

// Sizes that go together and checksums; the file is cut or filled with zeros to what it claims. As
// it was where it claims too much.
std::string mended(std::string file) {
  constexpr std::uint64_t kMost = 512;
  if (file.size() < kFixed || number(file, kHeaderBytes) > file.size()) return file;
  const std::size_t head = round_up(std::max<std::size_t>(kFixed, number(file, kHeaderBytes)));
  const std::uint64_t m = number(file, kUsers);
  const std::uint64_t n = number(file, kItems);
  const std::uint64_t nnz = number(file, kRatings);
  const std::uint64_t user_names = number(file, kUserNameBytes);
  const std::uint64_t item_names = number(file, kItemNameBytes);
  if (m > kMost || n > kMost || nnz > kMost) return file;
  if (user_names > kMost || item_names > kMost) return file;
  if (number(file, kParts) != 0) put(file, kParts, nnz);
  const bool timed = file[8] == 3;
  const std::array<std::size_t, 12> sizes = {4 * nnz,
                                             4 * nnz,
                                             4 * nnz,
                                             8 * (m + 1),
                                             4 * m,
                                             4 * n,
                                             number(file, kParts),
                                             user_names > 0 ? 8 * (m + 1) : 0,
                                             user_names,
                                             item_names > 0 ? 8 * (n + 1) : 0,
                                             item_names,
                                             timed ? 16 * nnz : 0};
  const bool named = user_names > 0 || item_names > 0;
  file[8] = timed ? 3 : named ? 2 : 1;  // the version
  std::size_t whole = head;
  for (const auto size : sizes) whole += round_up(size);
  file.resize(whole);
  put(file, kHeaderBytes, head);
  put(file, kFileBytes, whole);
  std::size_t at = head;
  for (std::size_t s = 0; s < (timed ? sizes.size() : named ? 11 : 7); ++s) {
    put(file, s < 11 ? kSectionHash + 8 * s : std::size_t{kTimesHash},
        hash64_parallel(bytes(file, at, sizes[s]), s, 1));
    at += round_up(sizes[s]);
  }
  put(file, kHeaderHash, 0);
  put(file, kHeaderHash,
      hash64(bytes(file, kFixed, head - kFixed), hash64(bytes(file, 0, kFixed))));
  return file;
}

template <class T>
bool same(View<const T> a, View<const T> b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), sizeof(T) * static_cast<std::size_t>(a.size())) == 0);
}

// A cache that was taken is written and read again.
void read_and_write(const std::string& path) {
  const CacheHead head = read_cache_head(path);
  const Dataset data = read_cache(path, 1, true);
  check_ratings(data.ratings);
  expect(head.nnz == data.ratings.nnz() && head.n_users == data.ratings.n_users(),
         "the head of a cache has its sizes");
  // Older ones may have times and say none, since these lack their fractions.
  expect(!head.has_times || !data.times.empty() || head.nnz == 0, "a cache has the times it says");
  for (const RatingTime& one : data.times.all)
    expect(one.place >= 0 && one.place < head.nnz, "places are among the ratings");
  const std::string copy = scratch() / "copy.mfc";
  write_cache(copy, data, 1, head.key);
  const Dataset again = read_cache(copy, 1, true);
  expect(content_hash(again.ratings, 1) == content_hash(data.ratings, 1) &&
             same(again.ratings.values(), data.ratings.values()) &&
             same(again.parts.all, data.parts.all),
         "a cache that is written again has the same ratings");
  make_csc(data.ratings, 1);
  dataset_stats(data, 1);
}

void cache(std::string_view input) {
  accepts([&] { read_and_write(write_scratch("as-it-is.mfc", input)); });
  read_and_write(write_scratch("mended.mfc", mended(std::string(input))));
}

const Registrar target({"cache", cache});

}  // namespace
}  // namespace mf::fuzz
