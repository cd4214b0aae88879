#include "harness/model_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

// The whole word, within the range of T; nothing else.
template <class T>
std::optional<T> number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Calls body(words) for every line with words; what it expected instead, or null.
template <class Body>
void for_lines(const std::string& path, const Body& body) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) fail(ErrorKind::data, "{}: cannot be read", path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string line;
  for (std::int64_t at = 1; std::getline(in, line); ++at) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    const char* expected = body(words);
    if (expected == nullptr) continue;
    fail(ErrorKind::data, "{}:{}: found {}, expected {}", path, at, in_quotes(line), expected);
  }
}

}  // namespace

void for_pairs(const std::string& path,
               const std::function<void(std::int32_t user, std::int32_t item)>& body) {
  for_lines(path, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto user = number<std::int32_t>(words[0]);
    const auto item = words.size() == 2 ? number<std::int32_t>(words[1]) : std::nullopt;
    if (!user || !item) return "a user id and an item id, whole numbers of 32 bits";
    body(*user, *item);
    return nullptr;
  });
}

std::vector<HistoryItem> read_history(const std::string& path) {
  std::vector<HistoryItem> history;
  for_lines(path, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto item = number<std::int32_t>(words[0]);
    const auto value = words.size() == 1 ? std::optional(1.0F) : number<float>(words[1]);
    if (!item || words.size() > 2 || !value || !std::isfinite(*value)) {
      return "an item id, a whole number of 32 bits, and perhaps a value";
    }
    history.push_back({*item, *value});
    return nullptr;
  });
  return history;
}

}  // namespace mf
