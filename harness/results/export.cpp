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
#include "harness/results/study_files.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

bool is_result_path(const fs::path& path) { return path.extension() == ".jsonl"; }

struct FoundFile {
  std::string path;
  bool listed = true;
};

// The result files of all paths, each once, those of a folder by name.
class Search {
 public:
  explicit Search(ExportSummary& summary) : summary_(summary) {}

  void add(const std::string& path) {
    if (fs::is_directory(path)) {
      add_tree(path);
    } else if (fs::exists(path) && is_result_path(path)) {
      add_file(path, true);
    } else {
      fail(ErrorKind::usage, "{}: {}; expected a folder of results or a .jsonl file", path,
           fs::exists(path) ? "is neither" : "no such file or folder");
    }
  }

  const std::vector<FoundFile>& files() const { return files_; }

 private:
  void add_tree(const std::string& root) {
    std::set<fs::path> folders = {root};
    for (auto at = fs::recursive_directory_iterator(root); at != fs::recursive_directory_iterator();
         ++at) {
      if (!at->is_directory()) continue;
      // Trials are no cases: they are exported where their own folder is named.
      if (holds_studies(at->path().string())) {
        at.disable_recursion_pending();
      } else {
        folders.insert(at->path());
      }
    }
    for (const auto& folder : folders) add_folder(folder);
  }

  void add_folder(const fs::path& folder) {
    std::set<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (is_result_path(entry.path())) paths.insert(entry.path());
    }
    const auto listed = listed_ids(folder, paths.empty());
    for (const auto& path : paths) {
      add_file(path.string(), !listed || listed->count(path.stem().string()) > 0);
    }
    if (!listed) return;
    const auto absent = std::count_if(listed->begin(), listed->end(), [&](const std::string& id) {
      return paths.count(folder / (id + ".jsonl")) == 0;
    });
    if (absent == 0) return;
    note("{}: {} of {} cases have not begun", folder.string(), absent, listed->size());
    summary_.not_begun += static_cast<int>(absent);
  }

  void add_file(const std::string& path, bool listed) {
    if (seen_.insert(fs::canonical(path).string()).second) files_.push_back({path, listed});
  }

  // The cases of the folder's spec.json; nothing where there is none that can be read.
  std::optional<std::set<std::string>> listed_ids(const fs::path& folder, bool no_results) {
    const std::string path = (folder / "spec.json").string();
    if (!fs::exists(path)) return std::nullopt;
    try {
      const Json spec = read_json_file(path);
      if (const Json& ids = value_at(spec, {"cases"}); ids.is_array()) {
        return ids.get<std::set<std::string>>();
      }
    } catch (const std::exception&) {  // as below
    }
    // A file of this name beside no results is somebody else's.
    if (no_results) return std::nullopt;
    warn("{}: is damaged: expected a list \"cases\" of case ids; all cases of the folder count",
         path);
    ++summary_.left_out;
    return std::nullopt;
  }

  ExportSummary& summary_;
  std::vector<FoundFile> files_;
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

}  // namespace

ExportSummary export_results(const ExportOptions& options) {
  ExportSummary summary;
  Search search(summary);
  for (const auto& path : options.paths) search.add(path);
  Tables tables;
  for (const auto& [path, listed] : search.files()) {
    const auto file = read_result_file(path);
    if (!file || has_not_begun(*file)) {
      note("{}: has not begun", path);
      ++summary.not_begun;
      continue;
    }
    if (const auto why = why_no_result(*file)) {
      warn("{}; it is left out", file->damage ? *why : path + ": line 1: " + *why);
      ++summary.left_out;
    } else if (listed || options.unlisted) {
      tables.add(*file, path);
    } else {
      ++summary.unlisted;
    }
  }
  if (tables.empty()) {
    fail(ErrorKind::usage, "{}: no result that could be exported", join(options.paths));
  }
  tables.write(options, summary);
  return summary;
}

}  // namespace mf
