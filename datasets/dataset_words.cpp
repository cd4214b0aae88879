// The words that are short for an entry of "datasets".

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/load.hpp"
#include "datasets/synthetic/synthetic.hpp"

namespace mf {
namespace {

double factor_of(const std::string& text, const std::string& where) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(factor)) {
    fail(ErrorKind::usage,
         "{}: found the scale factor \"{}\", expected a number as in like:netflix:0.1", where,
         text);
  }
  return factor;
}

std::int64_t copies_of(const std::string& text, const std::string& where) {
  std::int64_t copies = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), copies);
  if (error == std::errc() && end == text.data() + text.size()) return copies;
  fail(ErrorKind::usage, "{}: found \"{}\", expected a whole number as in expand:ml-1m:80:5", where,
       text);
}

// `word` follows "expand:": NAME:USERS:ITEMS.
Json expansion_of(const std::string& word, const std::string& where) {
  const auto last = word.rfind(':');
  const auto first = last == word.npos || last == 0 ? word.npos : word.rfind(':', last - 1);
  if (first == word.npos) {
    fail(ErrorKind::usage, "{}: found expand:{}, expected expand:NAME:USERS:ITEMS", where, word);
  }
  return {{"expand", word.substr(0, first)},
          {"users", copies_of(word.substr(first + 1, last - first - 1), where)},
          {"items", copies_of(word.substr(last + 1), where)}};
}

bool is_name(const std::string& word) {
  return catalog_entry_or_null(word) != nullptr || is_imported(word);
}

bool is_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return true;
  return word.find('.') != std::string::npos && !is_name(word) &&
         !is_name(word.substr(0, word.find('@')));
}

Json expand_word(const std::string& word, const std::string& where) {
  if (word.starts_with("like:")) {
    const std::string rest = word.substr(5);
    const auto colon = rest.find(':');
    Json object = {{"like", rest.substr(0, colon)}};
    if (colon != std::string::npos) object["scale"] = factor_of(rest.substr(colon + 1), where);
    return object;
  }
  if (word.starts_with("expand:")) return expansion_of(word.substr(7), where);
  if (is_path(word)) return {{"path", word}};
  const auto at = word.find('@');
  if (at == std::string::npos) return {{"name", word}};
  return {{"name", word.substr(0, at)}, {"split", {{"given", word.substr(at + 1)}}}};
}

// Any of these words, in a regular expression.
std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (const char c : join(words, "|")) text += c == '.' ? "\\." : std::string(1, c);
  return "(" + text + ")";
}

}  // namespace

Json expand_dataset_entry(const Json& entry, const std::string& where) {
  return entry.is_string() ? expand_word(entry.get<std::string>(), where) : entry;
}

Json dataset_word_schema() {
  std::vector<std::string> words;
  std::vector<std::string> names;
  for (const auto& entry : catalog()) {
    names.push_back(entry.name);
    words.push_back(entry.name);
    for (const auto& split : entry.splits) words.push_back(entry.name + "@" + split.name);
  }
  for (const auto& head : imported_sets()) {
    names.push_back(head.info.name);
    words.push_back(head.info.name);
    if (head.has_parts) words.push_back(head.info.name + "@imported");
  }
  const std::string number = "([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?";
  const std::string like =
      "^like:(.*\\.json|" + any_of(look_alike_names()) + ")(:" + number + ")?$";
  const std::string expand = "^expand:" + any_of(names) + ":[0-9]+:[0-9]+$";
  const std::string path = "^(?!like:|expand:)(.*/.*|(?!" + any_of(names) + "@).*\\..*)$";
  return {{"anyOf", Json::array({Json{{"enum", words}}, Json{{"type", "string"}, {"pattern", like}},
                                 Json{{"type", "string"}, {"pattern", expand}},
                                 Json{{"type", "string"}, {"pattern", path}}})}};
}

}  // namespace mf
