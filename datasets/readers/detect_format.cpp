// Which format a text is in: its extension decides where it can, else its first line.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

bool is_number(std::string_view word) {
  const std::string line = std::string(word) + '\n';
  const char* p = line.data();
  float value = 0;
  return read_number(p, value) && *p == '\n';
}

bool is_integer(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}

std::vector<std::string_view> words_of(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t at = line.find(separator);
    words.push_back(line.substr(0, at));
    if (at == line.npos) return words;
    line.remove_prefix(at + separator.size());
  }
}

// As triples are read: any number of blanks and tabs between them and around.
std::vector<std::string_view> words_between_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t at = std::min(line.find_first_of(" \t"), line.size());
    if (at > 0) words.push_back(line.substr(0, at));
    line.remove_prefix(std::min(at + 1, line.size()));
  }
  return words;
}

bool starts_with_ids(const std::vector<std::string_view>& words) {
  return words.size() >= 2 && is_integer(words[0]) && is_integer(words[1]);
}

// Two ids, perhaps text, and a rating. A header has no number where the rating is.
bool is_rating(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && is_id_name(words[0]) && is_id_name(words[1]) && is_number(words[2]);
}

// The extension in lower case, without one of a compressor: "a/b.CSV.gz" gives ".csv".
std::string extension_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  const std::string last = name.extension().string();
  for (const char* compressed : {".gz", ".xz", ".zst", ".bz2", ".zip"}) {
    if (last == compressed) name = name.stem();
  }
  std::string extension = name.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

// Empty where the line tells nothing.
std::string by_first_line(std::string_view line) {
  if (line.starts_with("%%")) return "matrix-market";
  if (line.ends_with(':') && is_integer(line.substr(0, line.size() - 1))) return "netflix";
  if (const auto words = words_of(line, "|"); words.size() == 2 && starts_with_ids(words)) {
    return "kddcup";
  }
  if (const auto words = words_of(line, "::"); starts_with_ids(words) || is_rating(words)) {
    return "double-colon";
  }
  if (const auto words = words_of(line, "\t");
      words.size() >= 3 && (starts_with_ids(words) || is_rating(words))) {
    return "movielens-tab";
  }
  const auto words = words_between_blanks(line);
  if (words.size() == 3 && (starts_with_ids(words) || is_rating(words))) return "triples";
  if (words.size() == 2 && starts_with_ids(words)) return "pairs";
  // A header: names, several columns.
  if (const std::size_t separator = line.find_first_of(",;\t"); separator != line.npos) {
    if (!is_number(line.substr(0, separator))) return "csv";
  }
  return {};
}

}  // namespace

std::string detect_text_format(const Text& text) {
  const std::string extension = extension_of(text.path);
  if (extension == ".csv") return "csv";
  if (extension == ".mtx" || extension == ".mm") return "matrix-market";
  std::string_view line = text.view().substr(0, text.view().find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string format = by_first_line(line);
  if (!format.empty()) return format;
  std::vector<std::string> names;
  for (const auto& known : reader_formats()) names.push_back(known.name);
  fail_in_file(text.path,
               fmt::format("the extension {} and the first line {}, which fit no known format",
                           in_quotes(extension), in_quotes(line)),
               "a file of ratings", "set format to one of " + join(names));
}

}  // namespace mf
