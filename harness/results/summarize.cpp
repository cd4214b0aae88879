#include "harness/results/summarize.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/held_folder.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "harness/results/case_row.hpp"
#include "harness/results/files/fields.hpp"
#include "harness/results/files/stored_results.hpp"
#include "harness/results/study/study_files.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// ---- which files
// ---------------------------------------------------------------------------------

struct ResultPlace {
  std::string path;
  bool is_file = false;  // a single case
};

// The same for all names of one file; a dangling link is its own.
std::string one_name_of(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(path, error);
  return error ? path : place.string();
}

// The folders of results below all paths, each once, and the single files among them.
class ResultSearch {
 public:
  void add(const std::string& path) {
    if (const auto packed = packed_in_place_of(path)) {
      add_place({folder_of_packed(*packed)});
    } else if (is_folder(path)) {
      add_tree(path);
    } else if (is_taken(path) && fs::path(path).extension() == ".jsonl") {
      add_place({path, true});
    } else {
      fail(ErrorKind::usage, "{}: {}; expected a folder of results or a .jsonl file", path,
           is_taken(path) ? "is neither" : "no such file or folder");
    }
  }

  const std::vector<ResultPlace>& places() const { return places_; }

 private:
  void add_tree(const std::string& root) {
    held_.emplace_back(root);
    std::set<fs::path> folders = {root};
    std::error_code error;
    for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
         at.increment(error)) {
      const std::string path = at->path().string();
      std::error_code none;
      if (is_packed_name(path)) folders.insert(folder_of_packed(path));
      if (at->is_symlink(none) || !at->is_directory(none)) continue;
      // Trials are not cases: they count only if their own folder is named.
      if (holds_studies(path)) {
        at.disable_recursion_pending();
      } else {
        folders.insert(at->path());
      }
    }
    if (error) fail(ErrorKind::io, "{}: cannot be listed: {}", root, cause_of(error.value()));
    for (const auto& folder : folders) add_place({folder.string()});
  }

  void add_place(const ResultPlace& place) {
    if (seen_.insert(one_name_of(place.path)).second) places_.push_back(place);
  }

  std::list<HeldFolder> held_;
  std::vector<ResultPlace> places_;
  std::set<std::string> seen_;
};

StoredSpec visit_place(const ResultPlace& place, const TakeStored& take) {
  if (!place.is_file) return visit_stored_results(place.path, take);
  const StoredSpec none;
  if (auto file = read_result_file(place.path)) take({place.path, std::move(*file)}, none);
  return none;
}

// ---- what is in them
// -----------------------------------------------------------------------------

// Called for each case: its row and, if it has begun, its file.
struct CaseTaker {
  std::function<void(const Json& row, const ResultFile* file)> take;
  std::function<void(const std::string& folder, const std::string& why)> leave_out;
};

// The ids that a spec.json lists, as the cases come in their order.
class ListedIds {
 public:
  void begin(const StoredSpec& beside) {
    if (std::exchange(begun_, true)) return;
    ids_ = beside.listed();
    if (ids_) known_.insert(ids_->begin(), ids_->end());
  }

  bool any() const { return ids_.has_value(); }
  std::size_t count() const { return ids_ ? ids_->size() : 0; }
  bool has(const std::string& id) const { return known_.count(id) > 0; }

  // The cases between the last requested one and this one, or the end: they have no file.
  std::vector<std::string> absent_before(const std::optional<std::string>& id) {
    if (!ids_) return {};
    const auto begin = ids_->begin() + at_;
    const auto end = id ? std::find(begin, ids_->end(), *id) : ids_->end();
    if (id && end == ids_->end()) return {};  // a second one of its name
    at_ = end - ids_->begin() + (id ? 1 : 0);
    return {begin, end};
  }

 private:
  bool begun_ = false;
  std::optional<std::vector<std::string>> ids_;
  std::set<std::string> known_;
  std::ptrdiff_t at_ = 0;
};

// At most one line without its end: the case has just begun.
bool has_not_begun(const ResultFile& file) { return file.header.is_null() && !file.damage; }

class ResultReading {
 public:
  ResultReading(const SummarizeOptions& options, const CaseTaker& taker)
      : options_(options), taker_(taker) {}

  Summarized read() {
    ResultSearch search;
    for (const auto& path : options_.paths) search.add(path);
    for (const ResultPlace& place : search.places()) read_one(place);
    return done_;
  }

 private:
  // Cases in the order of their spec.json, then unlisted ones.
  void read_one(const ResultPlace& place) {
    ListedIds listed;
    std::map<std::string, std::string> of_hash;
    std::size_t absent = 0;
    const auto take_absent = [&](const std::optional<std::string>& before) {
      for (const auto& id : listed.absent_before(before)) {
        taker_.take(row_of_none(place.path + "/" + id + ".jsonl", "missing"), nullptr);
        ++absent;
      }
    };
    try {
      const StoredSpec beside =
          visit_place(place, [&](const StoredCase& one, const StoredSpec& spec) {
            listed.begin(spec);
            const bool is_listed = listed.has(one.name());
            take_absent(is_listed ? std::optional(one.name()) : std::nullopt);
            take_case(one, spec, is_listed || !listed.any() || options_.unlisted, of_hash);
          });
      listed.begin(beside);
      if (beside.damaged_spec) ++done_.left_out;
    } catch (const Error& error) {  // of a packed file
      leave_out(place.path, error.what());
      return;
    }
    take_absent(std::nullopt);
    if (absent == 0) return;
    note("{}: {} of {} cases have not begun", place.path, absent, listed.count());
    done_.not_begun += static_cast<int>(absent);
  }

  void take_case(const StoredCase& one, const StoredSpec& beside, bool counts,
                 std::map<std::string, std::string>& of_hash) {
    const auto& [path, file] = one;
    if (!seen_.insert(one_name_of(path)).second) return;
    if (has_not_begun(file)) {
      note("{}: has not begun", path);
      ++done_.not_begun;
      if (counts) taker_.take(row_of_none(path, "unfinished"), nullptr);
    } else if (const auto why = why_no_result(file)) {
      leave_out(folder_of(path), file.damage ? *why : path + ": line 1: " + *why);
    } else if (!counts) {
      ++done_.unlisted;
    } else if (const auto [first, is_new] =
                   of_hash.emplace(*text_at(file.header, {"case_hash"}), path);
               !is_new) {
      // It would be one more seed, and make the spread smaller than it is.
      leave_out(folder_of(path),
                first->second + " and " + path + " are the same case; keep one of them");
    } else {
      taker_.take(case_row(file, path, beside.spec), &file);
      ++done_.cases;
      done_.points += file.trace.size();
    }
  }

  static std::string folder_of(const std::string& path) {
    return fs::path(path).parent_path().string();
  }

  void leave_out(const std::string& folder, const std::string& why) {
    warn("{}; it is left out", why);
    ++done_.left_out;
    if (taker_.leave_out) taker_.leave_out(folder, why);
  }

  const SummarizeOptions& options_;
  const CaseTaker& taker_;
  std::set<std::string> seen_;  // each file counts once
  Summarized done_;
};

// ---- as comma-separated values
// -------------------------------------------------------------------

using FlatRow = std::map<std::string, Json>;

// Whether a spreadsheet would run it as a formula: a quote in front makes it a text. Plain numbers
// begin like formulas, and are kept.
bool is_formula(const std::string& text) {
  constexpr std::string_view kBegins = "=+-@\t\r";
  if (text.empty() || kBegins.find(text.front()) == kBegins.npos) return false;
  constexpr std::string_view kNumber = "+-.0123456789eE";
  return text.find_first_not_of(kNumber) != text.npos ||
         text.find_first_of("0123456789") == text.npos;
}

std::string quoted(const std::string& given) {
  const std::string text = (is_formula(given) ? "'" : "") + printable(given);
  // The empty text in quotes: an empty cell means a missing value.
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

// "a,b,c"
std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
  return line;
}

// Adds the values of an object, nested objects' under their names joined by dots: {"a": {"b": 1}}
// gives {prefix}a.b.
void add_flat(const Json& object, const std::string& prefix, FlatRow& cells) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_flat(value, prefix + key + ".", cells);
    } else {
      cells.emplace(prefix + key, value);
    }
  }
}

constexpr std::array<std::string_view, 6> kParameters = {"params", "schedule", "init",
                                                         "stop",   "evaluate", "split"};

std::string first_key(const std::string& column) { return column.substr(0, column.find('.')); }

bool is_parameter_column(const std::string& column) {
  return column.find('.') != std::string::npos &&
         std::find(kParameters.begin(), kParameters.end(), first_key(column)) != kParameters.end();
}

// Both tables before they are written: the last case may bring a column.
class CsvTables {
 public:
  CsvTables() {
    for (const ResultField& field : result_fields()) {
      if (field.of == FieldOf::trace || field.of == FieldOf::of_point) {
        point_columns_.emplace_back(field.path);
        continue;
      }
      places_.emplace(field.column(), places_.size());
      if (field.type != FieldType::object) columns_.insert(field.column());
    }
  }

  void add(const Json& row, const ResultFile& file) {
    FlatRow cells;
    add_flat(row, "", cells);
    CsvCase& one = cases_.emplace_back();
    for (const auto& [column, value] : cells) {
      if (value.is_null() || (value.is_object() && value.empty())) continue;
      one.cells.emplace_back(&*columns_.insert(column).first, csv_cell(value));
    }
    one.points = point_columns(file);
    for (const auto& [column, values] : one.points.items()) {
      const bool known = std::count(point_columns_.begin(), point_columns_.end(), column) > 0;
      if (!known) further_point_columns_.insert(column);
    }
  }

  void write(const std::string& cases, const std::string& trace, Summarized& done) const {
    AtomicFile case_file(cases), trace_file(trace);
    done.case_columns = write_cases(case_file);
    done.trace_columns = write_trace(trace_file);
    case_file.commit();
    trace_file.commit();
  }

 private:
  using Columns = std::vector<std::string>;
  // Thousands of them are held: the texts of its cells, with the names in columns_.
  struct CsvCase {
    std::vector<std::pair<const std::string*, std::string>> cells;
    Json points;
  };

  // Columns of fields in their places, by name; others at the end.
  Columns ordered_columns() const {
    Columns columns(columns_.begin(), columns_.end());
    const auto key = [&](const std::string& column) {
      auto at = places_.find(column);
      if (at == places_.end()) at = places_.find(first_key(column));
      return std::pair(at == places_.end() ? places_.size() : at->second, column);
    };
    std::sort(columns.begin(), columns.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return columns;
  }

  std::size_t write_cases(AtomicFile& file) const {
    const Columns columns = ordered_columns();
    file.write("case," + csv_line(columns) + "\n");
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      file.write(fmt::format("{},{}\n", i, cells_of(cases_[i], columns)));
    }
    return columns.size() + 1;
  }

  // Each point with the name and the parameters of its case.
  std::size_t write_trace(AtomicFile& file) const {
    const Columns names = {"case_id", "algorithm", "dataset", "seed"};
    Columns of_point = point_columns_;
    of_point.insert(of_point.end(), further_point_columns_.begin(), further_point_columns_.end());
    Columns parameters = ordered_columns();
    std::erase_if(parameters, [](const auto& column) { return !is_parameter_column(column); });
    Columns columns = names;
    columns.insert(columns.end(), of_point.begin(), of_point.end());
    columns.insert(columns.end(), parameters.begin(), parameters.end());
    file.write("case," + csv_line(columns) + "\n");
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const Json& points = cases_[i].points;
      const std::string begin = fmt::format("{},{}", i, cells_of(cases_[i], names));
      const std::string end = parameters.empty() ? "" : "," + cells_of(cases_[i], parameters);
      for (std::size_t k = 0; k < value_at(points, {"epoch"}).size(); ++k) {
        std::string line = begin;
        for (const auto& column : of_point) {
          const Json& values = value_at(points, {column.c_str()});
          line += "," + (values.is_null() ? "" : csv_cell(values[k]));
        }
        file.write(line + end + "\n");
      }
    }
    return columns.size() + 1;
  }

  // "0.05,,16"
  static std::string cells_of(const CsvCase& one, const Columns& columns) {
    std::map<std::string_view, std::string_view> cells;
    for (const auto& [column, text] : one.cells) cells[*column] = text;
    std::string text;
    for (const auto& column : columns) text += std::string(cells[column]) + ",";
    return text.substr(0, text.size() - 1);
  }

  std::map<std::string, std::size_t> places_;
  std::set<std::string> columns_, further_point_columns_;
  Columns point_columns_;
  std::vector<CsvCase> cases_;
};

std::string lines_of(const ResultFile& file) {
  std::string text = file.header.dump() + "\n";
  for (const Json& point : file.trace) text += point.dump() + "\n";
  return file.finished() ? text + file.footer.dump() + "\n" : text;
}

}  // namespace

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  const std::string text = value.dump();
  return value.is_structured() ? quoted(text) : text;
}

Summarized summarize_as_json(const SummarizeOptions& options, std::ostream& out) {
  const auto print = [&](const Json& line) {
    out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  };
  CaseTaker taker;
  taker.take = [&](const Json& row, const ResultFile* file) {
    Json line = {{"type", "case"}};
    line.update(row);
    line["trace"] = point_columns(file == nullptr ? ResultFile() : *file);
    if (file != nullptr && options.with_lines) line["lines"] = lines_of(*file);
    print(line);
  };
  taker.leave_out = [&](const std::string& folder, const std::string& why) {
    print({{"type", "left_out"}, {"folder", folder}, {"why", why}});
  };
  return ResultReading(options, taker).read();
}

Summarized summarize_as_csv(const SummarizeOptions& options, const std::string& cases,
                            const std::string& trace) {
  CsvTables tables;
  CaseTaker taker;
  taker.take = [&](const Json& row, const ResultFile* file) {
    if (file != nullptr) tables.add(row, *file);
  };
  Summarized done = ResultReading(options, taker).read();
  if (done.cases == 0) fail(ErrorKind::usage, "{}: no result", join(options.paths));
  tables.write(cases, trace, done);
  return done;
}

}  // namespace mf
