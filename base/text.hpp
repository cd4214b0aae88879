// Small text helpers of error messages and tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mf {

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that `word` was probably meant to be, or empty: one that differs only in case and
// in '_' and '-', is another usual name for the same ("lr" and "eta" for "learning_rate"; the table
// is in nearest.cpp), is at most a third of the letters off, begins with these letters word by
// word, or has a word of the other in it.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

// Text for a message: in quotes, control bytes escaped, cut after about 40 bytes.
std::string in_quotes(std::string_view text);

// Text of any origin for a terminal: control characters, which terminals may obey, are escaped,
// except tabs and ends of lines; so is invalid UTF-8.
std::string printable(std::string_view text);

// The same for a cell of a table or a line of a list: tabs and ends of lines are escaped, too, so
// that a name cannot pass for a line.
std::string one_line(std::string_view text);

// JSON text (UTF-8) in which control characters that JSON allows raw become \\u009b.
std::string printable_json(std::string_view json);

// A word that a POSIX shell takes as this one: in quotes if it has anything but letters, digits and
// _ @ % + = : , . / -.
std::string shell_word(std::string_view text);

// UTF-8 that printable() does not change, without tabs and ends of lines.
bool is_harmless(std::string_view text);

// 12.3 GiB, 4.0 KiB, 17 B
std::string format_bytes(double bytes);

// 1.23 M, 4.56 G, 789
std::string format_count(double count);

// 1,234,567
std::string with_commas(std::int64_t number);

// 1.23 M updates/s, or "-" without any.
std::string rate_text(double updates, double seconds);

// 1.2 ms, 3.4 s, 5 min 06 s, 2 h 03 min
std::string format_seconds(double seconds);

}  // namespace mf
