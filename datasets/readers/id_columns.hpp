// Internal: columns of ids, which are integers or names (datasets/ratings/ids/id_names.hpp).
//
// One kind a column. If it is not given, a column holds integers until it meets something else: a
// name, an integer of more than 31 bits, zeros in front. Then the file is read again with names in
// it. Numbers among names are names. What is more likely a slip than a name stays an error: 7.0,
// nan.
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

// Thrown by parse_lines if ids of a column turn out to be names.
struct NamesFound {
  bool users = false;  // else items
};

// Reads with integers in both columns, unless they are text, and again where that turns out wrong.
template <class Read>
auto read_with_names(IdKind kind, const Read& read) {
  for (NamedColumns named{kind == IdKind::text, kind == IdKind::text};;) {
    try {
      return read(named);
    } catch (const NamesFound& found) {
      (found.users ? named.users : named.items) = true;
    }
  }
}

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
