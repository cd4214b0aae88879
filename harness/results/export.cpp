#include "harness/results/export.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "harness/results/export_rows.hpp"
#include "harness/results/stored_results.hpp"
#include "harness/results/study_files.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

bool is_result_path(const fs::path& path) { return path.extension() == ".jsonl"; }

struct Place {
  std::string path;
  bool is_file = false;  // a single case
};

// The folders of results below all paths, each once, and the single files among them.
class Search {
 public:
  void add(const std::string& path) {
    if (const auto packed = packed_in_place_of(path)) {
      add_place({folder_of_packed(*packed)});
    } else if (fs::is_directory(path)) {
      add_tree(path);
    } else if (fs::exists(path) && is_result_path(path)) {
      add_place({path, true});
    } else {
      fail(ErrorKind::usage, "{}: {}; expected a folder of results or a .jsonl file", path,
           fs::exists(path) ? "is neither" : "no such file or folder");
    }
  }

  const std::vector<Place>& places() const { return places_; }

 private:
  void add_tree(const std::string& root) {
    std::set<fs::path> folders = {root};
    for (auto at = fs::recursive_directory_iterator(root); at != fs::recursive_directory_iterator();
         ++at) {
      const std::string path = at->path().string();
      if (is_packed_name(path)) folders.insert(folder_of_packed(path));
      if (!at->is_directory()) continue;
      // Trials are no cases: they are exported where their own folder is named.
      if (holds_studies(path)) {
        at.disable_recursion_pending();
      } else {
        folders.insert(at->path());
      }
    }
    for (const auto& folder : folders) add_place({folder.string()});
  }

  void add_place(const Place& place) {
    if (seen_.insert(fs::weakly_canonical(place.path).string()).second) places_.push_back(place);
  }

  std::vector<Place> places_;
  std::set<std::string> seen_;
};

// Both tables before they are written: the last case may bring a column.
class Tables {
 public:
  void add(const ResultFile& file, const std::string& path) {
    const auto number = std::ssize(cases_);
    cases_.push_back(case_cells(file, path, number));
    for (const Json& point : file.trace) {
      trace_.add(trace_cells(file, point, number));
      case_of_point_.push_back(cases_.size() - 1);
    }
  }

  void write(const ExportOptions& options, ExportSummary& summary) const {
    const auto extra = further_columns();
    const CsvTable cases = case_table(extra);
    std::vector<std::string> parameters;
    std::copy_if(extra.begin(), extra.end(), std::back_inserter(parameters), is_parameter);
    AtomicFile case_file(options.cases);
    AtomicFile trace_file(options.trace);
    write_cases(cases, case_file);
    write_trace(parameters, trace_file);
    case_file.commit();
    trace_file.commit();
    summary.cases = cases.rows();
    summary.case_columns = cases.columns().size();
    summary.points = trace_.rows();
    summary.trace_columns = trace_.columns().size() + parameters.size();
  }

  bool empty() const { return cases_.empty(); }

 private:
  // Those that a case has a value for, beyond the ones that are always there.
  std::vector<std::string> further_columns() const {
    const std::set<std::string> fixed(case_columns().begin(), case_columns().end());
    std::set<std::string> found;
    for (const Cells& cells : cases_) {
      for (const auto& [name, value] : cells) {
        if (!value.is_null() && fixed.count(name) == 0) found.insert(name);
      }
    }
    std::vector<std::string> columns(found.begin(), found.end());
    std::sort(columns.begin(), columns.end(), column_before);
    return columns;
  }

  CsvTable case_table(const std::vector<std::string>& extra) const {
    std::vector<std::string> columns = case_columns();
    columns.insert(columns.end(), extra.begin(), extra.end());
    CsvTable table(columns);
    for (Cells cells : cases_) {
      cells.erase(std::remove_if(cells.begin(), cells.end(),
                                 [](const auto& cell) { return cell.second.is_null(); }),
                  cells.end());
      table.add(cells);
    }
    return table;
  }

  static void write_cases(const CsvTable& table, AtomicFile& file) {
    file.write(csv_line(table.columns()) + "\n");
    for (std::size_t i = 0; i < table.rows(); ++i) file.write(table.row(i) + "\n");
  }

  // Each point with the parameters of its case.
  void write_trace(const std::vector<std::string>& parameters, AtomicFile& file) const {
    std::vector<std::string> columns = trace_.columns();
    columns.insert(columns.end(), parameters.begin(), parameters.end());
    file.write(csv_line(columns) + "\n");
    std::vector<std::string> ends;
    for (const Cells& cells : cases_) ends.push_back(cells_of(cells, parameters));
    for (std::size_t i = 0; i < trace_.rows(); ++i) {
      file.write(trace_.row(i) + ends[case_of_point_[i]] + "\n");
    }
  }

  // ",0.05,,16"
  static std::string cells_of(const Cells& cells, const std::vector<std::string>& columns) {
    std::map<std::string, Json> values(cells.begin(), cells.end());
    std::string text;
    for (const auto& name : columns) text += "," + csv_cell(values[name]);
    return text;
  }

  std::vector<Cells> cases_;
  CsvTable trace_{trace_columns()};
  std::vector<std::size_t> case_of_point_;
};

// Nothing but, perhaps, a line without its end: the case has just begun.
bool has_not_begun(const ResultFile& file) { return file.header.is_null() && !file.damage; }

class Export {
 public:
  explicit Export(const ExportOptions& options) : options_(options) {}

  void take(const Place& place) {
    if (place.is_file) {
      const auto file = read_result_file(place.path);
      if (file) take_case({place.path, *file}, true);
      return;
    }
    const StoredResults results = read_stored_results(place.path);
    summary_.left_out += results.damaged_spec ? 1 : 0;
    auto absent = results.listed().value_or(std::set<std::string>());
    for (const auto& one : results.cases) {
      take_case(one, !results.listed() || absent.erase(one.name()) > 0);
    }
    if (absent.empty()) return;
    note("{}: {} of {} cases have not begun", place.path, absent.size(), results.listed()->size());
    summary_.not_begun += static_cast<int>(absent.size());
  }

  ExportSummary finish() {
    if (tables_.empty()) {
      fail(ErrorKind::usage, "{}: no result that could be exported", join(options_.paths));
    }
    tables_.write(options_, summary_);
    return summary_;
  }

 private:
  void take_case(const StoredCase& one, bool listed) {
    const auto& [path, file] = one;
    if (!seen_.insert(fs::weakly_canonical(path).string()).second) return;
    if (has_not_begun(file)) {
      note("{}: has not begun", path);
      ++summary_.not_begun;
    } else if (const auto why = why_no_result(file)) {
      warn("{}; it is left out", file.damage ? *why : path + ": line 1: " + *why);
      ++summary_.left_out;
    } else if (listed || options_.unlisted) {
      tables_.add(file, path);
    } else {
      ++summary_.unlisted;
    }
  }

  const ExportOptions& options_;
  ExportSummary summary_;
  Tables tables_;
  std::set<std::string> seen_;
};

}  // namespace

ExportSummary export_results(const ExportOptions& options) {
  Search search;
  for (const auto& path : options.paths) search.add(path);
  Export tables(options);
  for (const auto& place : search.places()) tables.take(place);
  return tables.finish();
}

}  // namespace mf
