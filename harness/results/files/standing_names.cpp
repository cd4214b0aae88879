#include "harness/results/files/standing_names.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/files/open_file.hpp"
#include "base/json/json_values.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// For the header; empty if the file has no whole one.
std::string case_hash_in(const fs::path& path) {
  std::string text;
  try {
    text = read_text(path.string(), Origin::found);
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
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::map<std::string, std::string> names;
  for (const auto& path : paths) {
    if (const auto hash = case_hash_in(path); !hash.empty()) names.emplace(hash, path.stem());
  }
  return names;
}

}  // namespace

Spec named_as_in(const std::string& folder, Spec spec) {
  if (!is_folder(folder)) return spec;
  const auto absent = [&](const Case& item) {
    return !is_taken(folder + "/" + item.id + ".jsonl");
  };
  if (std::none_of(spec.cases.begin(), spec.cases.end(), absent)) return spec;
  const auto names = names_by_hash(folder);
  std::set<std::string>
      taken;  // a file under the name of another case is in its way, not the result
  for (const auto& item : spec.cases) taken.insert(item.id);
  for (auto& item : spec.cases) {
    const auto found = names.find(item.hash);
    if (found == names.end() || !absent(item)) continue;
    if (taken.insert(found->second).second) item.id = found->second;
  }
  return spec;
}

}  // namespace mf
