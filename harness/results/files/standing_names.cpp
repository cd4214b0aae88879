#include "harness/results/files/standing_names.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "base/json/json_values.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// Of the header; empty where the file has none that is whole.
std::string case_hash_in(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!std::getline(in, line) || in.eof()) return "";
  const Json header = Json::parse(line, nullptr, false);
  if (text_at(header, {"type"}) != "header") return "";
  return text_at(header, {"case_hash"}).value_or("");
}

// Of two files with one hash, the first by name.
std::map<std::string, std::string> names_by_hash(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl" && entry.is_regular_file())
      paths.push_back(entry.path());
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
  if (!fs::is_directory(folder)) return spec;
  const auto absent = [&](const Case& item) {
    return !fs::exists(folder + "/" + item.id + ".jsonl");
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
