// Comma-separated values (RFC 4180 without line breaks inside quotes). A header names the columns;
// those besides user, item and rating may hold anything and are skipped. Without a header the
// columns are user, item and perhaps rating and time, or stand at the places that were asked for.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_words.hpp"
#include "datasets/readers/columns.hpp"
#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

std::string place_example() {
  return options_named ? "as in --columns user=#1,item=#3"
                       : R"(as in "columns": {"user": "#1", "item": "#3"})";
}

std::string names_advice() {
  return "name columns user, item and rating (or userId, movieId, score, plays, ...), or say "
         "with " +
         key_name("columns") + " which they are";
}

// Moves p over one field that may be quoted, to the separator or the end of the line.
void skip_quoted(const char*& p) {
  const char* begin = p++;
  while (*p != '"' || p[1] == '"') {
    if (*p == '\n') {
      throw LineError{begin, "a quote that is not closed on its line", "a closing quote",
                      "fields of several lines are not read"};
    }
    p += *p == '"' ? 2 : 1;
  }
  ++p;
}

// For a line without padding; lines of chunks have skip_to.
void skip_field(const char*& p, char separator, bool quotes = true) {
  if (quotes && *p == '"') skip_quoted(p);
  while (*p != separator && !at_line_end(p)) ++p;
}

struct Header {
  Roles roles;
  char separator = ',';
  bool quotes = true;     // a field may stand in them
  std::size_t bytes = 0;  // of the line; 0: without a header, the first line has values
};

struct Fields {
  std::vector<std::string> words;   // without quotes
  std::vector<const char*> begins;  // in the line
  const char* end = nullptr;
  char separator = ',';
};

// `line` ends in '\n'. Without quotes, these are characters of a field. The first separator counts
// unless one is given.
Fields split_line(const std::string& line, bool quotes = true, char separator = '\0') {
  Fields fields;
  if (const auto at = line.find_first_of(kCsvSeparators); at != line.npos)
    fields.separator = line[at];
  if (separator != '\0') fields.separator = separator;
  const char* p = line.data();
  for (;; ++p) {
    fields.begins.push_back(p);
    skip_field(p, fields.separator, quotes);
    const std::string_view field(fields.begins.back(), p);
    fields.words.push_back(quotes ? without_quotes(field) : std::string(field));
    if (*p != fields.separator) break;
  }
  fields.end = p;
  return fields;
}

// A line that is no rating is an error when it is parsed.
std::vector<std::string> csv_fields(const std::string& line, bool quotes = true,
                                    char separator = '\0') {
  try {
    return split_line(line, quotes, separator).words;
  } catch (const LineError&) {
    return {};
  }
}

// The columns of a file without a header: user, item, and perhaps rating and time.
Roles roles_by_place(std::size_t count) {
  Roles roles{{Role::user, Role::item, Role::rating, Role::time}};
  roles.of.resize(count);
  return roles;
}

// The roles given by place. Other columns have none and are skipped.
Roles roles_at_places(const Fields& fields, const ColumnNames& names) {
  const auto refuse = [&](std::string found, std::string expected) {
    throw LineError{fields.begins.front(), std::move(found), std::move(expected),
                    "give the place of each, " + place_example()};
  };
  const std::size_t count = fields.words.size();
  Roles roles{std::vector<Role>(count, Role::other)};
  for (const Role role : kRoles) {
    const std::string& name = names.of(role);
    const std::string what = "the " + kRoleNames.of(role);
    if (name.empty() && (role == Role::rating || role == Role::time)) continue;
    const std::size_t place = column_place(name).value_or(0);
    if (place == 0) refuse(in_quotes(name) + " for " + what, "its place, as of other columns");
    if (place > count) refuse(fmt::format("{} columns", count), name + " for " + what);
    Role& there = roles.of[place - 1];
    if (there != Role::other) {
      refuse(name + " for " + what, "another place than that of the " + kRoleNames.of(there));
    }
    there = role;
  }
  return roles;
}

std::string missing_column(const ColumnNames& names, Role role) {
  if (const std::string& name = names.of(role); !name.empty()) {
    return "a header with a column " + in_quotes(name);
  }
  return "a header with a column for the " + kRoleNames.of(role);
}

// Columns to read beside users and items.
struct Wanted {
  bool ratings = true, times = false;
  bool truths = false;  // the first line has true or false: not every line is observed
};

// A file of two columns needs no rating, nor does one of pairs.
void check_roles(const Roles& roles, const Fields& fields, const ColumnNames& names,
                 const Wanted& wanted) {
  const bool pairs = !wanted.ratings;
  for (const Role role : kRoles) {
    if (role == Role::time && !wanted.times) continue;
    const bool guessed = role == Role::rating && names.rating.empty();
    if (guessed && pairs) continue;
    if (const int rival = roles.rivals[static_cast<std::size_t>(role)]; rival >= 0) {
      const auto at = static_cast<std::size_t>(rival);
      throw LineError{
          fields.begins[at], in_quotes(fields.words[at]),
          role == Role::time ? "one column for the time"
                             : "one column each for user, item and rating",
          role == Role::time ? "say with " + key_name("columns") + " which it is" : names_advice()};
    }
    if (roles.has(role) || (guessed && fields.words.size() == 2)) continue;
    if (role == Role::time && names.time.empty()) continue;  // fail_without_times() says more
    const char* const begin = fields.begins.front();
    const std::string or_pairs =
        guessed && !wanted.truths
            ? ", or, if every line is an observed pair, " + set_key("format", {"pairs"})
            : "";
    throw LineError{begin, "the header " + in_quotes({begin, fields.end}),
                    missing_column(names, role), names_advice() + or_pairs};
  }
}

// A first line of numbers is neither a header nor a rating.
void refuse_numbers(const Fields& fields) {
  if (!std::all_of(fields.words.begin(), fields.words.end(),
                   [](const std::string& word) { return is_plain_number(word); }))
    return;
  const char* const begin = fields.begins.front();
  const bool commas = fields.separator == ',' && fields.words.size() == 4;
  throw LineError{begin, "the first line " + in_quotes({begin, fields.end}),
                  "a header, or the values of user, item and perhaps rating and time",
                  (commas ? comma_advice(fields.words[3]) + std::string(", or say") : "say") +
                      " the place of each, " + place_example()};
}

// `line` ends in '\n'.
Header read_header(const std::string& line, const ColumnNames& names, const Wanted& wanted) {
  const bool pairs = !wanted.ratings;
  // A file with tabs and no header comes from programs that know no quotes.
  const std::size_t separator = line.find_first_of(kCsvSeparators);
  const bool tabs = separator != line.npos && line[separator] == '\t';
  Header header;
  header.quotes = !(tabs && names.by_place());
  const Fields fields = split_line(line, header.quotes);
  header.separator = fields.separator;
  if (names.by_place()) {
    header.roles = roles_at_places(fields, names);
    if (!pairs && !header.roles.has(Role::rating) && fields.words.size() > 2) {
      throw LineError{fields.begins.front(), fmt::format("{} columns", fields.words.size()),
                      "the place of the rating among them",
                      "or, if every line is an observed pair, " + set_key("format", {"pairs"})};
    }
  } else if (!names.any() && is_csv_values(line, pairs)) {
    header.roles = roles_by_place(fields.words.size());
  } else {
    if (!names.any()) refuse_numbers(fields);
    header.roles = roles_of(fields.words, names);
    check_roles(header.roles, fields, names, wanted);
    header.bytes = line.size();
  }
  auto& of = header.roles.of;
  if (pairs) std::replace(of.begin(), of.end(), Role::rating, Role::other);
  if (!wanted.times) std::replace(of.begin(), of.end(), Role::time, Role::other);
  return header;
}

// For integer ids, or of names in some columns: the former knows nothing of names, to be fast.
template <bool kWithNames>
class Csv : public LineFormat {
 public:
  static constexpr bool kNames = kWithNames;

  Csv(const ScaleCheck& scale, Header header, NamedColumns named)
      : scale_(scale), header_(std::move(header)), named_(named) {}

  NamedColumns named() const { return named_; }

  void line(const char*& p, State&, RatingSink& out) const {
    if (at_line_end(p)) [[unlikely]] {
      fail_blank_line(p, columns());
    }
    std::int32_t user = 0;
    std::int32_t item = 0;
    float value = 1;
    const auto& roles = header_.roles.of;
    for (std::size_t c = 0; c < roles.size(); ++c) {
      if (c > 0) {
        if (at_line_end(p)) [[unlikely]]
          fail_field(p, columns());
        ++p;  // field() ends at a separator or at the end of the line
      }
      switch (roles[c]) {
        case Role::user:
          if (kNames && named_.users) {
            user = name(p, out.names->users, "user");
          } else {
            user = integer(p, out.ids, "user");
          }
          break;
        case Role::item:
          if (kNames && named_.items) {
            item = name(p, out.names->items, "item");
          } else {
            item = integer(p, out.ids, "item");
          }
          break;
        case Role::rating:
          field(p, nullptr, [&](const char*& q) { value = read_rating(q, scale_); });
          break;
        case Role::time:
          field(p, nullptr, [&](const char*& q) { out.times->read(q); });
          break;
        case Role::other:
          if (*p == '"' && header_.quotes) skip_quoted(p);
          skip_to(p, header_.separator);
          break;
      }
    }
    if (!at_line_end(p)) [[unlikely]] {
      fail_another(p);
    }
    read_line_end(p, "");
    out.add(user, item, value);
  }

 private:
  // Reads a number, perhaps in quotes, up to the separator or the end of the line. `id`: of what.
  template <class Read>
  void field(const char*& p, const char* id, const Read& read) const {
    const char* begin = p;
    const bool quote = *p == '"';
    if (quote) ++p;
    read(p);
    const bool closed = !quote || *p++ == '"';
    if (!closed || (*p != header_.separator && !at_line_end(p))) [[unlikely]] {
      fail_number_field(begin, id);
    }
  }

  std::int32_t integer(const char*& p, IdKind kind, const char* what) const {
    std::int32_t id = 0;
    field(p, what, [&](const char*& q) { id = read_id(q, what, kind); });
    return id;
  }

  [[noreturn]] void fail_number_field(const char* begin, const char* id) const {
    const char* end = begin;
    skip_field(end, header_.separator);
    const std::string expected = "a number and " + field_end();
    if (id != nullptr) fail_name_or_id(begin, end, expected, id);
    fail_number(begin, end, expected);
  }

  [[noreturn]] void fail_another(const char* p) const {
    const bool digits = header_.separator == ',' && is_digit(p[-1]) && is_digit(p[1]);
    const std::string comma = comma_advice({p + 1, mf::field_end(p + 1)});
    throw LineError{p, "another column", columns(),
                    digits ? "if the number has a comma, " + comma : ""};
  }

  std::int32_t name(const char*& p, NameCounter& names, const char* what) const {
    const char* begin = p;
    if (*begin != '"' || !header_.quotes) {
      skip_to(p, header_.separator);
      return number_name(names, begin, p, what);
    }
    skip_quoted(p);
    if (*p != header_.separator && !at_line_end(p)) {
      fail_field(begin, "a closing quote before " + field_end());
    }
    return number_quoted_name(names, begin, p, what);
  }

  std::string field_end() const {
    const char separator = header_.separator;
    return fmt::format("'{}' or the end of the line",
                       separator == '\t' ? "\\t" : std::string(1, separator));
  }

  std::string columns() const {
    return fmt::format("{} columns, as in the {}", header_.roles.of.size(),
                       header_.bytes > 0 ? "header" : "first line");
  }

  const ScaleCheck& scale_;
  Header header_;
  NamedColumns named_;
};

std::string line_at(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  return std::string(rest.substr(0, rest.find('\n'))) + '\n';
}

// Counts of a European file, whose thousands a point divides, look like decimals.
std::string remark_on_thousands(std::string_view lines, const Header& header) {
  const auto at = static_cast<std::size_t>(std::ranges::find(header.roles.of, Role::rating) -
                                           header.roles.of.begin());
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::string line = line_at(lines, begin);
    const auto fields = csv_fields(line, header.quotes, header.separator);
    const std::size_t point = at < fields.size() ? fields[at].find('.') : 0;
    if (point < 1 || point > 3 || fields[at].size() - point != 4) return "";
    begin += line.size();
  }
  return "; each value has three decimals: if its point divides thousands, take the point out";
}

RawRatings read_columns(const Text& text, const ScaleCheck& scale, const ParseOptions& options,
                        bool pairs) {
  const std::string line = line_at(text.view(), 0);
  Header header;
  try {
    const auto second = csv_fields(line_at(text.view(), std::min(line.size(), text.view().size())));
    const bool truths = std::ranges::any_of(second, is_truth_value);
    if (pairs && truths && !options.columns.any()) {
      throw LineError{line.data(), "true or false beside the pairs", "observed pairs only",
                      "write 1 and 0 as ratings, or, if false values count too, name user and item "
                      "with " +
                          key_name("columns")};
    }
    header = read_header(line, options.columns, {!pairs, options.times, truths});
  } catch (const LineError& error) {
    fail_in_text(text, error.at - line.data(), error);
  }
  if (!header.roles.has(Role::rating)) check_pairs(text.path, scale);
  if (options.times && !header.roles.has(Role::time))
    fail_without_times(text.path, (header.bytes > 0 ? "the header " : "the first rating ") +
                                      in_quotes(line.substr(0, line.find_first_of("\r\n"))));
  const std::size_t begin = std::min(header.bytes, text.view().size());
  if (options.columns_taken) {
    const auto fields = csv_fields(line_at(text.view(), begin), header.quotes, header.separator);
    *options.columns_taken = columns_taken(header.roles, fields, header.bytes > 0) +
                             remark_on_thousands(text.view().substr(begin), header);
  }
  const auto parse = [&](NamedColumns named) {
    return named.any() ? parse_lines(text, begin, Csv<true>(scale, header, named), options)
                       : parse_lines(text, begin, Csv<false>(scale, header, named), options);
  };
  RawRatings raw = read_with_names(options.ids, parse);
  // Of names, the header once more would be a pair.
  const auto again = text.view().find('\n' + line);
  if (pairs && header.bytes > 0 && again != std::string_view::npos)
    fail_in_text(text, static_cast<std::int64_t>(again) + 1, {nullptr, "", "a pair", ""});
  return raw;
}

}  // namespace

bool is_csv_values(const std::string& line, bool pairs) {
  const auto words = csv_fields(line);
  const auto is_id = [](const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
  };
  if (words.size() < 2 || words.size() > 4 || !is_id_name(words[0]) || !is_id_name(words[1])) {
    return false;
  }
  if (words.size() == 2) return is_id(words[0]) && is_id(words[1]);
  // A decimal comma makes a short fourth field: no time.
  constexpr std::size_t kShortestTime = 6;
  if (words.size() == 4 && words[3].size() < kShortestTime) return false;
  return is_plain_number(words[2]) || (pairs && is_id(words[0]) && is_id(words[1]));
}

bool is_csv_header(const std::string& line, const ColumnNames& names) {
  return is_header(csv_fields(line), names);
}

void check_pairs(const std::string& path, const ScaleCheck& scale) {
  if (scale.accepts(1)) return;
  fail_in_file(path, "observed pairs, of the value 1", scale.describe(),
               "leave " + key_name("rating_scale") + " out");
}

RawRatings read_csv(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  return read_columns(text, scale, options, false);
}

RawRatings read_csv_pairs(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  return read_columns(text, scale, options, true);
}

}  // namespace mf
