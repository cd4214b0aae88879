#include "datasets/fetch/catalog.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/files/shared_folder.hpp"
#include "base/json/form.hpp"
#include "base/text.hpp"
#include "datasets/ratings/scale_form.hpp"
#include "datasets/readers/columns_form.hpp"

namespace mf {

extern const std::string kCatalogJson;  // catalog.json, embedded by the build

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;

Form<CatalogFile> file_form() {
  return Form<CatalogFile>()
      .name("name", &CatalogFile::name, "")
      .name("format", &CatalogFile::format, "")
      .text("sha256", &CatalogFile::sha256, "")
      .text("member", &CatalogFile::member, "")
      .object("columns", &CatalogFile::columns, columns_form(), "")
      .choice("ids", &CatalogFile::ids, kIdKindNames, "")
      .boolean("damaged_lines", &CatalogFile::damaged_lines, "");
}

Form<LineRange> lines_form() {
  return Form<LineRange>()
      .integer("first", &LineRange::first, 1, kMost, "")
      .integer("last", &LineRange::last, 1, kMost, "");
}

Form<GivenSplit> split_form() {
  return Form<GivenSplit>()
      .name("name", &GivenSplit::name, "")
      .text("train", &GivenSplit::train, "")
      .text("test", &GivenSplit::test, "")
      .text("probe", &GivenSplit::probe, "")
      .text("lines_of", &GivenSplit::lines_of, "")
      .object("test_lines", &GivenSplit::test_lines, lines_form(), "")
      .integer("nnz", &GivenSplit::nnz, 0, kMost, "")
      .then([](JsonReader& reader, const GivenSplit& split) {
        const bool files = !split.train.empty() && !split.test.empty();
        const bool lines =
            !split.lines_of.empty() && split.test_lines.last >= split.test_lines.first;
        if (int{files} + int{lines} + int{!split.probe.empty()} == 1) return;
        fail(ErrorKind::usage,
             "{}: expected \"train\" and \"test\", or \"probe\", or \"lines_of\" and "
             "\"test_lines\"",
             reader.where());
      });
}

bool are_names(const Json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](auto& one) { return one.is_string(); });
}

void read_whole(JsonReader& reader, CatalogEntry& entry) {
  const Json& list = reader.require("whole");
  const bool choices = list.is_array() && !list.empty() &&
                       std::all_of(list.begin(), list.end(),
                                   [](auto& one) { return one.is_string() || are_names(one); });
  if (!choices) {
    fail(ErrorKind::usage, "{}: found {}, expected a list of names of files, or of lists of them",
         reader.path("whole"), describe(list));
  }
  for (const Json& one : list) {
    entry.whole.push_back(one.is_string() ? std::vector{one.get<std::string>()}
                                          : one.get<std::vector<std::string>>());
  }
}

Form<CatalogEntry> entry_form() {
  using Entry = CatalogEntry;
  return Form<Entry>()
      .name("name", &Entry::name, "")
      .name("title", &Entry::title, "")
      .name("origin", &Entry::origin, "")
      .text("url", &Entry::url, "")
      .remark("archive_sha256")
      .remark("archive_md5")
      .name("licence", &Entry::licence, "")
      .name("citation", &Entry::citation, "")
      .boolean("redistributable", &Entry::redistributable, "")
      .required()
      .integer("n_users", &Entry::n_users, 0, kMost, "")
      .integer("n_items", &Entry::n_items, 0, kMost, "")
      .integer("nnz", &Entry::nnz, 0, kMost, "")
      .boolean("counts_verified", &Entry::counts_verified, "")
      .choice("duplicates", &Entry::duplicates, kDuplicatePolicyNames.all(), "error", "")
      .object("scale", &Entry::scale, rating_scale_form(), "")
      .list("files", &Entry::files, file_form(), "")
      .required()
      .field({"whole", "", nullptr, nullptr}, read_whole)
      .list("splits", &Entry::splits, split_form(), "")
      .remark("note");
}

// Every file that is spoken of must be described.
void check_references(const CatalogEntry& entry) {
  for (const auto& names : entry.whole) {
    for (const auto& name : names) find_catalog_file(entry, name);
  }
  for (const auto& split : entry.splits) {
    for (const auto& name : {split.train, split.test, split.probe, split.lines_of}) {
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
  struct File {
    std::vector<CatalogEntry> datasets;
  };
  const auto form =
      Form<File>().list("datasets", &File::datasets, entry_form(), "").required().remark("about");
  auto entries = form.parse(parse_json(text, name), name + ":$").datasets;
  for (const auto& entry : entries) check_references(entry);
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
  auto folders = named_folders("MFBENCH_DATA");
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
