#include "harness/model_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

bool has_names(const SavedModel& model) {
  return !model.user_names.empty() || !model.item_names.empty();
}

std::vector<std::string_view> words_of(std::string_view line, bool names) {
  const bool tabs = names && line.find('\t') != line.npos;
  const std::string_view kBlanks = tabs ? "\t\r" : " \t\r";
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
void for_lines(const std::string& path, bool names, const Body& body) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) fail(ErrorKind::data, "{}: cannot be read", path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string line;
  for (std::int64_t at = 1; std::getline(in, line); ++at) {
    const auto words = words_of(line, names);
    if (words.empty()) continue;
    const char* expected = body(words);
    if (expected == nullptr) continue;
    fail(ErrorKind::data, "{}:{}: found {}, expected {}", path, at, in_quotes(line), expected);
  }
}

}  // namespace

namespace {

[[noreturn]] void fail_id(const char* option, const char* whose, const std::string& text) {
  fail(ErrorKind::usage,
       "{}: found {}, expected a whole number of 32 bits: the ids of the {} of this model are "
       "integers",
       option, in_quotes(text), whose);
}

}  // namespace

GivenId given_user(const SavedModel& model, const std::string& text) {
  const auto key = model.user_key(text);
  if (!key) fail_id("--user", "users", text);
  return {text, *key};
}

GivenId given_item(const SavedModel& model, const std::string& text) {
  const auto key = model.item_key(text);
  if (!key) fail_id("--item", "items", text);
  return {text, *key};
}

void for_pairs(const std::string& path, const SavedModel& model,
               const std::function<void(const GivenId& user, const GivenId& item)>& body) {
  const bool names = has_names(model);
  const char* expected = names ? "a user id and an item id of the model, with a tab between them "
                                 "where an id has blanks"
                               : "a user id and an item id, whole numbers of 32 bits";
  for_lines(path, names, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto user = model.user_key(words[0]);
    const auto item = words.size() == 2 ? model.item_key(words[1]) : std::nullopt;
    if (!user || !item) return expected;
    body({std::string(words[0]), *user}, {std::string(words[1]), *item});
    return nullptr;
  });
}

std::vector<HistoryItem> read_history(const std::string& path, const SavedModel& model) {
  const bool names = !model.item_names.empty();
  const char* expected = names
                             ? "an item id and perhaps a value, with a tab between them where the "
                               "id has blanks"
                             : "an item id, a whole number of 32 bits, and perhaps a value";
  std::vector<HistoryItem> history;
  for_lines(path, names, [&](const std::vector<std::string_view>& words) -> const char* {
    const auto item = model.item_key(words[0]);
    const auto value = words.size() == 1 ? std::optional(1.0F) : number<float>(words[1]);
    if (!item || words.size() > 2 || !value || !std::isfinite(*value)) return expected;
    if (names && *item < 0) {
      warn("the model knows no item {}; it is left out of the history", in_quotes(words[0]));
    } else {
      history.push_back({*item, *value});
    }
    return nullptr;
  });
  return history;
}

}  // namespace mf
