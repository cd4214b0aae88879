// One rating a line, columns between separators: movielens-tab, double-colon, triples, and pairs,
// which have no rating. A header is passed over. Times are skipped unless asked for. Lists have all
// items of a user on one line, and no header.
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

struct Tab {
  static constexpr const char* kShown = "<tab>";
  static constexpr bool kOptionalTime = true;
  static constexpr bool kRating = true;
  static void skip_margin(const char*&) {}
  static bool read(const char*& p) { return *p == '\t' && (++p, true); }
  static bool at(const char* p) { return *p == '\t'; }
};

struct DoubleColon {
  static constexpr const char* kShown = "::";
  static constexpr bool kOptionalTime = true;
  static constexpr bool kRating = true;
  static void skip_margin(const char*&) {}
  static bool read(const char*& p) { return at(p) && (p += 2, true); }
  static bool at(const char* p) { return *p == ':' && p[1] == ':'; }
};

// Any run of spaces and tabs; those before and after the columns mean nothing.
struct Blanks {
  static constexpr const char* kShown = " ";
  static constexpr bool kOptionalTime = true;
  static constexpr bool kRating = true;
  static void skip_margin(const char*& p) {
    const char* q = p;
    while (is_blank(*q)) ++q;
    p = q;
  }
  [[gnu::always_inline]] static bool read(const char*& p) {
    const char* begin = p;
    skip_margin(p);
    return p != begin && !at_line_end(p);
  }
  static bool at(const char* p) { return is_blank(*p); }
};

// The same of observed pairs: user and item only, of the value 1.
struct BlanksOfPairs : Blanks {
  static constexpr bool kOptionalTime = false;
  static constexpr bool kRating = false;
};

template <class Separator>
void skip_text(const char*& p) {
  const char* q = p;
  while (!Separator::at(q) && !at_line_end(q)) ++q;
  p = q;
}

template <class Separator>
std::int32_t read_name(const char*& p, NameCounter& names, const char* what) {
  const char* begin = p;
  skip_text<Separator>(p);
  return number_name(names, begin, p, what);
}

// For integer ids, or of names in some columns: the former knows nothing of names, to be fast.
template <class Separator, bool kWithNames>
class Delimited : public LineFormat {
 public:
  static constexpr bool kNames = kWithNames;

  // The number of fields of the first line decides whether every line has a time.
  Delimited(const ScaleCheck& scale, std::size_t fields, NamedColumns named)
      : scale_(scale), named_(named), has_time_(Separator::kOptionalTime && fields > 3) {
    for (const char* column : {"user", "item", "rating", "time"}) {
      if (*column == 'r' && !Separator::kRating) break;
      if (*column == 't' && !has_time_) break;
      line_ += (line_.empty() ? "" : Separator::kShown) + std::string(column);
    }
  }

  NamedColumns named() const { return named_; }
  bool has_time() const { return has_time_; }

  [[gnu::always_inline]] void line(const char*& p, State&, RatingSink& out) const {
    Separator::skip_margin(p);
    refuse_blank_line(p, line_);
    const char* field = p;
    const std::int32_t user = kNames && named_.users
                                  ? read_name<Separator>(p, out.names->users, "user")
                                  : read_id(p, "user", out.ids);
    separator(p, field, "user");
    field = p;
    const std::int32_t item = kNames && named_.items
                                  ? read_name<Separator>(p, out.names->items, "item")
                                  : read_id(p, "item", out.ids);
    float value = 1;
    if constexpr (Separator::kRating) {
      separator(p, field, "item");
      field = p;
      value = read_rating(p, scale_);
    }
    if (has_time_) {
      separator(p, field, nullptr);
      field = p;
      if (out.times != nullptr) {
        out.times->read(p);
      } else {
        skip_time<>(p);
      }
    }
    end_line(p, field);
    out.add(user, item, value);
  }

 private:
  // `field` is the start of the field that ends at p; `id`: of what.
  [[gnu::always_inline]] void separator(const char*& p, const char* field, const char* id) const {
    if (!Separator::read(p)) [[unlikely]]
      fail_separated(p, field, id);
  }

  [[noreturn]] void fail_separated(const char* p, const char* field, const char* id) const {
    Separator::skip_margin(p);
    if (at_line_end(p)) fail_field(p, "another column (" + line_ + ")");
    fail_whole(field, id);
  }

  [[gnu::always_inline]] void end_line(const char*& p, const char* field) const {
    if (*p == '\n') {
      ++p;
      return;
    }
    const char* end = p;
    Separator::skip_margin(p);
    if (at_line_end(p)) return read_line_end(p, line_);
    const char* next = end;
    if (Separator::read(next)) {
      throw LineError{end, "another column", "the end of the line (" + line_ + ")", ""};
    }
    fail_whole(field, Separator::kRating ? nullptr : "item");
  }

  [[noreturn]] void fail_whole(const char* field, const char* id) const {
    const char* end = field;
    skip_text<Separator>(end);
    const std::string expected = "a number and a separator (" + line_ + ")";
    if (id != nullptr) fail_name_or_id(field, end, expected, id);
    fail_number(field, end, expected);
  }

  const ScaleCheck& scale_;
  NamedColumns named_;
  bool has_time_ = false;
  std::string line_;  // "user<tab>item<tab>rating"
};

template <class Separator>
std::vector<std::string> fields_of(std::string_view first_line) {
  const std::string line = std::string(first_line) + '\n';
  const char* p = line.data();
  std::vector<std::string> fields;
  Separator::skip_margin(p);
  do {
    const char* begin = p;
    skip_text<Separator>(p);
    fields.emplace_back(begin, p);
  } while (Separator::read(p));
  return fields;
}

std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find('\n')); }

bool begins_number(const std::string& field) {
  return field.empty() || field.find_first_of("0123456789") != std::string::npos ||
         std::string_view("+-.").find(field.front()) != std::string_view::npos;
}

// Whether the first line is a header. Throws if its columns are in another order, or if it only
// looks like one.
bool has_header(const Text& text, const std::vector<std::string>& fields, const ColumnNames& names,
                bool rating) {
  const std::string expected = rating ? "user, item and rating" : "user and item";
  const auto refuse = [&](const std::string& words) {
    const std::string_view line = first_line_of(text.view());
    fail_in_text(text, 0,
                 {text.view().data(), words + in_quotes(line.substr(0, line.find('\r'))),
                  "a header of the columns " + expected + " in this order, or none",
                  "take the line out, or say with " + key_name("columns") + " which is which"});
  };
  const Roles roles = roles_of(fields, names);
  const bool header = roles.has(Role::user) && roles.has(Role::item);
  if (header || names.any()) {
    const bool ordered = header && roles.of[0] == Role::user && roles.of[1] == Role::item &&
                         (!rating || (fields.size() > 2 && roles.of[2] == Role::rating)) &&
                         (names.time.empty() || (fields.size() > 3 && roles.of[3] == Role::time));
    if (!ordered) refuse(header ? "the header " : "the first line ");
  } else if (rating && fields.size() > 2 &&
             std::none_of(fields.begin(), fields.begin() + 3, begins_number)) {
    refuse("what seems to be a header, ");
  }
  return header;
}

template <class Separator>
RawRatings read_delimited(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  std::string_view line = first_line_of(text.view());
  auto fields = fields_of<Separator>(line);
  std::size_t begin = 0;
  if (has_header(text, fields, options.columns, Separator::kRating)) {
    begin = std::min(line.size() + 1, text.view().size());
    line = first_line_of(text.view().substr(begin));
    fields = fields_of<Separator>(line);
  }
  if (options.columns_taken) {
    Roles roles{{Role::user, Role::item, Role::rating}};
    roles.of.resize(Separator::kRating ? 3 : 2);
    *options.columns_taken = columns_taken(roles, fields, begin > 0);
  }
  const auto parse_as = [&](const auto& format) {
    if (options.times && !format.has_time())
      fail_without_times(text.path,
                         "the first rating " + in_quotes(line.substr(0, line.find('\r'))));
    return parse_lines(text, begin, format, options);
  };
  const auto parse = [&](NamedColumns named) {
    return named.any() ? parse_as(Delimited<Separator, true>(scale, fields.size(), named))
                       : parse_as(Delimited<Separator, false>(scale, fields.size(), named));
  };
  return read_with_names(options.ids, parse);
}

// For integer ids, or of names in some columns.
template <bool kWithNames>
class Lists : public LineFormat {
 public:
  static constexpr bool kNames = kWithNames;
  using Sink = ManySink;
  explicit Lists(NamedColumns named) : named_(named) {}
  NamedColumns named() const { return named_; }

  // A blank stands before each item.
  static std::int64_t most_ratings(const TextChunk& chunk, std::int64_t) {
    return std::count_if(chunk.begin, chunk.end, is_blank);
  }

  void line(const char*& p, State&, ManySink& out) const {
    Blanks::skip_margin(p);
    refuse_blank_line(p, kLine);
    const std::int32_t user = kNames && named_.users
                                  ? read_name<Blanks>(p, out.names->users, "user")
                                  : number(p, out.ids, "user");
    while (Blanks::read(p)) {
      out.add(user,
              kNames && named_.items ? read_name<Blanks>(p, out.names->items, "item")
                                     : number(p, out.ids, "item"),
              1);
    }
    read_line_end(p, kLine);
  }

 private:
  static inline const std::string kLine = "user item item ...";

  static std::int32_t number(const char*& p, IdKind kind, const char* what) {
    const char* begin = p;
    const std::int32_t id = read_id(p, what, kind);
    if (is_blank(*p) || at_line_end(p)) [[likely]]
      return id;
    skip_text<Blanks>(p);
    fail_name_or_id(begin, p, "a number and a blank (" + kLine + ")", what);
  }

  NamedColumns named_;
};

// Whether pairs stand in columns between commas and the like.
bool is_csv(const Text& text, const ColumnNames& names) {
  const std::string line = std::string(first_line_of(text.view())) + '\n';
  const bool blanks = line.find_first_of(" \t") != std::string::npos;
  return names.by_place() || is_csv_header(line, names) ||
         (!blanks && line.find_first_of(kCsvSeparators) != std::string::npos);
}

}  // namespace

RawRatings read_movielens_tab(const Text& text, const ScaleCheck& scale,
                              const ParseOptions& options) {
  return read_delimited<Tab>(text, scale, options);
}

RawRatings read_double_colon(const Text& text, const ScaleCheck& scale,
                             const ParseOptions& options) {
  return read_delimited<DoubleColon>(text, scale, options);
}

RawRatings read_triples(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  return read_delimited<Blanks>(text, scale, options);
}

RawRatings read_pairs(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  if (is_csv(text, options.columns)) return read_csv_pairs(text, scale, options);
  check_pairs(text.path, scale);
  return read_delimited<BlanksOfPairs>(text, scale, options);
}

RawRatings read_lists(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  check_pairs(text.path, scale);
  if (options.times) fail_without_times(text.path, "lists of items");
  const auto parse = [&](NamedColumns named) {
    return named.any() ? parse_lines(text, 0, Lists<true>(named), options)
                       : parse_lines(text, 0, Lists<false>(named), options);
  };
  return read_with_names(options.ids, parse);
}

}  // namespace mf
