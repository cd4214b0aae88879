#include "harness/results/files/stored_results.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/files/held_folder.hpp"
#include "base/files/mapped_file.hpp"
#include "base/files/open_file.hpp"
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

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

Json read_if_there(const fs::path& file) {
  if (!is_taken(file.string())) return {};
  try {
    return read_json_file(file.string(), Origin::found);
  } catch (const Error&) {
    return Json::object();
  }
}

std::vector<std::string> cases_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kCase) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void read_beside(const std::string& folder, bool has_cases, StoredSpec& beside) {
  beside.study = read_if_there(fs::path(folder) / "study.json");
  const std::string spec = folder + "/spec.json";
  beside.spec = read_if_there(spec);
  if (beside.spec.is_null() || lists_cases(beside.spec)) return;
  beside.spec = nullptr;
  if (!has_cases) return;  // a file of this name that is not ours
  beside.damaged_spec = true;
  warn("{}: is damaged: expected a list \"cases\" of case ids; all cases of the folder count",
       spec);
}

// As `listed`, unlisted ones behind the others.
void order_as_listed(std::vector<std::string>& paths, const StoredSpec& beside) {
  std::map<std::string, std::size_t> places;
  for (const auto& name : beside.listed().value_or(std::vector<std::string>())) {
    places.emplace(name, places.size());
  }
  const auto place_of = [&](const std::string& path) {
    const auto at = places.find(stem_of(path));
    return at == places.end() ? places.size() : at->second;
  };
  std::stable_sort(paths.begin(), paths.end(),
                   [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
}

StoredSpec visit_folder(const std::string& folder, const TakeStored& take) {
  StoredSpec beside;
  std::vector<std::string> paths = cases_in(folder);
  read_beside(folder, !paths.empty(), beside);
  order_as_listed(paths, beside);
  for (const auto& path : paths) {
    if (auto file = read_result_file(path)) take({path, std::move(*file)}, beside);
  }
  return beside;
}

// The content of the first line beside its type.
void take_first_line(Json line, const std::string& path, StoredSpec& beside) {
  const auto type = text_at(line, {"type"}).value_or("");
  if (type != "spec" && type != "study") {
    fail_in_file(path + ": line 1", "no such line", "the spec or the study that was packed",
                 "pack the folder again");
  }
  line.erase("type");
  if (!line.empty()) (type == "spec" ? beside.spec : beside.study) = std::move(line);
}

// "als-s1-0a" of the case als-s1-0a, and e2-0b of the trial als-ml-1m-77/e2-0b.
std::string file_name_of(const Json& header) {
  return fs::path(text_at(header, {"case_id"}).value_or("")).filename().string();
}

// ---- names ----

// For the header; empty if the file has no whole one.
std::string case_hash_in(const std::string& path) {
  std::string text;
  try {
    text = read_text(path, Origin::found);
  } catch (const Error&) {
    return "";
  }
  const std::size_t end = text.find('\n');
  if (end == text.npos) return "";
  const Json header =
      Json::parse(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  if (text_at(header, {"type"}) != "header") return "";
  return text_at(header, {"case_hash"}).value_or("");
}

// For two files with one hash, the first by name.
std::map<std::string, std::string> names_by_hash(const std::string& folder) {
  std::map<std::string, std::string> names;
  for (const auto& path : cases_in(folder)) {
    if (const auto hash = case_hash_in(path); !hash.empty()) names.emplace(hash, stem_of(path));
  }
  return names;
}

}  // namespace

std::string StoredCase::name() const { return stem_of(path); }

std::optional<std::vector<std::string>> StoredSpec::listed() const {
  if (!lists_cases(spec)) return std::nullopt;
  return spec["cases"].get<std::vector<std::string>>();
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

StoredSpec visit_packed_lines(const std::string& path, std::string_view rest,
                              const TakeStored& take) {
  StoredSpec beside;
  if (rest.empty()) fail_in_file(path, "nothing in it", "results", "pack the folder again");
  CaseLines current(path);
  const auto finish = [&] {
    if (current.file().header.is_null() && !current.file().damage) return;
    const std::string name = file_name_of(current.file().header) + std::string(kCase);
    take({folder_of_packed(path) + "/" + name, current.take()}, beside);
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
      take_first_line(std::move(line), path, beside);
      continue;
    }
    if (text_at(line, {"type"}) == "header") {
      finish();
      current = CaseLines(path);
    }
    current.add(text, std::move(line), number);
  }
  finish();
  return beside;
}

StoredSpec visit_stored_results(const std::string& path, const TakeStored& take) {
  const HeldFolder held(path);
  if (const auto packed = packed_in_place_of(path)) {
    const Bytes lines = of_whole_files(
        [&] { return decompress(*packed, map_file(*packed, Origin::found), Compression::xz); });
    return visit_packed_lines(*packed, lines.view, take);
  }
  if (!is_folder(path)) fail(ErrorKind::usage, "{}: is no folder of results", path);
  return visit_folder(path, take);
}

Spec named_as_in(const std::string& folder, Spec spec) {
  if (!is_folder(folder)) return spec;
  const auto absent = [&](const Case& item) {
    return !is_taken(folder + "/" + item.id + ".jsonl");
  };
  if (std::none_of(spec.cases.begin(), spec.cases.end(), absent)) return spec;
  const auto names = names_by_hash(folder);
  // A file under the name of another case is in its way, not the result.
  std::set<std::string> taken;
  for (const auto& item : spec.cases) taken.insert(item.id);
  for (auto& item : spec.cases) {
    const auto found = names.find(item.hash);
    if (found == names.end() || !absent(item)) continue;
    if (taken.insert(found->second).second) item.id = found->second;
  }
  return spec;
}

}  // namespace mf
