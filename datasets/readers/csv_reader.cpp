// Comma-separated values with a header that names the columns (RFC 4180 without line breaks inside
// quotes). Columns other than user, item and rating may hold anything and are skipped.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

enum class Role { user, item, rating, other };

constexpr const char* kAdvice =
    "name three columns user, item and rating (or userId, movieId, score, ...)";

// Lower case, without '_', '-' and blanks: "User_ID" is "userid".
std::string normal(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Role role_of(std::string_view name) {
  static const std::vector<std::vector<std::string>> names = {
      {"user", "userid", "uid", "customer", "customerid", "reviewerid"},
      {"item", "itemid", "iid", "movie", "movieid", "product", "productid", "track", "trackid",
       "song", "songid", "artist", "artistid", "book", "bookid", "anime", "animeid", "joke",
       "jokeid"},
      {"rating", "score", "stars", "value", "weight", "plays"}};
  const std::string wanted = normal(name);
  for (std::size_t role = 0; role < names.size(); ++role) {
    if (std::find(names[role].begin(), names[role].end(), wanted) != names[role].end()) {
      return static_cast<Role>(role);
    }
  }
  return Role::other;
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

// Of a line without padding; those of chunks have skip_to.
void skip_field(const char*& p, char separator) {
  if (*p == '"') skip_quoted(p);
  while (*p != separator && !at_line_end(p)) ++p;
}

struct Header {
  std::vector<Role> roles;
  char separator = ',';
};

// `line` ends in '\n'.
Header read_header(const std::string& line) {
  Header header;
  const std::size_t separator = line.find_first_of(",;\t");
  if (separator != std::string::npos) header.separator = line[separator];
  const char* p = line.data();
  for (;;) {
    const char* begin = p;
    skip_field(p, header.separator);
    std::string_view name(begin, p);
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    const Role role = role_of(name);
    if (role != Role::other &&
        std::find(header.roles.begin(), header.roles.end(), role) != header.roles.end()) {
      throw LineError{begin, in_quotes(name), "one column each for user, item and rating", kAdvice};
    }
    header.roles.push_back(role);
    if (*p != header.separator) break;
    ++p;
  }
  for (const Role role : {Role::user, Role::item, Role::rating}) {
    if (std::find(header.roles.begin(), header.roles.end(), role) != header.roles.end()) continue;
    const char* missing = role == Role::user ? "user" : role == Role::item ? "item" : "rating";
    const std::string_view all(line.data(), p);
    throw LineError{line.data(), "the header " + in_quotes(all),
                    fmt::format("a header with a column for the {}", missing), kAdvice};
  }
  return header;
}

// Of integer ids, or of names in some columns: the former knows nothing of names, to be fast.
template <bool kWithNames>
class Csv : public LineFormat {
 public:
  static constexpr bool kNames = kWithNames;

  Csv(const ScaleCheck& scale, Header header, NamedColumns named)
      : scale_(scale), header_(std::move(header)), named_(named) {}

  NamedColumns named() const { return named_; }

  void line(const char*& p, State&, RatingSink& out) const {
    if (at_line_end(p)) [[unlikely]] {
      throw LineError{p, "a blank line", columns(), ""};
    }
    std::int32_t user = 0;
    std::int32_t item = 0;
    float value = 0;
    for (std::size_t c = 0; c < header_.roles.size(); ++c) {
      if (c > 0) {
        if (at_line_end(p)) [[unlikely]]
          fail_field(p, columns());
        ++p;  // field() ends at a separator or at the end of the line
      }
      switch (header_.roles[c]) {
        case Role::user:
          if (kNames && named_.users) {
            user = name(p, out.names->users, "user");
          } else {
            field(p, [&](const char*& q) { user = read_id(q, "user", kNamesAdvice); });
          }
          break;
        case Role::item:
          if (kNames && named_.items) {
            item = name(p, out.names->items, "item");
          } else {
            field(p, [&](const char*& q) { item = read_id(q, "item", kNamesAdvice); });
          }
          break;
        case Role::rating:
          field(p, [&](const char*& q) { value = read_rating(q, scale_); });
          break;
        case Role::other:
          if (*p == '"') skip_quoted(p);
          skip_to(p, header_.separator);
          break;
      }
    }
    if (!at_line_end(p)) [[unlikely]] {
      throw LineError{p, "another column", columns(), ""};
    }
    read_line_end(p, "");
    out.add(user, item, value);
  }

 private:
  // Reads a number, perhaps in quotes, up to the separator or the end of the line.
  template <class Read>
  void field(const char*& p, const Read& read) const {
    const char* begin = p;
    const bool quote = *p == '"';
    if (quote) ++p;
    read(p);
    const bool closed = !quote || *p++ == '"';
    if (!closed || (*p != header_.separator && !at_line_end(p))) [[unlikely]] {
      fail_up_to(begin, header_.separator, "a number and " + field_end());
    }
  }

  std::int32_t name(const char*& p, NameCounter& names, const char* what) const {
    const char* begin = p;
    if (*begin != '"') {
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
    return fmt::format("{} columns, as in the header", header_.roles.size());
  }

  const ScaleCheck& scale_;
  Header header_;
  NamedColumns named_;
};

// By the fields of `line`, the first after the header, which ends in '\n'. A line that is no rating
// decides nothing: it is an error when it is parsed.
NamedColumns named_columns_of(const std::string& line, const Header& header, IdKind kind) {
  std::string user;
  std::string item;
  try {
    const char* p = line.data();
    for (std::size_t c = 0; c < header.roles.size(); ++c, ++p) {
      const char* begin = p;
      skip_field(p, header.separator);
      if (header.roles[c] == Role::user) user = without_quotes({begin, p});
      if (header.roles[c] == Role::item) item = without_quotes({begin, p});
      if (at_line_end(p)) break;
    }
  } catch (const LineError&) {
  }
  return named_columns(kind, user, item);
}

std::string line_at(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  return std::string(rest.substr(0, rest.find('\n'))) + '\n';
}

}  // namespace

RawRatings read_csv(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  const std::string line = line_at(text.view(), 0);
  const std::size_t begin = std::min(line.size(), text.view().size());
  Header header;
  try {
    header = read_header(line);
  } catch (const LineError& error) {
    fail_in_text(text.path, text.view(), error.at - line.data(), error);
  }
  const NamedColumns named = named_columns_of(line_at(text.view(), begin), header, options.ids);
  if (named.any()) {
    return parse_lines(text, begin, Csv<true>(scale, std::move(header), named), options);
  }
  return parse_lines(text, begin, Csv<false>(scale, std::move(header), named), options);
}

}  // namespace mf
