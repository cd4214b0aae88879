#include "harness/results/files/stored_results.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCase = ".jsonl";
constexpr std::string_view kPacked = ".jsonl.xz";

bool holds_results(const fs::path& folder) {
  if (!is_folder(folder.string())) return false;
  const auto begin = fs::directory_iterator(folder);
  return std::any_of(begin, fs::directory_iterator(), [](const auto& entry) {
    return entry.path().extension() == kCase || entry.path().filename() == "spec.json";
  });
}

bool lists_cases(const Json& spec) {
  const Json& ids = value_at(spec, {"cases"});
  return ids.is_array() &&
         std::all_of(ids.begin(), ids.end(), [](const Json& id) { return id.is_string(); });
}

Json read_if_there(const fs::path& file) {
  if (!is_taken(file.string())) return {};
  try {
    return read_json_file(file.string(), Origin::found);
  } catch (const Error&) {
    return Json::object();
  }
}

StoredResults read_folder(const std::string& folder) {
  StoredResults results;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != kCase) continue;
    if (auto file = read_result_file(entry.path().string())) {
      results.cases.push_back({entry.path().string(), std::move(*file)});
    }
  }
  results.study = read_if_there(fs::path(folder) / "study.json");
  const std::string spec = folder + "/spec.json";
  results.spec = read_if_there(spec);
  if (results.spec.is_null() || lists_cases(results.spec)) return results;
  results.spec = nullptr;
  if (results.cases.empty()) return results;  // a file of this name that is not ours
  results.damaged_spec = true;
  warn("{}: is damaged: expected a list \"cases\" of case ids; all cases of the folder count",
       spec);
  return results;
}

// What the first line holds beside its type.
void take_first_line(Json line, const std::string& path, StoredResults& results) {
  const auto type = text_at(line, {"type"}).value_or("");
  if (type != "spec" && type != "study") {
    fail_in_file(path + ": line 1", "no such line", "the spec or the study that was packed",
                 "pack the folder again");
  }
  line.erase("type");
  if (!line.empty()) (type == "spec" ? results.spec : results.study) = std::move(line);
}

// "als-s1-0a" of the case als-s1-0a, and e2-0b of the trial als-ml-1m-77/e2-0b.
std::string file_name_of(const Json& header) {
  return fs::path(text_at(header, {"case_id"}).value_or("")).filename().string();
}

StoredResults read_packed(const std::string& path) {
  const Bytes packed = map_file(path, Origin::found);
  return read_packed_lines(path, decompress(path, packed, Compression::xz).view);
}

}  // namespace

std::string StoredCase::name() const { return fs::path(path).stem().string(); }

std::optional<std::set<std::string>> StoredResults::listed() const {
  if (!lists_cases(spec)) return std::nullopt;
  return spec["cases"].get<std::set<std::string>>();
}

bool is_packed_name(const std::string& path) { return path.ends_with(kPacked); }

std::string folder_of_packed(const std::string& file) {
  return file.substr(0, file.size() - kPacked.size());
}

std::optional<std::string> packed_in_place_of(const std::string& path) {
  if (is_packed_name(path)) return is_taken(path) ? std::optional(path) : std::nullopt;
  std::string folder = fs::path(path).lexically_normal().string();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const std::string packed = folder + std::string(kPacked);
  if (!is_taken(packed) || holds_results(path)) return std::nullopt;
  return packed;
}

StoredResults read_packed_lines(const std::string& path, std::string_view rest) {
  StoredResults results;
  if (rest.empty()) fail_in_file(path, "nothing in it", "results", "pack the folder again");
  CaseLines current(path);
  const auto finish = [&] {
    if (current.file().header.is_null() && !current.file().damage) return;
    const std::string name = file_name_of(current.file().header) + std::string(kCase);
    results.cases.push_back({folder_of_packed(path) + "/" + name, current.take()});
  };
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      fail_in_file(path, "a last line without its end", "results", "pack the folder again");
    }
    const std::string text(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    Json line = Json::parse(text, nullptr, false);
    if (number == 1) {
      take_first_line(std::move(line), path, results);
      continue;
    }
    if (text_at(line, {"type"}) == "header") {
      finish();
      current = CaseLines(path);
    }
    current.add(text, std::move(line), number);
  }
  finish();
  return results;
}

StoredResults read_stored_results(const std::string& path) {
  const auto packed = packed_in_place_of(path);
  if (!packed && !is_folder(path)) {
    fail(ErrorKind::usage, "{}: is no folder of results", path);
  }
  StoredResults results = packed ? read_packed(*packed) : read_folder(path);
  results.contribution =
      read_if_there(fs::path(packed ? folder_of_packed(*packed) : path) / "contribution.json");
  std::stable_sort(results.cases.begin(), results.cases.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
  return results;
}

}  // namespace mf
