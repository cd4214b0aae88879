#include "base/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace mf {
namespace {

constexpr std::size_t kUsualColumns = 99;
constexpr std::string_view kEllipsis = "…";

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// The character that `text` begins with, and its bytes.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

Character first_of(std::string_view text) {
  Character one{static_cast<unsigned char>(text.front()), 1};
  const std::size_t most = std::min<std::size_t>(4, text.size());
  while (one.bytes < most && continues(text[one.bytes])) ++one.bytes;
  if (one.bytes == 1) return one;
  one.code &= 0xFFU >> (one.bytes + 1);
  for (const char byte : text.substr(1, one.bytes - 1)) {
    one.code = one.code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return one;
}

// Blocks of Unicode whose characters are wide or full width (UAX #11), and pictures.
std::size_t width_of(std::uint32_t code) {
  struct Block {
    std::uint32_t first, last;
  };
  constexpr std::array<Block, 10> kWide = {{{0x1100, 0x115F},
                                            {0x2E80, 0xA4CF},
                                            {0xA960, 0xA97F},
                                            {0xAC00, 0xD7A3},
                                            {0xF900, 0xFAFF},
                                            {0xFE30, 0xFE6F},
                                            {0xFF00, 0xFF60},
                                            {0xFFE0, 0xFFE6},
                                            {0x1F300, 0x1FAFF},
                                            {0x20000, 0x3FFFD}}};
  const auto has = [&](const Block& block) { return block.first <= code && code <= block.last; };
  return std::any_of(kWide.begin(), kWide.end(), has) ? 2 : 1;
}

// Bytes of the characters that fit.
std::size_t fitting(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character one = first_of(text.substr(at));
    if (width_of(one.code) > columns) break;
    columns -= width_of(one.code);
    at += one.bytes;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character one = first_of(text);
    columns += width_of(one.code);
    text.remove_prefix(one.bytes);
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (columns == 0) return "";
  if (columns_of(text) <= columns) return std::string(text);
  return std::string(text.substr(0, fitting(text, columns - 1))).append(kEllipsis);
}

std::string folded(std::string_view text, std::size_t columns, std::size_t indent) {
  const auto first_word = [&] { return text.substr(0, text.find(' ')); };
  std::string out(first_word());
  std::size_t used = columns_of(out);
  text.remove_prefix(out.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = first_word();
    const std::size_t width = columns_of(word);
    const bool fits = used + 1 + width <= columns;
    out += fits ? " " : "\n" + std::string(indent, ' ');
    out += word;
    used = (fits ? used + 1 : indent) + width;
    text.remove_prefix(word.size());
  }
  return out;
}

bool is_terminal(std::FILE* out) {
  const char* term = std::getenv("TERM");
  return (term == nullptr || std::string_view(term) != "dumb") && isatty(fileno(out)) != 0;
}

// The last column stays empty: some terminals go to the next line when it is written.
std::optional<std::size_t> terminal_columns(std::FILE* out) {
  if (!is_terminal(out)) return std::nullopt;
  winsize size{};
  const bool known = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col - 1U : kUsualColumns;
}

std::size_t shown_columns(std::FILE* out) {
  return std::min(terminal_columns(out).value_or(kUsualColumns), kUsualColumns);
}

const char* clear_line(std::FILE* out) { return is_terminal(out) ? "\r\x1b[K" : ""; }

std::string in_colour(std::FILE* out, Colour colour, std::string_view text) {
  const char* refused = std::getenv("NO_COLOR");
  if (!is_terminal(out) || (refused != nullptr && *refused != '\0')) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text);
}

}  // namespace mf
