// Text that fits the columns of a terminal, and colour.
#pragma once

#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace mf {

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// For UTF-8 text without control characters. Wide characters, as of East Asia, take two.
std::size_t columns_of(std::string_view text);

// Cuts text to `columns`; cut text ends in "…".
std::string cut_to(std::string_view text, std::size_t columns);

// Lines of at most `columns`, broken at blanks, without a line end behind the last. All but the
// first are indented. A word that is too long gets its own line.
std::string folded(std::string_view text, std::size_t columns, std::size_t indent);

// Whether it takes control sequences: TERM is not "dumb".
bool is_terminal(std::FILE* out);

// The columns of a terminal: empty if `out` is not one, 99 if unknown.
std::optional<std::size_t> terminal_columns(std::FILE* out);

// The width to fold text to: the terminal's, 99 at most.
std::size_t shown_columns(std::FILE* out);

// Clears a line that is still being rewritten; "" if `out` is not a terminal.
const char* clear_line(std::FILE* out);

enum class Colour { red = 31, yellow = 33 };

// Coloured on a terminal, unless NO_COLOR is set (https://no-color.org).
std::string in_colour(std::FILE* out, Colour colour, std::string_view text);

}  // namespace mf
