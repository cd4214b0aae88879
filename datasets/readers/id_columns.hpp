// Internal: columns of ids, which are integers or names (datasets/ratings/ids/id_names.hpp).
//
// One kind a column. If it is not given, the first rating of the file decides: a number, even one
// too large, negative or with a fraction, means integers; any other field means names. So a slip in
// a column of integers stays an error, and numbers among names are names.
//
// Names are numbered in the order in which a chunk of text meets them; when all chunks are parsed,
// these numbers are replaced by the rows of all names in ascending order. So the result knows
// nothing of chunks and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/readers/fields.hpp"

namespace mf {

// Which columns hold names.
struct NamedColumns {
  bool users = false;
  bool items = false;
  bool any() const { return users || items; }
};

// By the fields of the first rating, without quotes.
NamedColumns named_columns(IdKind kind, std::string_view first_user, std::string_view first_item);

// Throws Error(usage) for formats whose ids are integers by definition.
void refuse_names(IdKind kind, const std::string& path, const char* format);

// Distinct names, numbered in order of appearance.
class NameCounter {
 public:
  // The number of a name, which is copied: a file may change under its view. -1 if the text is not
  // a name.
  std::int32_t number(std::string_view name);

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  void grow();
  std::string_view copy(std::string_view name);

  std::vector<std::string_view> names_;
  std::vector<std::int32_t> slots_;              // a hash table with open addressing; -1: free
  std::vector<std::unique_ptr<char[]>> copies_;  // blocks
  std::size_t left_ = 0;                         // in the last block
};

// The names that a chunk met.
struct ChunkNames {
  NameCounter users, items;
};

// Integer ids with zeros in front, of one column of a chunk: 007 is 7.
struct PaddedIds {
  std::uint32_t widths = 0;  // bit w: one has w digits
  std::int64_t count = 0;
  std::string first;

  // An id of a user or an item, which is noted if it is padded.
  [[gnu::always_inline]] std::int32_t read(const char*& p, const char* what) {
    const char* begin = p;
    const std::int32_t id = read_id(p, what, kNamesAdvice);
    if (*begin == '0') [[unlikely]]
      note(begin, p);
    return id;
  }
  void note(const char* begin, const char* end) {
    if (end - begin < 2 || end - begin > 31) return;
    if (count++ == 0) first.assign(begin, end);
    widths |= 1U << (end - begin);
  }
};

struct ChunkPadding {
  PaddedIds users, items;
};

// Warns once a column if its ids are not all filled up to one length with zeros: 007 and 7 may both
// be there, and count as one. `path` is for the message.
void warn_of_padding(const std::string& path, const RawRatings& raw,
                     const std::vector<ChunkPadding>& chunks);

// The number of the name at [begin, end); `what`: "user" or "item". Throws LineError.
std::int32_t number_name(NameCounter& names, const char* begin, const char* end, const char* what);
// The same for a field of a csv file in quotes, of which two stand for one.
std::int32_t number_quoted_name(NameCounter& names, const char* begin, const char* end,
                                const char* what);
std::string without_quotes(std::string_view field);

// All names, ascending; row_of[c][k] is the row of name k of counter c.
struct MergedNames {
  IdNames names;
  std::vector<std::vector<std::int32_t>> row_of;
};
// Throws Error(data) if there are more than 2^31 - 1.
MergedNames merge_names(const std::vector<const NameCounter*>& counters);

// Replaces the numbers of chunk c, at [first[c], first[c] + written[c]), by rows of all names.
void number_rows(RawRatings& raw, const NamedColumns& columns,
                 const std::vector<ChunkNames>& chunks, const std::vector<std::int64_t>& first,
                 const std::vector<std::int64_t>& written, ThreadTeam& team);

}  // namespace mf
