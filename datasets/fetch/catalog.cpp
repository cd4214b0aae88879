#include "datasets/fetch/catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace mf {

extern const std::string kCatalogJson;  // catalog.json, embedded by the build

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;

CatalogFile parse_file(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  CatalogFile file;
  reader.require("name");
  reader.require("format");
  file.name = reader.string("name", "");
  file.format = reader.string("format", "");
  file.sha256 = reader.string("sha256", "");
  file.member = reader.string("member", "");
  reader.finish();
  return file;
}

GivenSplit parse_split(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  GivenSplit split;
  reader.require("name");
  split.name = reader.string("name", "");
  split.train = reader.string("train", "");
  split.test = reader.string("test", "");
  split.probe = reader.string("probe", "");
  split.nnz = reader.integer("nnz", 0, 0, kMost);
  reader.finish();
  if (split.probe.empty() == (split.train.empty() || split.test.empty())) {
    fail(ErrorKind::usage, "{}: expected \"train\" and \"test\", or \"probe\"", where);
  }
  return split;
}

RatingScale parse_scale(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  RatingScale scale;
  scale.min = static_cast<float>(reader.number("min", 0, -1e6, 1e6));
  scale.max = static_cast<float>(reader.number("max", 0, -1e6, 1e6));
  scale.step = static_cast<float>(reader.number("step", 0, 0, 1e6));
  reader.finish();
  if (const auto why = why_no_scale(scale)) fail(ErrorKind::usage, "{}: {}", where, *why);
  return scale;
}

// Calls body(element, its JSON path) for the elements of a list.
template <class Body>
void for_list(const Json& list, const std::string& where, const Body& body) {
  if (!list.is_array()) {
    fail(ErrorKind::usage, "{}: found {}, expected a list", where, describe(list));
  }
  for (std::size_t i = 0; i < list.size(); ++i) body(list[i], fmt::format("{}[{}]", where, i));
}

std::string file_name(const Json& json, const std::string& where) {
  if (json.is_string()) return json;
  fail(ErrorKind::usage, "{}: found {}, expected the name of a file", where, describe(json));
}

void parse_files(JsonReader& reader, CatalogEntry& entry) {
  for_list(reader.require("files"), reader.path("files"), [&](const Json& one, const auto& where) {
    entry.files.push_back(parse_file(one, where));
  });
  for_list(reader.require("whole"), reader.path("whole"), [&](const Json& one, const auto& where) {
    entry.whole.push_back(file_name(one, where));
  });
  const Json* splits = reader.find("splits");
  if (splits == nullptr) return;
  for_list(*splits, reader.path("splits"), [&](const Json& one, const auto& where) {
    entry.splits.push_back(parse_split(one, where));
  });
}

CatalogEntry parse_entry(const Json& json, const std::string& where) {
  JsonReader reader(json, where);
  CatalogEntry entry;
  for (const char* key : {"name", "title", "origin", "licence", "citation", "redistributable"}) {
    reader.require(key);
  }
  entry.name = reader.string("name", "");
  entry.title = reader.string("title", "");
  entry.origin = reader.string("origin", "");
  entry.url = reader.string("url", "");
  entry.archive_sha256 = reader.string("archive_sha256", "");
  entry.archive_md5 = reader.string("archive_md5", "");
  entry.licence = reader.string("licence", "");
  entry.citation = reader.string("citation", "");
  entry.redistributable = reader.boolean("redistributable", false);
  entry.n_users = reader.integer("n_users", 0, 0, kMost);
  entry.n_items = reader.integer("n_items", 0, 0, kMost);
  entry.nnz = reader.integer("nnz", 0, 0, kMost);
  entry.counts_verified = reader.boolean("counts_verified", false);
  entry.duplicates = reader.choice("duplicates", "error", {"last", "mean", "error"});
  entry.scale = parse_scale(reader.require("scale"), reader.path("scale"));
  parse_files(reader, entry);
  reader.find("note");  // for readers of the file
  reader.finish();
  return entry;
}

// Every file that is spoken of must be described.
void check_references(const CatalogEntry& entry) {
  if (entry.whole.empty()) fail(ErrorKind::usage, "{}: \"whole\" is empty", entry.name);
  for (const auto& name : entry.whole) find_catalog_file(entry, name);
  for (const auto& split : entry.splits) {
    for (const auto& name : {split.train, split.test, split.probe}) {
      if (!name.empty()) find_catalog_file(entry, name);
    }
  }
}

template <class T>
std::vector<std::string> names_of(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one.name);
  return names;
}

template <class T>
const T& find_named(const std::vector<T>& list, const std::string& name, const std::string& what) {
  for (const T& one : list) {
    if (one.name == name) return one;
  }
  const auto names = names_of(list);
  const std::string near = nearest(name, names);
  fail(ErrorKind::usage, "unknown {} \"{}\"{}; known: {}", what, name,
       near.empty() ? "" : ", did you mean \"" + near + "\"?",
       names.empty() ? "none" : join(names));
}

}  // namespace

std::vector<CatalogEntry> parse_catalog(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  JsonReader reader(json, "$");
  const Json& datasets = reader.require("datasets");
  reader.find("about");
  reader.finish();
  std::vector<CatalogEntry> entries;
  for_list(datasets, name + ":$.datasets", [&](const Json& one, const std::string& where) {
    entries.push_back(parse_entry(one, where));
    check_references(entries.back());
  });
  return entries;
}

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = parse_catalog(kCatalogJson, "catalog.json");
  return entries;
}

const CatalogEntry* catalog_entry_or_null(const std::string& name) {
  const auto& entries = catalog();
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const CatalogEntry& entry) { return entry.name == name; });
  return it == entries.end() ? nullptr : &*it;
}

const CatalogEntry& find_catalog_entry(const std::string& name) {
  return find_named(catalog(), name, "data set");
}

const CatalogFile& find_catalog_file(const CatalogEntry& entry, const std::string& file) {
  return find_named(entry.files, file, "file of " + entry.name);
}

const GivenSplit& find_given_split(const CatalogEntry& entry, const std::string& split) {
  return find_named(entry.splits, split, "given split of " + entry.name);
}

bool is_fetched(const CatalogEntry& entry, const CatalogFile& file) {
  return !entry.url.empty() && (!file.member.empty() || entry.url.ends_with("/" + file.name));
}

std::vector<std::string> data_folders() {
  const char* value = std::getenv("MFBENCH_DATA");
  if (value == nullptr || *value == '\0') return {"data"};
  std::vector<std::string> folders;
  std::string text = value;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    if (colon > at) folders.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  if (folders.empty()) folders.emplace_back("data");
  return folders;
}

std::optional<std::string> find_data_file(const CatalogEntry& entry, const std::string& file) {
  for (const auto& folder : data_folders()) {
    for (const char* suffix : {"", ".xz", ".gz", ".zst"}) {
      const fs::path path = fs::path(folder) / entry.name / (file + suffix);
      if (std::error_code error; fs::exists(path, error)) return path.string();
    }
  }
  return std::nullopt;
}

}  // namespace mf
