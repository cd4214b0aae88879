// Matrix Market coordinate files (https://math.nist.gov/MatrixMarket/formats.html): rows are users,
// columns are items, ids are the 1-based indices.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

struct MatrixHeader {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int64_t entries = 0;
  bool integer = false;
  bool pattern = false;    // no values: observed pairs
  bool symmetric = false;  // only entries on or below the diagonal
  std::size_t bytes = 0;   // up to the first entry
};

constexpr const char* kBanner =
    "%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric";

std::vector<std::string> lower_case_words(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : line) {
    const bool blank = is_blank(c) || c == '\r';
    if (!blank && !inside) words.emplace_back();
    if (!blank) words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    inside = !blank;
  }
  return words;
}

void read_banner(const std::string& line, MatrixHeader& header) {
  const auto words = lower_case_words(std::string_view(line).substr(0, line.size() - 1));
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw LineError{line.data(), found, expected, fmt::format("write the matrix as '{}'", kBanner)};
  };
  if (words.size() != 5 || words[0] != "%%matrixmarket") {
    refuse(in_quotes(std::string_view(line).substr(0, line.size() - 1)),
           "the banner of the format");
  }
  if (words[1] != "matrix") refuse("a " + in_quotes(words[1]), "a matrix");
  if (words[2] != "coordinate") refuse("a matrix of format " + in_quotes(words[2]), "'coordinate'");
  header.integer = words[3] == "integer";
  header.pattern = words[3] == "pattern";
  if (!header.integer && !header.pattern && words[3] != "real") {
    refuse("entries of type " + in_quotes(words[3]), "'real', 'integer' or 'pattern'");
  }
  header.symmetric = words[4] == "symmetric";
  if (!header.symmetric && words[4] != "general") {
    refuse("a matrix of symmetry " + in_quotes(words[4]), "'general' or 'symmetric'");
  }
}

std::uint64_t read_size(const char*& p, const char* what, std::uint64_t max) {
  while (is_blank(*p)) ++p;
  const char* begin = p;
  std::uint64_t size = 0;
  if (!read_integer(p, max, size) || !(is_blank(*p) || at_line_end(p))) {
    fail_field(begin, fmt::format("the number of {} (rows columns entries, up to {})", what, max));
  }
  return size;
}

void read_sizes(const std::string& line, MatrixHeader& header) {
  constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();
  const char* p = line.data();
  header.rows = static_cast<std::int32_t>(read_size(p, "rows", kMaxIndex));
  header.columns = static_cast<std::int32_t>(read_size(p, "columns", kMaxIndex));
  constexpr std::uint64_t kMaxEntries = std::numeric_limits<std::int64_t>::max();
  header.entries = static_cast<std::int64_t>(read_size(p, "entries", kMaxEntries));
  if (header.symmetric && header.rows != header.columns) {
    throw LineError{line.data(), fmt::format("{} rows and {} columns", header.rows, header.columns),
                    "as many of each, as the matrix is symmetric", ""};
  }
  while (is_blank(*p)) ++p;
  read_line_end(p, "rows columns entries");
}

MatrixHeader read_header(const Text& text) {
  MatrixHeader header;
  const std::string_view view = text.view();
  for (bool banner = true;; banner = false) {
    const std::size_t begin = header.bytes;
    const std::size_t newline = std::min(view.find('\n', begin), view.size());
    const std::string line = std::string(view.substr(begin, newline - begin)) + '\n';
    header.bytes = std::min(newline + 1, view.size());
    try {
      if (begin == view.size()) {
        throw LineError{line.data(), "the end of the file", "a line rows columns entries", ""};
      }
      if (banner) {
        read_banner(line, header);
      } else if (line.front() != '%' && line.find_first_not_of(" \t\r\n") != std::string::npos) {
        read_sizes(line, header);
        return header;
      }
    } catch (const LineError& error) {
      fail_in_text(text, static_cast<std::int64_t>(begin) + (error.at - line.data()), error);
    }
  }
}

class Coordinates : public LineFormat {
 public:
  struct State {
    std::int64_t entry = 0;  // entries before this line
  };
  Coordinates(const ScaleCheck& scale, const MatrixHeader& header)
      : scale_(scale), header_(header) {}

  State next(State state, const ChunkScan& scan) const { return {state.entry + scan.lines}; }

  [[gnu::always_inline]] void line(const char*& p, State& state, RatingSink& out) const {
    skip_blanks(p);
    refuse_blank_line(p, columns());
    const char* first = p;
    if (state.entry++ == header_.entries) [[unlikely]] {
      throw LineError{p, fmt::format("more than {} entries", header_.entries),
                      "as many as the line of sizes declares", ""};
    }
    const std::int32_t user = index(p, "row", header_.rows);
    require_column(p);
    const std::int32_t item = index(p, "column", header_.columns);
    if (header_.symmetric && item > user) [[unlikely]] {
      fail_field(first, "an entry on or below the diagonal, as the matrix is symmetric");
    }
    out.add(user, item, header_.pattern ? 1 : entry_value(p));
    skip_blanks(p);
    read_line_end(p, columns());
  }

  void finish(const State& state, const char* end) const {
    if (state.entry == header_.entries) return;
    throw LineError{end - 1, fmt::format("the end of the file after {} entries", state.entry),
                    fmt::format("{}, as the line of sizes declares", header_.entries),
                    "the file may be cut short: fetch or write it again"};
  }

 private:
  static inline const std::string kLine = "row column value";
  static inline const std::string kPatternLine = "row column";
  const std::string& columns() const { return header_.pattern ? kPatternLine : kLine; }

  [[gnu::always_inline]] void require_column(const char* p) const {
    if (at_line_end(p)) [[unlikely]]
      fail_field(p, "another column (" + columns() + ")");
  }

  [[gnu::always_inline]] float entry_value(const char*& p) const {
    require_column(p);
    const char* begin = p;
    const float value = read_rating(p, scale_);
    if (header_.integer && value != std::trunc(value)) [[unlikely]] {
      fail_field(begin, "an integer, as the banner says");
    }
    if (!is_blank(*p) && !at_line_end(p)) [[unlikely]]
      fail_field(begin, scale_.describe());
    return value;
  }

  static void skip_blanks(const char*& p) {
    const char* q = p;
    while (is_blank(*q)) ++q;
    p = q;
  }

  [[gnu::always_inline]] static std::int32_t index(const char*& p, const char* what,
                                                   std::int32_t size) {
    const char* begin = p;
    std::uint64_t value = 0;
    if (!read_integer_of_line(p, static_cast<std::uint64_t>(size), value) || value == 0 ||
        !(is_blank(*p) || at_line_end(p))) [[unlikely]] {
      fail_field(begin, fmt::format("a {} from 1 to {}", what, size));
    }
    skip_blanks(p);
    return static_cast<std::int32_t>(value);
  }

  const ScaleCheck& scale_;
  MatrixHeader header_;
};

// Entries below the diagonal stand above it, too.
void add_mirrored(RawRatings& raw) {
  const std::int64_t count = std::ssize(raw.values);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int32_t row = raw.users[k], column = raw.items[k];
    if (row == column) continue;
    raw.users.push_back(column);
    raw.items.push_back(row);
    raw.values.push_back(raw.values[k]);
  }
}

}  // namespace

RawRatings read_matrix_market(const Text& text, const ScaleCheck& scale,
                              const ParseOptions& options) {
  if (options.times) fail_without_times(text.path, "a matrix");
  const MatrixHeader header = read_header(text);
  if (header.pattern) check_pairs(text.path, scale);
  RawRatings raw = parse_lines(text, header.bytes, Coordinates(scale, header), options);
  if (raw.values.empty() && header.entries > 0) {
    fail_in_file(text.path, "no entries", fmt::format("{}, as declared", header.entries),
                 "the file may be cut short: fetch or write it again");
  }
  if (header.symmetric) add_mirrored(raw);
  return raw;
}

}  // namespace mf
