#include "datasets/cache.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/claim.hpp"
#include "base/files/file_copy.hpp"
#include "base/files/mapped_file.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/canonical.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic = {'M', 'F', 'B', 'C', 'A', 'C', 'H', 'E'};
// Version 2 has names, which version 1 has not, and version 3 times: what has none is written as
// before.
constexpr std::uint32_t kPlainVersion = 1;
constexpr std::uint32_t kNamedVersion = 2;
constexpr std::uint32_t kTimedVersion = 3;
constexpr std::uint32_t kEndianMark = 0x01020304;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPlainSections = 7;
constexpr std::size_t kNamedSections = 11;
constexpr std::size_t kSections = 12;
constexpr std::array<const char*, kSections> kSectionNames = {"users",      "items",
                                                              "values",     "user_offsets",
                                                              "user_ids",   "item_ids",
                                                              "parts",      "user_name_offsets",
                                                              "user_names", "item_name_offsets",
                                                              "item_names", "times"};

// The start of the file; the JSON text follows, then the sections, each at a multiple of 64 bytes.
struct FixedHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kPlainVersion;
  std::uint32_t endian = kEndianMark;
  std::uint64_t header_bytes = 0;  // this struct and the JSON text, rounded up to 64
  std::uint64_t json_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
  std::int64_t n_parts = 0;                                  // nnz or 0
  std::uint64_t header_hash = 0;                             // of the header with this field zero
  std::array<std::uint64_t, kNamedSections> section_hash{};  // of those that there are
  std::uint64_t user_name_bytes = 0;                         // of all names; 0: ids are integers
  std::uint64_t item_name_bytes = 0;
  std::uint64_t times_hash = 0;  // of the last section

  std::uint64_t& hash_of(std::size_t section) {
    return section < kNamedSections ? section_hash[section] : times_hash;
  }
  std::uint64_t hash_of(std::size_t section) const {
    return section < kNamedSections ? section_hash[section] : times_hash;
  }
};
static_assert(sizeof(FixedHeader) == 192);
static_assert(sizeof(RatingTime) == 16);

std::size_t sections_in(const FixedHeader& header) {
  switch (header.version) {
    case kPlainVersion:
      return kPlainSections;
    case kNamedVersion:
      return kNamedSections;
    default:
      return kSections;
  }
}

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::array<std::uint64_t, kSections> section_sizes(const FixedHeader& header) {
  const auto m = static_cast<std::uint64_t>(header.n_users);
  const auto n = static_cast<std::uint64_t>(header.n_items);
  const auto nnz = static_cast<std::uint64_t>(header.nnz);
  return {4 * nnz,
          4 * nnz,
          4 * nnz,
          8 * (m + 1),
          4 * m,
          4 * n,
          static_cast<std::uint64_t>(header.n_parts),
          header.user_name_bytes > 0 ? 8 * (m + 1) : 0,
          header.user_name_bytes,
          header.item_name_bytes > 0 ? 8 * (n + 1) : 0,
          header.item_name_bytes,
          header.version == kTimedVersion ? sizeof(RatingTime) * nnz : 0};
}

std::uint64_t total_bytes(const FixedHeader& header) {
  std::uint64_t bytes = header.header_bytes;
  for (const auto size : section_sizes(header)) bytes += round_up(size);
  return bytes;
}

std::uint64_t hash_header(FixedHeader header, std::span<const std::byte> rest) {
  header.header_hash = 0;
  return hash64(rest, hash64_of(std::span<const FixedHeader>(&header, 1)));
}

std::array<std::span<const std::byte>, kSections> sections_of(const Dataset& data) {
  const Ratings& ratings = data.ratings;
  return {ratings.users().bytes(),
          ratings.items().bytes(),
          ratings.values().bytes(),
          ratings.user_offsets().bytes(),
          ratings.user_ids().bytes(),
          ratings.item_ids().bytes(),
          std::as_bytes(std::span(data.parts)),
          ratings.user_names().offsets().bytes(),
          ratings.user_names().bytes().bytes(),
          ratings.item_names().offsets().bytes(),
          ratings.item_names().bytes().bytes(),
          data.times.all.bytes()};
}

Json to_json(const DatasetInfo& info, const std::string& key) {
  Json scale = nullptr;
  if (info.scale) scale = {info.scale->min, info.scale->max, info.scale->step};
  return {{"name", info.name},
          {"look_alike", info.look_alike},
          {"source", info.source},
          {"source_hash", info.source_hash},
          {"scale", scale},
          {"duplicate_pairs", info.duplicate_pairs},
          {"duplicate_policy", info.duplicate_policy},
          {"content_hash", info.content_hash},
          {"key", key}};
}

// The library would cast what is no such number to one.
std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t most) {
  const Json& value = json.at(key);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value;
  fail(ErrorKind::data, "\"{}\" is {}, expected a whole number up to {}", key, describe(value),
       most);
}

RatingScale scale_from_json(const Json& json) {
  const RatingScale scale{json.at(0), json.at(1), json.at(2)};
  if (std::isfinite(scale.min) && std::isfinite(scale.max) && std::isfinite(scale.step)) {
    return scale;
  }
  fail(ErrorKind::data, "\"scale\" is {}, expected numbers of 32 bits", describe(json));
}

DatasetInfo info_from_json(const Json& json) {
  constexpr std::uint64_t kMostPairs = std::numeric_limits<std::int64_t>::max();
  DatasetInfo info;
  info.name = json.at("name");
  info.look_alike = json.at("look_alike");
  info.source = json.at("source");
  info.source_hash = json.at("source_hash");
  if (const Json& scale = json.at("scale"); !scale.is_null()) {
    info.scale = scale_from_json(scale);
  }
  info.duplicate_pairs =
      static_cast<std::int64_t>(whole_number(json, "duplicate_pairs", kMostPairs));
  info.duplicate_policy = json.at("duplicate_policy");
  info.content_hash = whole_number(json, "content_hash", std::numeric_limits<std::uint64_t>::max());
  return info;
}

// ---- writing ----

void write_padding(AtomicFile& file, std::uint64_t bytes) {
  constexpr std::array<std::byte, kAlignment> zeros{};
  file.write(std::span(zeros).first(static_cast<std::size_t>(round_up(bytes) - bytes)));
}

// What processes that were killed while they wrote have left: its claim is free.
void remove_left_over(const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    const fs::path& other = entry.path();
    if (!other.string().ends_with(".mfc.tmp") || other == path + ".tmp") continue;
    try {
      const fs::path its_cache = fs::path(other).replace_extension();
      if (const auto claim = FileClaim::if_free(its_cache.string())) fs::remove(other, error);
    } catch (const Error&) {  // in a folder of others
    }
  }
}

// The caller has the claim: no other process writes to the temporary file.
void write_claimed(const FileClaim& claim, const std::string& path, const Dataset& data,
                   const std::string& key, int threads, Flush flush) {
  remove_left_over(path);
  DatasetInfo info = data.info;
  if (info.content_hash == 0) info.content_hash = content_hash(data.ratings, threads);
  // Paths need not be UTF-8; JSON text must be.
  const std::string json = to_json(info, key).dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto sections = sections_of(data);

  FixedHeader header;
  header.json_bytes = json.size();
  header.header_bytes = round_up(sizeof(FixedHeader) + json.size());
  header.n_users = data.ratings.n_users();
  header.n_items = data.ratings.n_items();
  header.nnz = data.ratings.nnz();
  header.n_parts = static_cast<std::int64_t>(data.parts.size());
  header.user_name_bytes = data.ratings.user_names().bytes().size_bytes();
  header.item_name_bytes = data.ratings.item_names().bytes().size_bytes();
  const bool named = header.user_name_bytes > 0 || header.item_name_bytes > 0;
  header.version = !data.times.empty() ? kTimedVersion : named ? kNamedVersion : kPlainVersion;
  header.file_bytes = total_bytes(header);
  for (std::size_t s = 0; s < sections_in(header); ++s) {
    header.hash_of(s) = hash64_parallel(sections[s], s, threads);
  }
  std::string rest = json;
  rest.resize(static_cast<std::size_t>(header.header_bytes) - sizeof(FixedHeader), '\0');
  header.header_hash = hash_header(header, std::as_bytes(std::span<const char>(rest)));

  AtomicFile file(path);
  file.write(std::as_bytes(std::span<const FixedHeader>(&header, 1)));
  file.write(std::as_bytes(std::span<const char>(rest)));
  for (const auto section : sections) {
    file.write(section);
    write_padding(file, section.size());
  }
  claim.check();
  file.commit(flush);
}

// ---- reading ----

std::span<const std::byte> bytes_of(const Bytes& file) {
  return std::as_bytes(std::span(file.view));
}

[[noreturn]] void fail_cut_cache(const std::string& path, std::size_t found,
                                 std::uint64_t expected) {
  fail(ErrorKind::data, "{}: the cache is cut short: found {} bytes, expected {}", path, found,
       expected);
}

void check_identity(const std::string& path, const FixedHeader& header) {
  if (header.magic != kMagic) {
    fail(ErrorKind::data, "{}: no mfbench cache: the file does not begin with MFBCACHE", path);
  }
  if (header.endian != kEndianMark) {
    fail(ErrorKind::data, "{}: the cache was written on a machine of another byte order", path);
  }
  if (header.version < kPlainVersion || header.version > kTimedVersion) {
    fail(ErrorKind::data,
         "{}: the cache has format version {}, this program reads versions {} to {}", path,
         header.version, kPlainVersion, kTimedVersion);
  }
}

FixedHeader checked_header(const std::string& path, std::span<const std::byte> file) {
  FixedHeader header;
  // The magic is looked at first, so that a short text file is called what it is.
  const auto start = file.first(std::min(file.size(), sizeof kMagic));
  if (!std::ranges::equal(start, std::as_bytes(std::span(kMagic)).first(start.size()))) {
    fail(ErrorKind::data, "{}: no mfbench cache: the file does not begin with MFBCACHE", path);
  }
  if (file.size() < sizeof header) fail_cut_cache(path, file.size(), sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  check_identity(path, header);
  if (header.header_bytes < sizeof header || header.header_bytes > (std::uint64_t{1} << 30)) {
    fail(ErrorKind::data, "{}: the cache is corrupt: its header claims {} bytes", path,
         header.header_bytes);
  }
  if (header.header_bytes > file.size()) fail_cut_cache(path, file.size(), header.header_bytes);
  const auto rest =
      file.subspan(sizeof header, static_cast<std::size_t>(header.header_bytes) - sizeof header);
  if (hash_header(header, rest) != header.header_hash || header.json_bytes > rest.size()) {
    fail(ErrorKind::data, "{}: the cache is corrupt: checksum of the header", path);
  }
  return header;
}

bool sane_names(const FixedHeader& header) {
  const bool named = header.user_name_bytes > 0 || header.item_name_bytes > 0;
  constexpr std::uint64_t most = std::uint64_t{1} << 58;
  const bool fits = header.version == kTimedVersion || named == (header.version == kNamedVersion);
  return fits && header.user_name_bytes < most && header.item_name_bytes < most;
}

void check_sizes(const std::string& path, const FixedHeader& header, std::size_t file_bytes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const bool sane = header.n_users >= 0 && header.n_users <= most && header.n_items >= 0 &&
                    header.n_items <= most && header.nnz >= 0 &&
                    header.nnz < (std::int64_t{1} << 58) &&
                    (header.n_parts == 0 || header.n_parts == header.nnz) && sane_names(header);
  if (!sane || total_bytes(header) != header.file_bytes) {
    fail(ErrorKind::data, "{}: the cache is corrupt: {} users, {} items and {} ratings in {} bytes",
         path, header.n_users, header.n_items, header.nnz, header.file_bytes);
  }
  if (file_bytes < header.file_bytes) fail_cut_cache(path, file_bytes, header.file_bytes);
  if (file_bytes > header.file_bytes) {
    fail(ErrorKind::data, "{}: the cache is corrupt: {} bytes follow its end", path,
         file_bytes - header.file_bytes);
  }
}

CacheHead head_of(const std::string& path, const FixedHeader& header,
                  std::span<const std::byte> file) {
  CacheHead head;
  const auto* text = reinterpret_cast<const char*>(file.data() + sizeof header);
  const auto corrupt = [&](const std::exception& error) {
    fail(ErrorKind::data, "{}: the cache is corrupt: its description: {}", path, error.what());
  };
  try {
    const Json json = parse_json({text, static_cast<std::size_t>(header.json_bytes)}, "JSON");
    head.info = info_from_json(json);
    head.key = json.at("key");
  } catch (const Json::exception& error) {
    corrupt(error);
  } catch (const Error& error) {
    corrupt(error);
  }
  head.n_users = header.n_users;
  head.n_items = header.n_items;
  head.nnz = header.nnz;
  head.has_parts = header.n_parts > 0;
  head.user_names = header.user_name_bytes > 0;
  head.item_names = header.item_name_bytes > 0;
  head.has_times = header.version == kTimedVersion;
  return head;
}

FixedHeader checked_header(const std::string& path, const Bytes& mapped) {
  const FixedHeader header = checked_header(path, bytes_of(mapped));
  check_sizes(path, header, mapped.view.size());
  return header;
}

// Its header is read, to be checked in the copy: before there is one, it is looked at in the file,
// so that no memory is asked for what is no cache.
FileCopy copy_with_head(const std::string& path) {
  const auto head = static_cast<std::size_t>(of_whole_files(
      [&] { return checked_header(path, map_file(path, Origin::found)).header_bytes; }));
  FileCopy copy(path);
  copy.read(0, std::min(head, copy.bytes().size()));
  return copy;
}

using Sections = std::array<std::span<const std::byte>, kSections>;
constexpr std::size_t kRatingSections = 3;  // users, items, values: the first of all
constexpr std::int64_t kPieceRatings = PieceHash::kPieceBytes / 4;
constexpr std::size_t kPartsSection = 6;
constexpr std::size_t kTimesSection = 11;

Sections cut_sections(const FixedHeader& header, std::span<const std::byte> file) {
  Sections sections;
  const auto sizes = section_sizes(header);
  std::uint64_t at = header.header_bytes;
  for (std::size_t s = 0; s < kSections; ++s) {
    sections[s] = file.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(sizes[s]));
    at += round_up(sizes[s]);
  }
  return sections;
}

void check_sum(const std::string& path, const FixedHeader& header, std::size_t section,
               const PieceHash& found) {
  if (found.value() == header.hash_of(section)) return;
  fail(ErrorKind::data, "{}: the cache is corrupt: checksum of the section {}", path,
       kSectionNames[section]);
}

std::span<const std::byte> piece_of(std::span<const std::byte> section, std::int64_t piece) {
  constexpr auto size = static_cast<std::size_t>(PieceHash::kPieceBytes);
  const std::size_t begin = static_cast<std::size_t>(piece) * size;
  return section.subspan(begin, std::min(size, section.size() - begin));
}

// Those of the ids, offsets and names, which each rank needs whole.
void read_small_sections(const std::string& path, const FixedHeader& header,
                         const Sections& sections, FileCopy& file, ThreadTeam& team) {
  for (std::size_t s = kRatingSections; s < sections_in(header); ++s) {
    if (s == kPartsSection || s == kTimesSection) continue;
    PieceHash hash(sections[s], s);
    team.for_chunks(hash.pieces(), 1, [&](std::int64_t i, std::int64_t) {
      file.read(piece_of(sections[s], i));
      hash.take(i);
    });
    check_sum(path, header, s, hash);
  }
}

template <class T>
std::span<const T> typed(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// ---- over ranks ----

// The pieces of a section in which the bytes [begin, end) lie.
struct PieceRange {
  std::int64_t begin, end;
};
PieceRange pieces_over(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return {0, 0};
  constexpr auto size = static_cast<std::uint64_t>(PieceHash::kPieceBytes);
  return {static_cast<std::int64_t>(begin / size), static_cast<std::int64_t>((end - 1) / size) + 1};
}

// One section, of which each rank reads and hashes the pieces over its own elements. A piece
// over elements of several ranks is hashed by all of these, since their files may be copies.
class SharedSection {
 public:
  SharedSection(std::span<const std::byte> section, std::size_t number, std::uint64_t element,
                const PartOffsets& elements, int ranks)
      : bytes_(section), hash_(section, number), section_(number) {
    for (int rank = 0; rank < ranks; ++rank) {
      of_rank_.push_back(pieces_over(static_cast<std::uint64_t>(elements[rank]) * element,
                                     static_cast<std::uint64_t>(elements[rank + 1]) * element));
    }
  }

  PieceRange own(int rank) const { return of_rank_[static_cast<std::size_t>(rank)]; }
  void read(FileCopy& file, std::int64_t piece) {
    file.read(piece_of(bytes_, piece));
    hash_.take(piece);
  }
  void read_to(const FileCopy& file, std::int64_t piece, std::byte* to) {
    const auto part = piece_of(bytes_, piece);
    file.read_to(to, part);
    hash_.take(piece, {to, part.size()});
  }

  // After all ranks have taken theirs.
  void check(const std::string& path, const FixedHeader& header, Communicator& ranks) {
    const PieceRange mine = own(ranks.rank());
    PartOffsets parts = {0};
    for (const PieceRange& one : of_rank_) parts.push_back(parts.back() + one.end - one.begin);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(parts.back()));
    for (std::int64_t piece = mine.begin; piece < mine.end; ++piece)
      all[static_cast<std::size_t>(parts[ranks.rank()] + piece - mine.begin)] = hash_.piece(piece);
    ranks.all_gather(std::span(all), parts);
    bool same = true;
    std::int64_t known = 0;  // pieces before it
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const PieceRange theirs = own(rank);
      for (std::int64_t piece = theirs.begin; piece < theirs.end; ++piece) {
        const std::uint64_t found =
            all[static_cast<std::size_t>(parts[rank] + piece - theirs.begin)];
        if (piece < known) same = same && hash_.piece(piece) == found;
        hash_.set_piece(piece, found);
      }
      known = std::max(known, theirs.end);
    }
    if (!same) {
      fail(
          ErrorKind::data,
          "{}: the ranks have read different files: the section {} differs; copy that of rank 0 to "
          "the other machines",
          path, kSectionNames[section_]);
    }
    check_sum(path, header, section_, hash_);
  }

 private:
  std::span<const std::byte> bytes_;
  PieceHash hash_;
  std::size_t section_;
  std::vector<PieceRange> of_rank_;
};

// The times of a rank's ratings.
void read_times(const std::string& path, const FixedHeader& header, const Sections& sections,
                FileCopy& file, const PartOffsets& own, Communicator& ranks, ThreadTeam& team) {
  SharedSection sum(sections[kTimesSection], kTimesSection, sizeof(RatingTime), own, ranks.size());
  const View<const RatingTime> all = typed<RatingTime>(sections[kTimesSection]);
  std::atomic<std::int64_t> wrong{-1};
  ranks.agree([&] {
    const PieceRange pieces = sum.own(ranks.rank());
    team.for_chunks(pieces.end - pieces.begin, 1, [&](std::int64_t number, std::int64_t) {
      constexpr std::int64_t kTimes = PieceHash::kPieceBytes / sizeof(RatingTime);
      const std::int64_t piece = pieces.begin + number;
      sum.read(file, piece);
      const auto begin = all.begin() + piece * kTimes;
      const auto end = all.begin() + std::min((piece + 1) * kTimes, all.size());
      const auto beyond = std::find_if(
          begin, end, [&](const auto& one) { return one.place < 0 || one.place >= all.size(); });
      if (beyond != end) wrong = beyond - all.begin();
    });
  });
  sum.check(path, header, ranks);
  ranks.agree([&] {
    if (wrong < 0) return;
    fail(ErrorKind::data, "{}: the cache is corrupt: rating {} is the {}th in time of {}", path,
         wrong.load(), all[wrong].place, all.size());
  });
}

// Checksums say that the file is as it was written, not by whom: so ratings are looked at, too,
// while a piece of them is in a cache for its checksum.
void read_ratings(const std::string& path, const FixedHeader& header, const Sections& sections,
                  const Ratings& ratings, FileCopy& file, const PartOffsets& own,
                  Communicator& ranks, ThreadTeam& team) {
  std::vector<SharedSection> sums;
  for (std::size_t s = 0; s < kRatingSections; ++s)
    sums.emplace_back(sections[s], s, 4, own, ranks.size());
  const std::int64_t begin = own[ranks.rank()];
  const std::int64_t end = own[ranks.rank() + 1];
  std::atomic<std::int64_t> wrong{end};
  const auto note = [&](std::int64_t at) {
    for (std::int64_t seen = wrong; at < seen && !wrong.compare_exchange_weak(seen, at);) {
    }
  };
  const auto look = [&](std::int64_t piece) {
    const std::int64_t from = std::clamp(piece * kPieceRatings, begin, end);
    const std::int64_t to = std::clamp((piece + 1) * kPieceRatings, begin, end);
    if (const std::int64_t first = first_wrong(ratings, from, to); first < to) note(first);
  };
  ranks.agree([&] {
    const PieceRange pieces = sums.front().own(ranks.rank());
    team.for_chunks(pieces.end - pieces.begin, 1, [&](std::int64_t number, std::int64_t) {
      for (SharedSection& sum : sums) sum.read(file, pieces.begin + number);
      look(pieces.begin + number);
    });
    for (std::int64_t at = (pieces.begin + 1) * kPieceRatings; at < end; at += kPieceRatings)
      if (!ascends(ratings, at)) note(at);
  });
  for (SharedSection& sum : sums) sum.check(path, header, ranks);
  ranks.agree([&] {
    if (wrong < end) fail_wrong(ratings, wrong, path + ": the cache is corrupt");
  });
}

// Those of a given split.
void read_labels(const std::string& path, const FixedHeader& header, const Sections& sections,
                 FileCopy& file, const PartOffsets& own, Communicator& ranks, ThreadTeam& team) {
  SharedSection sum(sections[kPartsSection], kPartsSection, header.n_parts > 0 ? 1 : 0, own,
                    ranks.size());
  ranks.agree([&] {
    const PieceRange labels = sum.own(ranks.rank());
    team.for_chunks(labels.end - labels.begin, 1, [&](std::int64_t number, std::int64_t) {
      sum.read(file, labels.begin + number);
    });
  });
  sum.check(path, header, ranks);
}

// The columns of a cache file while they are cut. What is wrong with them is found, but not told in
// detail: whoever reads the file once more, as a whole, is told.
class CacheColumns : public UnreadRatings {
 public:
  CacheColumns(std::string path, const FixedHeader& header, const Sections& sections, FileCopy file,
               const Ratings& heads, const PartOffsets& own, Communicator& ranks)
      : path_(std::move(path)),
        header_(header),
        file_(std::move(file)),
        heads_(heads),
        begin_(own[ranks.rank()]),
        end_(own[ranks.rank() + 1]),
        items_(sections[1], 1, 4, own, ranks.size()),
        values_(sections[2], 2, 4, own, ranks.size()),
        pieces_(items_.own(ranks.rank())),
        ends_(static_cast<std::size_t>(pieces_.end - pieces_.begin)) {}

  std::int64_t piece() const override { return kPieceRatings; }

  void read(std::int64_t number, const Use& use) override {
    const Loan loan(*this);
    Buffer& buffer = *loan.buffer;
    items_.read_to(file_, number, std::as_writable_bytes(std::span(buffer.items)).data());
    values_.read_to(file_, number, std::as_writable_bytes(std::span(buffer.values)).data());
    const std::int64_t first = number * kPieceRatings;
    const std::int64_t from = std::max(first, begin_);
    const std::int64_t to = std::min(first + kPieceRatings, end_);
    const std::int32_t* const items = buffer.items.data() + (from - first);
    if (!are_sound(heads_, items, buffer.values.data() + (from - first), from, to)) fail_corrupt();
    ends_[static_cast<std::size_t>(number - pieces_.begin)] = {items[0], items[to - from - 1]};
    use(buffer.items.data(), buffer.values.data());
  }

  void check(Communicator& ranks) override {
    items_.check(path_, header_, ranks);
    values_.check(path_, header_, ranks);
    ranks.agree([&] {
      const auto offsets = heads_.user_offsets();
      for (std::size_t k = 1; k < ends_.size(); ++k) {
        const std::int64_t at = (pieces_.begin + static_cast<std::int64_t>(k)) * kPieceRatings;
        const bool begins_row = std::binary_search(offsets.begin(), offsets.end(), at);
        if (!begins_row && ends_[k - 1].last >= ends_[k].first) fail_corrupt();
      }
    });
  }

 private:
  struct Buffer {
    AlignedVector<std::int32_t> items = AlignedVector<std::int32_t>(kPieceRatings);
    AlignedVector<float> values = AlignedVector<float>(kPieceRatings);
  };
  struct Ends {
    std::int32_t first, last;  // items of a piece
  };
  // As many buffers as threads read at once, each used again.
  struct Loan {
    explicit Loan(CacheColumns& owner) : of(owner) {
      const std::lock_guard lock(of.mutex_);
      if (of.idle_.empty()) of.idle_.push_back(std::make_unique<Buffer>());
      buffer = std::move(of.idle_.back());
      of.idle_.pop_back();
    }
    ~Loan() {
      const std::lock_guard lock(of.mutex_);
      of.idle_.push_back(std::move(buffer));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    CacheColumns& of;
    std::unique_ptr<Buffer> buffer;
  };

  [[noreturn]] void fail_corrupt() const {
    fail(ErrorKind::data, "{}: the cache is corrupt: its ratings", path_);
  }

  const std::string path_;
  const FixedHeader header_;
  const FileCopy file_;
  const Ratings heads_;
  const std::int64_t begin_, end_;  // the own ratings
  SharedSection items_, values_;
  const PieceRange pieces_;
  std::vector<Ends> ends_;  // of the own pieces
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> idle_;
};

// No names where the sections are empty.
IdNames names_of(const Sections& sections, std::size_t first,
                 const std::shared_ptr<const void>& owner) {
  return {typed<std::int64_t>(sections[first]), typed<char>(sections[first + 1]), owner};
}

Ratings::Views views_of(const Sections& sections, const std::shared_ptr<const void>& owner) {
  Ratings::Views views;
  views.users = typed<std::int32_t>(sections[0]);
  views.items = typed<std::int32_t>(sections[1]);
  views.values = typed<float>(sections[2]);
  views.user_offsets = typed<std::int64_t>(sections[3]);
  views.user_ids = typed<std::int32_t>(sections[4]);
  views.item_ids = typed<std::int32_t>(sections[5]);
  views.user_names = names_of(sections, 7, owner);
  views.item_names = names_of(sections, 9, owner);
  return views;
}

void check_parts(const std::string& path, std::span<const std::uint8_t> parts) {
  const auto wrong =
      std::ranges::find_if(parts, [](std::uint8_t part) { return part > kValidation; });
  if (wrong == parts.end()) return;
  fail(ErrorKind::data, "{}: the cache is corrupt: rating {} is of part {}, which does not exist",
       path, wrong - parts.begin(), *wrong);
}

// The cached data set, or nothing and why it cannot be used (no reason where there is no file).
std::optional<Dataset> usable(const std::string& path, const std::string& key, int threads,
                              bool times, std::string& why_not) {
  why_not.clear();
  if (std::error_code error; !fs::exists(path, error)) return std::nullopt;
  try {
    const CacheHead head = read_cache_head(path);
    if (head.key == key && times && !head.has_times) return std::nullopt;
    if (head.key == key) return read_cache(path, threads, times);
    why_not = fmt::format("{}: the cache is stale: its source or the options have changed", path);
  } catch (const Error& error) {
    why_not = error.what();
  }
  return std::nullopt;
}

// Null where the folder takes no files.
std::unique_ptr<FileClaim> try_claim(const std::string& path, std::string& why_not) {
  try {
    make_parent_folder(path);
    if (auto claim = FileClaim::if_free(path)) return claim;
  } catch (const Error& error) {
    why_not = error.what();
    return nullptr;
  }
  return std::make_unique<FileClaim>(path);  // throws what ends its wait
}

std::string folder_without_home() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  std::error_code error;
  const fs::path home = found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
  if (home.has_relative_path() && fs::is_directory(home, error)) {
    return (home / ".cache" / "mfbench").string();
  }
  return ".mfbench-cache";
}

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("MFBENCH_CACHE"); own != nullptr && *own != '\0') return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    return (fs::path(xdg) / "mfbench").string();
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return (fs::path(home) / ".cache" / "mfbench").string();
  }
  static const std::string instead = [] {
    std::string folder = folder_without_home();
    warn("HOME is not set: the cache is in {}; MFBENCH_CACHE says where it should be", folder);
    return folder;
  }();
  return instead;
}

CacheHead read_cache_head(const std::string& path) {
  return of_whole_files([&] {
    const Bytes mapped = map_file(path, Origin::found);
    return head_of(path, checked_header(path, mapped), bytes_of(mapped));
  });
}

void write_cache(const std::string& path, const Dataset& data, int threads, const std::string& key,
                 bool replace) {
  make_parent_folder(path);
  const FileClaim claim(path);
  if (std::error_code error; !replace && fs::exists(path, error)) {
    fail(ErrorKind::usage, "{}: was made meanwhile, by another process", path);
  }
  write_claimed(claim, path, data, key, threads, Flush::to_disk);
}

void remove_cache(const std::string& path) {
  const FileClaim claim(path);
  std::error_code error;
  fs::remove(path, error);
  if (error) fail(ErrorKind::io, "{}: cannot be removed: {}", path, cause_of(error.value()));
}

Dataset read_cache(const std::string& path, int threads, bool times, ReadColumns columns) {
  const auto start = Clock::now();
  Communicator self;
  CacheSlice whole = read_cache_slice(path, self, threads, times, columns);
  check_parts(path, whole.parts.span());
  Dataset data = std::move(whole.data);
  data.parts.assign(whole.parts.begin(), whole.parts.end());
  data.load.cache = seconds_since(start);
  return data;
}

CacheSlice read_cache_slice(const std::string& path, Communicator& ranks, int threads, bool times,
                            ReadColumns columns) {
  const auto start = Clock::now();
  CacheSlice slice;
  FixedHeader header;
  Sections sections;
  std::optional<FileCopy> file;
  std::optional<ThreadTeam> team;
  ranks.agree([&] {
    file.emplace(copy_with_head(path));
    header = checked_header(path, file->bytes());
    check_sizes(path, header, file->bytes().size());
    slice.data.info = head_of(path, header, file->bytes()).info;
    team.emplace(useful_threads(threads, header.nnz / ranks.size()));
    sections = cut_sections(header, file->bytes());
    read_small_sections(path, header, sections, *file, *team);
    slice.data.ratings = Ratings(views_of(sections, file->owner()), file->owner());
    if (times) slice.data.times = {typed<RatingTime>(sections[kTimesSection]), file->owner()};
    check_heads(slice.data.ratings, *team, path + ": the cache is corrupt");
  });
  const Ratings& ratings = slice.data.ratings;
  check_same_data(path, slice.data, ranks);
  slice.users = cut_users_evenly(ratings.user_offsets(), ranks.size());
  PartOffsets own;
  for (const std::int64_t user : slice.users)
    own.push_back(ratings.nnz() == 0 ? 0 : ratings.user_offsets()[user]);
  if (columns == ReadColumns::now)
    read_ratings(path, header, sections, ratings, *file, own, ranks, *team);
  read_labels(path, header, sections, *file, own, ranks, *team);
  if (!slice.data.times.empty()) read_times(path, header, sections, *file, own, ranks, *team);
  slice.parts = typed<std::uint8_t>(sections[kPartsSection]);
  if (columns == ReadColumns::when_cut)
    slice.data.unread = std::make_shared<CacheColumns>(path, header, sections, std::move(*file),
                                                       ratings, own, ranks);
  slice.data.load.cache = seconds_since(start);
  return slice;
}

Dataset cached(const std::string& path, const std::string& key,
               const std::function<Dataset()>& build, int threads, bool times) {
  std::string why_stale;
  if (auto data = usable(path, key, threads, times, why_stale)) return std::move(*data);
  std::string why_unclaimed;
  const auto claim = try_claim(path, why_unclaimed);
  if (claim) {
    // Whoever had the claim may have built what is wanted here.
    if (auto data = usable(path, key, threads, times, why_stale)) return std::move(*data);
  }
  if (!why_stale.empty()) warn("{}; rebuilding it", why_stale);
  Dataset data = build();
  if (data.info.content_hash == 0) data.info.content_hash = content_hash(data.ratings, threads);
  const auto start = Clock::now();
  try {
    if (!claim) fail(ErrorKind::io, "{}", why_unclaimed);
    write_claimed(*claim, path, data, key, threads, Flush::later);
  } catch (const Error& error) {
    warn("not cached, will be built again next time: {}", error.what());
  }
  data.load.cache = seconds_since(start);
  return data;
}

}  // namespace mf
