#include "datasets/readers/readers.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

using ReadText = RawRatings (*)(const Text&, const ScaleCheck&, const ParseOptions&);

struct Reader {
  ReaderFormat format;
  ReadText read_text = nullptr;  // none for the binary formats
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {{"movielens-tab",
        "user, item, rating and optionally a time, separated by tabs; the first line decides "
        "whether all have a time",
        true},
       read_movielens_tab},
      {{"double-colon",
        "user::item::rating, optionally ::time; the first line decides whether all have a time",
        true},
       read_double_colon},
      {{"csv",
        "a header that names the columns user, item and rating in any order, others are passed "
        "over; then values, separated by `,` `;` tab or `|`, quotes as in RFC 4180 but without "
        "line breaks inside; without a header user, item and perhaps rating and time",
        true},
       read_csv},
      {{"triples",
        "user item rating, optionally a time, separated by any blanks; also what LIBMF reads",
        true},
       read_triples},
      {{"json-lines",
        "an object a line, as Amazon and Yelp publish reviews; its keys are the names of "
        "columns, as in a `csv`",
        true},
       read_json_lines},
      {{"pairs",
        "user item, separated by any blanks, or columns of a `csv`: an observed pair, of the value "
        "1; a rating is passed over",
        true},
       read_pairs},
      {{"lists",
        "user item item ..., separated by any blanks: a user and its items, observed pairs of the "
        "value 1, as NGCF, LightGCN and KGAT publish them",
        true},
       read_lists},
      {{"netflix",
        "`movie:` followed by lines customer,rating,date; a file, or a folder of `mv_*.txt` or "
        "`combined_data_*.txt`"},
       read_netflix},
      {{"kddcup",
        "KDD Cup 2011, track 1: user|count, followed by count lines of item, score, date, time"},
       read_kddcup},
      {{"matrix-market",
        "`%%MatrixMarket matrix coordinate`, then `real`, `integer` or `pattern` (observed pairs, "
        "of the value 1), then `general` or `symmetric` (entries below the diagonal count for both "
        "sides); users are rows, and the sizes must match"},
       read_matrix_market},
      {{"npz",
        "a NumPy archive of the arrays users, items, ratings, and perhaps times: one-dimensional, "
        "little-endian, `i1`-`i8` and `u1`-`u8`, ratings also `f4`, `f8`, ids also text (`<U7`, "
        "`|S7`)",
        true}},
      {{"npy",
        "a folder of users.npy, items.npy, ratings.npy, and perhaps times.npy, arrays as those of "
        "`npz`; with user_names.txt, item_names.txt or both, a name a line, a number is the place "
        "of a name from 0",
        true}},
  };
  return all;
}

void refuse_columns(const ColumnNames& columns, const std::string& path,
                    const std::string& format) {
  if (!columns.any()) return;
  fail(ErrorKind::usage,
       "{}: columns: found it with the format {}, which has no header; expected it with csv, "
       "json-lines, pairs, triples, movielens-tab or double-colon",
       path, format);
}

bool has_numpy_files(const std::string& folder) {
  return std::any_of(kNumpyFiles.begin(), kNumpyFiles.end(), [&](const char* name) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::path(folder) / name, error);
  });
}

// Keys without a meaning for formats whose ids are integers and whose columns have no names.
void refuse_keys(const ParseOptions& options, const std::string& path, const std::string& format) {
  refuse_names(options.ids, path, format.c_str());
  refuse_columns(options.columns, path, format);
}

std::string detect_folder_format(const std::string& path) {
  if (has_numpy_files(path)) return "npy";
  if (!netflix_files(path).empty()) return "netflix";
  fail_in_file(path, "a directory without a known set of ratings",
               "a file, a folder of mv_*.txt or combined_data_*.txt (netflix), or a folder of "
               "users.npy, items.npy and ratings.npy (npy)");
}

bool is_npz(const std::string& path, const Bytes& bytes) {
  if (detect_compression(bytes.view) != Compression::zip) return false;
  for (ArchiveReader reader(path, bytes); const auto member = reader.next();) {
    if (member->name.ends_with(".npy")) return true;
  }
  return false;
}

// For a text that is not empty.
std::string text_format(const Text& text, const std::string& format, const ColumnNames& columns) {
  if (text.view().empty()) fail_in_file(text.path, "an empty file", "ratings");
  refuse_binary(text);
  return format == "auto" ? detect_text_format(text, columns) : format;
}

const Reader& reader_of(const std::string& format) {
  const auto& all = readers();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Reader& reader) { return reader.format.name == format; });
}

RawRatings read_text(Text text, const std::string& wanted, const ScaleCheck& scale,
                     const ParseOptions& options) {
  pass_preamble(text, options.columns);
  const std::string format = text_format(text, wanted, options.columns);
  const Reader& reader = reader_of(format);
  // With text ids, each line stands for itself, and a header may name the columns.
  if (!reader.format.text_ids) refuse_keys(options, text.path, format);
  if (format == "lists") refuse_columns(options.columns, text.path, format);
  if (options.columns.by_place() && format != "csv" && format != "pairs") {
    fail(ErrorKind::usage,
         "{}: columns: found places with the format {}, whose columns stand in its order; expected "
         "them with csv or pairs",
         text.path, format);
  }
  return reader.read_text(text, scale, options);
}

ParseOptions parse_options(const ReadOptions& options, std::size_t chunk_bytes) {
  return {options.threads, chunk_bytes,   options.ids,
          options.columns, options.times, options.leave_out_damaged};
}

// The first lines; all of a short text.
Text first_lines(Text text) {
  constexpr int kLines = 1001;  // a header, and a thousand
  std::size_t end = 0;
  for (int line = 0; line < kLines && end != std::string_view::npos; ++line) {
    end = text.view().find('\n', end);
    if (end != std::string_view::npos) ++end;
  }
  text.bytes.view = text.view().substr(0, end);
  return text;
}

FirstLook look_at_text(Text text, const std::string& wanted, const ScaleCheck& scale,
                       const ParseOptions& options) {
  pass_preamble(text, options.columns);
  FirstLook look{text_format(text, wanted, options.columns), {}};
  if (reader_of(look.format).format.text_ids) {
    ParseOptions with_columns = options;
    with_columns.columns_taken = &look.columns;
    look.ratings = read_text(first_lines(text), look.format, scale, with_columns);
    if (look.ratings.values.empty()) fail_in_file(text.path, "no ratings", "at least one");
  }
  return look;
}

void check_format(const std::string& format) {
  std::vector<std::string> names = {"auto"};
  for (const auto& reader : readers()) names.push_back(reader.format.name);
  if (std::find(names.begin(), names.end(), format) != names.end()) return;
  const std::string near = nearest(format, names);
  fail(ErrorKind::usage, "unknown format '{}', expected one of {}{}", format, join(names),
       near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

std::string folder_format(const std::string& path, const std::string& format) {
  if (format == "auto") return detect_folder_format(path);
  if (format != "npy" && format != "netflix") fail_in_file(path, "a directory", "a file");
  return format;
}

RawRatings read_folder(const std::string& path, const std::string& format, const ScaleCheck& scale,
                       const ParseOptions& options) {
  if (folder_format(path, format) == "npy") {
    refuse_columns(options.columns, path, "npy");
    return read_npy_folder(path, scale, options);
  }
  refuse_keys(options, path, "netflix");
  return read_netflix_folder(path, scale, options);
}

// npz, or "" for a text.
std::string file_format(const std::string& path, const Bytes& bytes, const std::string& format) {
  if (format == "npy") {
    fail_in_file(path, "a file", "a folder of users.npy, items.npy, ratings.npy");
  }
  return format == "npz" || (format == "auto" && is_npz(path, bytes)) ? "npz" : "";
}

RawRatings read_any(const std::string& path, const std::string& format, const ScaleCheck& scale,
                    const ParseOptions& options, const OnContent& on_content) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (folder) return read_folder(path, format, scale, options);
  const Bytes bytes = map_file(path);
  if (file_format(path, bytes, format) == "npz") {
    refuse_columns(options.columns, path, "npz");
    if (on_content) on_content(bytes);
    return read_npz(path, bytes, scale, options);
  }
  return read_text(make_text(path, bytes, on_content), format, scale, options);
}

}  // namespace

const std::vector<ReaderFormat>& reader_formats() {
  static const std::vector<ReaderFormat> formats = [] {
    std::vector<ReaderFormat> list;
    for (const auto& reader : readers()) list.push_back(reader.format);
    return list;
  }();
  return formats;
}

namespace {

void leave_out_unrated(RawRatings& raw, std::optional<double> mark) {
  if (!mark) return;
  const auto leave_out = [&](auto& column) {
    std::erase_if(column, [&](const auto& one) {
      return raw.values[static_cast<std::size_t>(&one - column.data())] ==
             static_cast<float>(*mark);
    });
  };
  leave_out(raw.users);
  leave_out(raw.items);
  leave_out(raw.times);
  std::erase(raw.values, static_cast<float>(*mark));  // by which the others were judged
}

}  // namespace

RawRatings read_ratings_chunked(const std::string& path, const ReadOptions& options,
                                std::size_t chunk_bytes) {
  check_format(options.format);
  const ScaleCheck scale(options.scale, options.unrated);
  RawRatings raw = read_any(path, options.format, scale, parse_options(options, chunk_bytes),
                            options.on_content);
  leave_out_unrated(raw, options.unrated);
  if (raw.values.empty()) fail_in_file(path, "no ratings", "at least one");
  return raw;
}

FirstLook look_at_ratings(const std::string& path, const ReadOptions& options) {
  check_format(options.format);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {folder_format(path, options.format), {}};
  return of_whole_files([&]() -> FirstLook {
    const Bytes bytes = map_file(path);
    const std::string format = file_format(path, bytes, options.format);
    if (format == "npz") {
      check_npz(path, bytes);
      return {format, {}};
    }
    const ScaleCheck scale(options.scale, options.unrated);
    const ParseOptions parse = parse_options(options, ParseOptions().chunk_bytes);
    FirstLook look = look_at_text(make_text(path, bytes), options.format, scale, parse);
    leave_out_unrated(look.ratings, options.unrated);
    return look;
  });
}

RawRatings read_ratings(const std::string& path, const ReadOptions& options) {
  return of_whole_files(
      [&] { return read_ratings_chunked(path, options, ParseOptions().chunk_bytes); });
}

AlignedVector<std::uint8_t> netflix_probe_parts(const Ratings& ratings,
                                                const std::string& probe_path, int threads) {
  return of_whole_files([&] {
    return netflix_probe_parts_chunked(ratings, probe_path, {threads, ParseOptions().chunk_bytes});
  });
}

}  // namespace mf
