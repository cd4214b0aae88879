// A cache file over ranks; a whole one is that of one rank.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/file_copy.hpp"
#include "base/files/mapped_file.hpp"
#include "base/hash.hpp"
#include "base/threads.hpp"
#include "datasets/cache_file.hpp"
#include "datasets/ratings/canonical.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

// Its header is read, to be checked in the copy: before there is one, it is looked at in the file,
// so that no memory is asked for what is no cache.
FileCopy copy_with_head(const std::string& path) {
  const auto head = static_cast<std::size_t>(of_whole_files([&] {
    const Bytes mapped = map_file(path, Origin::found);
    return checked_header(path, std::as_bytes(std::span(mapped.view))).header_bytes;
  }));
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

// Reads the sections that each rank needs whole: ids, offsets and names.
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

void note_least(std::atomic<std::int64_t>& least, std::int64_t at) {
  for (std::int64_t seen = least; at < seen && !least.compare_exchange_weak(seen, at);) {
  }
}

// The own entries of a column beside the ratings. `is_wrong` finds an impossible entry, and
// `describe` completes the message for the first one.
template <class T, class IsWrong, class Describe>
void read_column(std::size_t number, const std::string& path, const FixedHeader& header,
                 const Sections& sections, FileCopy& file, const PartOffsets& own,
                 Communicator& ranks, ThreadTeam& team, const IsWrong& is_wrong,
                 const Describe& describe) {
  const View<const T> all = typed<T>(sections[number]);
  SharedSection sum(sections[number], number, all.empty() ? 0 : sizeof(T), own, ranks.size());
  std::atomic<std::int64_t> wrong{all.size()};
  ranks.agree([&] {
    const PieceRange pieces = sum.own(ranks.rank());
    team.for_chunks(pieces.end - pieces.begin, 1, [&](std::int64_t nth, std::int64_t) {
      const std::int64_t piece = pieces.begin + nth;
      sum.read(file, piece);
      const View<const T> entries = typed<T>(piece_of(sections[number], piece));
      const auto first = std::find_if(entries.begin(), entries.end(), is_wrong);
      if (first != entries.end()) note_least(wrong, first - all.begin());
    });
  });
  sum.check(path, header, ranks);
  ranks.agree([&] {
    if (wrong < all.size())
      fail(ErrorKind::data, "{}: the cache is corrupt: rating {} {}", path, wrong.load(),
           describe(all[wrong]));
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
  const auto look = [&](std::int64_t piece) {
    const std::int64_t from = std::clamp(piece * kPieceRatings, begin, end);
    const std::int64_t to = std::clamp((piece + 1) * kPieceRatings, begin, end);
    if (const std::int64_t first = first_wrong(ratings, from, to); first < to)
      note_least(wrong, first);
  };
  ranks.agree([&] {
    const PieceRange pieces = sums.front().own(ranks.rank());
    team.for_chunks(pieces.end - pieces.begin, 1, [&](std::int64_t number, std::int64_t) {
      for (SharedSection& sum : sums) sum.read(file, pieces.begin + number);
      look(pieces.begin + number);
    });
    for (std::int64_t at = (pieces.begin + 1) * kPieceRatings; at < end; at += kPieceRatings)
      if (!ascends(ratings, at)) note_least(wrong, at);
  });
  for (SharedSection& sum : sums) sum.check(path, header, ranks);
  ranks.agree([&] {
    if (wrong < end) fail_wrong(ratings, wrong, path + ": the cache is corrupt");
  });
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
    thread_local Buffer buffer;
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

}  // namespace

Dataset read_cache(const std::string& path, int threads, bool times) {
  Communicator self;
  return read_cache_slice(path, self, threads, times).data;
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
  read_column<std::uint8_t>(
      kPartsSection, path, header, sections, *file, own, ranks, *team,
      [](std::uint8_t part) { return part > kValidation; },
      [](std::uint8_t part) { return fmt::format("is of part {}, which does not exist", part); });
  slice.data.parts = {typed<std::uint8_t>(sections[kPartsSection]), file->owner()};
  if (!slice.data.times.empty())
    read_column<RatingTime>(
        kTimesSection, path, header, sections, *file, own, ranks, *team,
        [&](const RatingTime& one) { return one.place < 0 || one.place >= header.nnz; },
        [&](const RatingTime& one) {
          return fmt::format("is the {}th in time of {}", one.place, header.nnz);
        });
  if (columns == ReadColumns::when_cut)
    slice.data.unread = std::make_shared<CacheColumns>(path, header, sections, std::move(*file),
                                                       ratings, own, ranks);
  slice.data.load.cache = seconds_since(start);
  return slice;
}

}  // namespace mf
