#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mf {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

namespace {

// Bytes of the character that `text` begins with; 0 if it is not UTF-8 or is a control character.
std::size_t harmless_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\t' || first == '\n';
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  const bool control = first == 0xc2 && byte(1) < 0xa0;  // C1
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool turns = first == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                       (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
  return control || overlong || surrogate || turns || (first == 0xf4 && byte(1) > 0x8f) ? 0 : size;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string out;
  std::size_t at = 0;
  while (at < std::min(kMost, text.size())) {
    const std::size_t size = harmless_bytes(text.substr(at));
    const std::string_view one = text.substr(at, std::max<std::size_t>(size, 1));
    out += one == "\r" ? "\\r" : one_line(one);
    at += one.size();
  }
  return "'" + out + (at < text.size() ? "...'" : "'");
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = harmless_bytes(text);
    if (size > 0) {
      out += text.substr(0, size);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\t' || c == '\n') {
      out += c == '\t' ? "\\t" : "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const std::size_t harmless = harmless_bytes(json);
    if (harmless > 0) {
      out += json.substr(0, harmless);
      json.remove_prefix(harmless);
      continue;
    }
    // DEL, C1 and characters that turn the direction of text: one, two and three bytes.
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(json[at]) & 0x3fU; };
    const auto first = static_cast<unsigned char>(json[0]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : 3;
    if (json.size() < size) break;  // no UTF-8
    const unsigned code = size == 1   ? first
                          : size == 2 ? (first & 0x1fU) << 6 | byte(1)
                                      : (first & 0x0fU) << 12 | byte(1) << 6 | byte(2);
    out += fmt::format("\\u{:04x}", code);
    json.remove_prefix(size);
  }
  return out;
}

bool is_harmless(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = harmless_bytes(text);
    if (size == 0 || text.front() == '\t' || text.front() == '\n') return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string format_count(double count) {
  static constexpr std::array<const char*, 5> units = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (std::abs(count) >= 1000 && unit + 1 < units.size()) {
    count /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", count);
  return fmt::format("{:.{}f} {}", count, count < 10 ? 2 : count < 100 ? 1 : 0, units[unit]);
}

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::int64_t at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(at, ",");
  return text;
}

std::string rate_text(double updates, double seconds) {
  return seconds > 0 && updates > 0 ? format_count(updates / seconds) + " updates/s" : "-";
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  if (total < 7200) return fmt::format("{} min {:02} s", total / 60, total % 60);
  return fmt::format("{} h {:02} min", total / 3600, total % 3600 / 60);
}

}  // namespace mf
