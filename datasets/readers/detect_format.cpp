// Which format a text is in: its extension decides if it can, else its first line.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/key_words.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "datasets/readers/columns.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

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

// Two ids, perhaps text, and a rating. A header has no number in the place of the rating.
bool is_rating(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && is_id_name(words[0]) && is_id_name(words[1]) &&
         is_plain_number(words[2]);
}

// A fourth word that is a time rather than an item.
bool has_time(const std::vector<std::string_view>& words) {
  constexpr std::size_t kShortestTime = 6;
  return words.size() == 4 && words[3].size() >= kShortestTime && is_plain_number(words[3]);
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

bool names_columns(const std::vector<std::string_view>& words, const ColumnNames& columns) {
  return is_header({words.begin(), words.end()}, columns);
}

// Empty if the line tells nothing.
std::string by_first_line(std::string_view line, const ColumnNames& columns) {
  if (line.starts_with("%%")) return "matrix-market";
  if (line.starts_with('{')) return "json-lines";
  if (line.ends_with(':') && is_integer(line.substr(0, line.size() - 1))) return "netflix";
  if (const auto words = words_of(line, "|"); words.size() == 2 && starts_with_ids(words)) {
    return "kddcup";
  }
  if (const auto words = words_of(line, "::");
      starts_with_ids(words) || is_rating(words) ||
      (words.size() > 1 && names_columns(words, columns))) {
    return "double-colon";
  }
  if (const auto words = words_of(line, "\t");
      words.size() >= 3 && (starts_with_ids(words) || is_rating(words))) {
    return "movielens-tab";
  }
  const std::size_t separator = line.find_first_of(kCsvSeparators);
  const auto words = words_between_blanks(line);
  const bool header = separator == line.npos && names_columns(words, columns);
  if (words.size() == 2 && (starts_with_ids(words) || header)) return "pairs";
  const bool rating = starts_with_ids(words) || is_rating(words);
  if (header || (rating && (words.size() == 3 || has_time(words)))) return "triples";
  if (separator == line.npos) return {};
  // A header: names, several columns.
  const bool named = !is_plain_number(line.substr(0, separator));
  return named || is_csv_values(std::string(line) + '\n') ? "csv" : "";
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Lines of integers, each of another user.
struct ListsLook {
  std::int64_t lines = 0;
  std::size_t longest = 0;  // words of a line
  bool ascending = true;    // three words a line, the last two in ascending order
};

// None if a line has another word, or a user occurs twice: triples and pairs mostly are in it.
std::optional<ListsLook> look_for_lists(std::string_view text) {
  constexpr std::int64_t kLooked = 1000;
  ListsLook look;
  std::set<std::string_view> users;
  while (look.lines < kLooked && !text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_between_blanks(without_return(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;  // the reader says so
    if (!std::ranges::all_of(words, is_integer) || !users.insert(words[0]).second) return {};
    ++look.lines;
    look.longest = std::max(look.longest, words.size());
    look.ascending = look.ascending && words.size() == 3 &&
                     std::pair(words[1].size(), words[1]) < std::pair(words[2].size(), words[2]);
  }
  return look;
}

// Throws Error(data) if the first line fits no format, the second one does, and the first has no
// digits: it is a header of unusual names.
void refuse_header(const Text& text, std::string_view first, const ColumnNames& columns) {
  if (first.find_first_of("0123456789") != first.npos) return;
  const std::size_t begin = std::min(text.view().find('\n'), text.view().size() - 1) + 1;
  const std::string_view rest = text.view().substr(begin);
  const std::string format =
      by_first_line(without_return(rest.substr(0, rest.find('\n'))), columns);
  if (format.empty()) return;
  fail_in_file(
      text.path + ":1",
      "what seems to be a header of a file of the format " + format + ", " + in_quotes(first),
      "names such as user, item and rating, or no header",
      "take the line out, or say with " + key_name("columns") + " which is which");
}

struct BinaryFormat {
  std::string_view begin;  // its first bytes
  const char* what;
  const char* read;  // how pandas reads it; "": it does not
};

constexpr std::array kBinaryFormats = {
    BinaryFormat{"PAR1", "a Parquet file", "pandas.read_parquet"},
    BinaryFormat{"ARROW1", "an Arrow or Feather file", "pandas.read_feather"},
    BinaryFormat{"FEA1", "a Feather file", "pandas.read_feather"},
    BinaryFormat{"ORC", "an ORC file", "pandas.read_orc"},
    BinaryFormat{"\x89HDF", "an HDF5 file", "pandas.read_hdf"},
    BinaryFormat{"\x80\x02", "a pickle", "pandas.read_pickle"},
    BinaryFormat{"\x80\x03", "a pickle", "pandas.read_pickle"},
    BinaryFormat{"\x80\x04", "a pickle", "pandas.read_pickle"},
    BinaryFormat{"\x80\x05", "a pickle", "pandas.read_pickle"},
    BinaryFormat{"SQLite format 3", "an SQLite data base", "pandas.read_sql"},
    BinaryFormat{"\x93NUMPY", "a single NumPy array", ""},
};

// Text may begin as a binary file does ("ORCID,paper,rating"), but has no such bytes.
bool has_control_bytes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && (c < '\t' || c > '\r');
  });
}

// Text of which no line can be found.
void refuse_other_text(const Text& text) {
  const std::string_view all = text.view();
  const auto refuse = [&](const char* found, const std::string& command) {
    const std::filesystem::path path(text.path);
    static const std::map<std::string, std::string> packed = {
        {".gz", "gzip"}, {".xz", "xz"}, {".zst", "zstd"}, {".bz2", "bzip2"}};
    const auto by = packed.find(path.extension().string());
    const auto name = by == packed.end() ? path.filename() : path.stem();
    const auto mended = path.parent_path() / ("mended-" + name.string());
    fail_in_file(text.path, found, "a rating a line, in UTF-8",
                 fmt::format("{} < {}{} > {}", by == packed.end() ? command : by->second + " -dc",
                             shell_word(text.path), by == packed.end() ? "" : " | " + command,
                             shell_word(mended.string())));
  };
  if (all.starts_with("\xff\xfe") || all.starts_with("\xfe\xff"))
    refuse("text in UTF-16", "iconv -f UTF-16 -t UTF-8");
  const std::size_t end = std::min(all.find_first_of("\r\n"), all.size());
  if (all.starts_with("[\n") || all.starts_with("[{")) refuse("an array of JSON", "jq -c '.[]'");
  if (end + 1 < all.size() && all[end] == '\r' && all[end + 1] != '\n' &&
      all.find('\n') == all.npos)
    refuse("lines that end in a carriage return only", R"(tr '\r' '\n')");
}

}  // namespace

void pass_preamble(Text& text, const ColumnNames& columns) {
  std::string first;
  for (;;) {
    std::string_view line = text.view().substr(0, text.view().find('\n'));
    const std::size_t bytes = line.size();
    line = without_return(line);
    const std::size_t mark = line.starts_with('#') ? 1 : line.starts_with("//") ? 2 : 0;
    const std::size_t name = std::min(line.find_first_not_of("#/ \t"), line.size());
    const auto words = words_between_blanks(line.substr(name));
    const std::string whole = std::string(line) + '\n';
    if (mark > 0 && (names_columns(words, columns) || is_csv_header(whole.substr(name), columns))) {
      text.bytes.view.remove_prefix(name);
      break;
    }
    const bool data = mark == 0 || is_csv_values(whole) || is_csv_header(whole, columns);
    if (data && !words.empty() && !(line.starts_with("sep=") && line.size() <= 5)) break;
    if (bytes == text.view().size()) return;  // nothing follows
    if (first.empty()) first = in_quotes(line);
    text.bytes.view.remove_prefix(bytes + 1);
    ++text.lines_before;
  }
  if (!first.empty())
    note_once("{}: passed over {} before the ratings, the first of them {}", text.path,
              counted(text.lines_before, "line"), first);
}

void refuse_binary(const Text& text) {
  refuse_other_text(text);
  constexpr std::size_t kLooked = 4096;
  const std::string_view head = text.view().substr(0, kLooked);
  if (!has_control_bytes(head)) return;
  const auto* const known =
      std::find_if(kBinaryFormats.begin(), kBinaryFormats.end(),
                   [&](const BinaryFormat& format) { return head.starts_with(format.begin); });
  if (known == kBinaryFormats.end()) {
    if (head.substr(0, head.find('\n')).find('\0') == head.npos) return;
    fail_in_file(text.path, "a binary file", "ratings as text, or npz");
  }
  if (*known->read == '\0') {
    fail_in_file(text.path, known->what, "a folder of users.npy, items.npy, ratings.npy, or npz");
  }
  const std::string name = std::filesystem::path(text.path).filename().string();
  fail_in_file(text.path, known->what, "ratings as text, or npz",
               fmt::format("write it as csv in Python: {}({}).to_csv(\"ratings.csv\", index=False)",
                           known->read, in_quotes(name)));
}

std::string detect_text_format(const Text& text, const ColumnNames& columns) {
  const std::string extension = extension_of(text.path);
  if (extension == ".csv" || columns.by_place()) return "csv";
  if (extension == ".mtx" || extension == ".mm") return "matrix-market";
  const std::string_view line = without_return(text.view().substr(0, text.view().find('\n')));
  constexpr std::size_t kNoOther = 5;  // words: more than any other format of integers has
  constexpr std::int64_t kEnough = 4;  // lines to wonder about
  const auto lists = look_for_lists(text.view());
  if (lists && lists->longest >= kNoOther) return "lists";
  const std::string format = by_first_line(line, columns);
  if (lists && lists->ascending && lists->lines >= kEnough && format == "triples") {
    note_once(
        "{}: taken as triples, user item rating; as each line is of another user and ascends, it "
        "may be a list of items: then {}",
        text.path, set_key("format", {"lists"}));
  }
  if (!format.empty()) return format;
  refuse_header(text, line, columns);
  std::vector<std::string> names;
  for (const auto& known : reader_formats()) names.push_back(known.name);
  fail_in_file(text.path,
               fmt::format("the extension {} and the first line {}, which fit no known format",
                           in_quotes(extension), in_quotes(line)),
               "a file of ratings", set_key("format", names));
}

}  // namespace mf
