// Internal: how a malformed line becomes a message. Parsers throw a LineError with a pointer into
// the text; only then is the text searched for the line number, so that parsing itself counts
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {

struct LineError {
  const char* at = nullptr;  // start of the offending field
  std::string found;         // "'abc'", "the end of the line"
  std::string expected;      // "an item id (...)"
  std::string advice;        // the remedy, or empty
  const char* id = nullptr;  // "user" or "item" if text would be one here
};

// The end of the field at p, which may begin with blanks, in a line that ends in '\n'.
const char* field_end(const char* p);

// Advice on a number with a comma, by its digits behind it: three may be thousands.
const char* comma_advice(std::string_view digits);
// True, false and the like.
bool is_truth_value(std::string_view word);
// Advice on a field that begins with a byte order mark, or "".
const char* mark_advice(std::string_view field);

// The text at `p` in a line that ends in '\n': a quoted field or "the end of the line".
std::string field_at(const char* p);

// Throws LineError{p, field_at(p), expected, advice}.
[[noreturn]] void fail_field(const char* p, std::string expected, std::string advice = "");

// The same of all that stands before the separator, or the end of the line, which has a number and
// something behind it.
[[noreturn]] void fail_up_to(const char* p, char separator, std::string expected);

// Throws LineError for a field, up to `end`, that should be a number. The advice is on blanks, a
// decimal comma or marks between digits, and `otherwise` without these. `id`: see LineError.
[[noreturn]] void fail_number(const char* begin, const char* end, std::string expected,
                              std::string otherwise = "", const char* id = nullptr);

// Throws Error(data) "path:line:column: found X, expected Y; advice" for a byte offset of a text.
// Lines and columns count from 1, columns in bytes.
[[noreturn]] void fail_in_text(const Text& text, std::int64_t offset, const LineError& error);

std::string place_in_text(const Text& text, std::int64_t offset);  // "path:line:column"
// A name for a line without a rating: a comment, or the first line once more; "" for others.
std::string odd_line(std::string_view text, std::int64_t offset);

}  // namespace mf
