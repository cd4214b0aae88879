// One rating a line, columns between separators, no header: movielens-tab, double-colon, triples,
// and pairs, which have no rating.
#include <string>
#include <string_view>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

struct Tab {
  static constexpr std::string_view kText = "\t";
  static constexpr const char* kShown = "<tab>";
  static constexpr bool kOptionalTime = true;
  static constexpr bool kRating = true;
  static void skip_margin(const char*&) {}
  static bool read(const char*& p) { return *p == '\t' && (++p, true); }
  static bool at(const char* p) { return *p == '\t'; }
};

struct DoubleColon {
  static constexpr std::string_view kText = "::";
  static constexpr const char* kShown = "::";
  static constexpr bool kOptionalTime = true;
  static constexpr bool kRating = true;
  static void skip_margin(const char*&) {}
  static bool read(const char*& p) { return at(p) && (p += 2, true); }
  static bool at(const char* p) { return *p == ':' && p[1] == ':'; }
};

// Any run of spaces and tabs; those before and after the columns mean nothing.
struct Blanks {
  static constexpr std::string_view kText = " ";
  static constexpr const char* kShown = " ";
  static constexpr bool kOptionalTime = false;
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
  static constexpr bool kRating = false;
};

template <class Separator>
void skip_text(const char*& p) {
  const char* q = p;
  while (!Separator::at(q) && !at_line_end(q)) ++q;
  p = q;
}

// Of integer ids, or of names in some columns: the former knows nothing of names, to be fast.
template <class Separator, bool kWithNames>
class Delimited : public LineFormat {
 public:
  static constexpr bool kNames = kWithNames;

  // The first line decides whether every line has a time.
  Delimited(const ScaleCheck& scale, std::string_view first_line, NamedColumns named)
      : scale_(scale), named_(named) {
    std::size_t separators = 0;
    for (std::size_t at = 0; (at = first_line.find(Separator::kText, at)) != first_line.npos;
         at += Separator::kText.size()) {
      ++separators;
    }
    has_time_ = Separator::kOptionalTime && separators >= 3;
    for (const char* column : {"user", "item", "rating", "time"}) {
      if (*column == 'r' && !Separator::kRating) break;
      if (*column == 't' && !has_time_) break;
      line_ += (line_.empty() ? "" : Separator::kShown) + std::string(column);
    }
  }

  NamedColumns named() const { return named_; }

  [[gnu::always_inline]] void line(const char*& p, State&, RatingSink& out) const {
    Separator::skip_margin(p);
    refuse_blank_line(p, line_);
    const char* field = p;
    const std::int32_t user = kNames && named_.users ? name(p, out.names->users, "user")
                                                     : read_id(p, "user", kNamesAdvice);
    separator(p, field);
    field = p;
    const std::int32_t item = kNames && named_.items ? name(p, out.names->items, "item")
                                                     : read_id(p, "item", kNamesAdvice);
    float value = 1;
    if constexpr (Separator::kRating) {
      separator(p, field);
      field = p;
      value = read_rating(p, scale_);
    }
    if (has_time_) {
      separator(p, field);
      field = p;
      read_time(p);
    }
    end_line(p, field);
    out.add(user, item, value);
  }

 private:
  static std::int32_t name(const char*& p, NameCounter& names, const char* what) {
    const char* begin = p;
    skip_text<Separator>(p);
    return number_name(names, begin, p, what);
  }

  // `field` is where the field that ends at p began.
  [[gnu::always_inline]] void separator(const char*& p, const char* field) const {
    if (!Separator::read(p)) [[unlikely]]
      fail_separated(p, field);
  }

  [[noreturn]] void fail_separated(const char* p, const char* field) const {
    Separator::skip_margin(p);
    if (at_line_end(p)) fail_field(p, "another column (" + line_ + ")");
    fail_number(field);
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
    fail_number(field);
  }

  [[noreturn]] void fail_number(const char* field) const {
    fail_field(field, "a number and a separator (" + line_ + ")");
  }

  static void read_time(const char*& p) {
    const char* begin = p;
    skip_digits(p);
    if (p == begin) [[unlikely]]
      fail_field(begin, "a time (an integer)");
  }

  const ScaleCheck& scale_;
  NamedColumns named_;
  bool has_time_ = false;
  std::string line_;  // "user<tab>item<tab>rating"
};

template <class Separator>
NamedColumns named_columns_of(std::string_view first_line, IdKind kind) {
  const std::string line = std::string(first_line) + '\n';
  const char* p = line.data();
  const auto next = [&] {
    const char* begin = p;
    skip_text<Separator>(p);
    return std::string_view(begin, p);
  };
  Separator::skip_margin(p);
  const std::string_view user = next();
  return named_columns(kind, user, Separator::read(p) ? next() : std::string_view());
}

template <class Separator>
RawRatings read_delimited(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  const std::string_view first_line = text.view().substr(0, text.view().find('\n'));
  const NamedColumns named = named_columns_of<Separator>(first_line, options.ids);
  if (named.any()) {
    return parse_lines(text, 0, Delimited<Separator, true>(scale, first_line, named), options);
  }
  return parse_lines(text, 0, Delimited<Separator, false>(scale, first_line, named), options);
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
  if (!scale.accepts(1)) {
    fail_in_file(text.path, "observed pairs, of the value 1", scale.describe(),
                 "leave rating_scale out");
  }
  return read_delimited<BlanksOfPairs>(text, scale, options);
}

}  // namespace mf
