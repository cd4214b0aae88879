// What is shown to people: text that fits the columns of a terminal, and colour where there is one.
#pragma once

#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace mf {

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// Of text in UTF-8 without control characters; those of East Asia are two wide.
std::size_t columns_of(std::string_view text);

// At most so many columns: the end of what does not fit becomes "…".
std::string cut_to(std::string_view text, std::size_t columns);

// Lines of at most so many columns, broken at blanks, without an end of line behind the last; those
// after the first are indented. A word that is longer has a line of its own.
std::string folded(std::string_view text, std::size_t columns, std::size_t indent);

// One that takes control sequences: TERM does not say "dumb".
bool is_terminal(std::FILE* out);

// Those that may be written; nothing where `out` is no terminal, and 99 where it does not say.
std::optional<std::size_t> terminal_columns(std::FILE* out);

// Where text is folded: those of the terminal, 99 at most.
std::size_t shown_columns(std::FILE* out);

// Ends a line that is still being rewritten; nothing where `out` is no terminal.
const char* clear_line(std::FILE* out);

enum class Colour { red = 31, yellow = 33 };

// Coloured on a terminal, unless NO_COLOR is set (https://no-color.org).
std::string in_colour(std::FILE* out, Colour colour, std::string_view text);

}  // namespace mf
