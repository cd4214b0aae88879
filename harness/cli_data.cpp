#include "harness/commands.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/data_commands.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/fetch/fetch.hpp"
#include "datasets/load.hpp"
#include "datasets/readers/readers.hpp"

namespace mf {
namespace {

std::string format_help() {
  std::string text = "auto";
  for (const auto& format : reader_formats()) text += " | " + format.name;
  return text;
}

constexpr const char* kIdsHelp = "auto | integers | text: the kind of ids in the files";

constexpr const char* kColumnsHelp =
    "user=NAME,item=NAME,rating=NAME,time=NAME: columns of a header, or #3: the third without one";

// Any of the four, each once.
ColumnNames columns_of(const std::vector<std::string>& words) {
  ColumnNames columns;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto role = kRoleNames.find(word.substr(0, equals));
    if (!role || equals + 1 >= word.size() || equals == word.npos || !columns.of(*role).empty()) {
      fail(ErrorKind::usage, "--columns: found {}, expected {}", in_quotes(word), kColumnsHelp);
    }
    columns.of(*role) = word.substr(equals + 1);
  }
  return columns;
}

struct DataOptions {
  bool json = false;
  std::string what;
  std::string format = "auto", ids = "auto";
  std::optional<double> min_rating;
  std::string value = "binary";
  DataImportOptions own;
  std::vector<float> scale;
  std::vector<std::string> columns;
  FetchOptions fetch;
  std::string fit_out;
};

// A word as in a spec (datasets/dataset_entry.hpp).
DatasetRequest request_asked(const DataOptions& options) {
  const std::string& word = options.what;
  Json object = entry_of_word(word);
  if (object.contains("path")) {
    object["format"] = options.format;
    object["ids"] = options.ids;
    if (options.own.unrated) object["unrated"] = *options.own.unrated;
  }
  if (options.min_rating) {
    object["implicit"] = {{"min_rating", *options.min_rating}, {"value", options.value}};
  }
  DatasetRequest request = request_of(object, word);
  if (object.contains("path")) request.columns = columns_of(options.columns);
  return request;
}

void add_list(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* list = data.add_subcommand("list", "list real data sets, imported ones and look-alikes");
  list->add_flag("--json", o->json, "as JSON");
  list->callback([o] { data_list(std::cout, o->json); });
}

void add_stats(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* stats = data.add_subcommand("stats", "show statistics of the ratings of a set");
  stats
      ->add_option("set", o->what,
                   "NAME[@SPLIT], like:NAME[:FACTOR], expand:NAME:USERS:ITEMS, or a file")
      ->required();
  stats->add_option("--format", o->format, format_help());
  stats->add_option("--ids", o->ids, kIdsHelp);
  stats->add_option("--columns", o->columns, kColumnsHelp)->delimiter(',');
  stats->add_option("--unrated", o->own.unrated, kUnratedHelp);
  auto* least = stats->add_option("--min-rating", o->min_rating,
                                  "as implicit feedback: observed pairs are ratings from here on");
  stats->add_option("--value", o->value, "binary | rating: the value of an observed pair")
      ->needs(least);
  stats->add_flag("--json", o->json, "as JSON");
  stats->callback([o] { data_stats(std::cout, {request_asked(*o), o->json, hardware_threads()}); });
}

void add_import(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* command = data.add_subcommand("import", "keep files of your own under a name for specs");
  command->add_option("name", o->own.name, "letters, digits, . _ -")->required();
  auto* path = command->add_option("path", o->own.path, "the ratings");
  auto* train = command->add_option("--train", o->own.train, "the train file, instead of path");
  auto* test = command->add_option("--test", o->own.test, "the test file");
  command->add_option("--validation", o->own.validation, "the validation file")->needs(train);
  train->needs(test)->excludes(path);
  test->needs(train);
  command->add_option("--format", o->own.format, format_help());
  command->add_option("--ids", o->own.ids, kIdsHelp);
  command->add_option("--columns", o->columns, kColumnsHelp)->delimiter(',');
  command->add_option("--duplicates", o->own.duplicates, join(kDuplicatePolicyNames.all(), " | "));
  command->add_option("--unrated", o->own.unrated, kUnratedHelp);
  command->add_option("--rating-scale", o->scale, "MIN MAX STEP: a rating outside is an error")
      ->expected(3);
  command->add_flag("--times", o->own.times, "keep the times of the ratings, for splits by time");
  command->add_flag("--replace", o->own.replace, "replace an earlier import of this name");
  command->callback([o] {
    if (!o->scale.empty()) {
      o->own.scale = RatingScale{o->scale[0], o->scale[1], o->scale[2]};
      if (const auto why = why_no_scale(*o->own.scale)) {
        fail(ErrorKind::usage, "--rating-scale: {}", *why);
      }
    }
    o->own.columns = columns_of(o->columns);
    o->own.threads = hardware_threads();
    data_import(std::cout, o->own);
  });
}

void add_remove(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* command =
      data.add_subcommand("remove", "remove an imported set; the files that it came from stay");
  command->add_option("name", o->own.name, "name of the imported set")->required();
  command->callback([o] { data_remove(std::cout, o->own.name); });
}

void add_fetch(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* fetch = data.add_subcommand("fetch", "download a set of the catalog from its origin");
  fetch->add_option("name", o->fetch.name, "name in the catalog: mfbench data list")->required();
  fetch->add_option("--into", o->fetch.folder, "folder [the first of MFBENCH_DATA, else data]");
  fetch->add_option("--mirror", o->fetch.mirror, "URL of a folder to use instead of the origin");
  fetch->add_flag("--again", o->fetch.again, "download again what is there already");
  fetch->add_flag("--quiet", o->fetch.quiet, "show no progress; the licence is shown");
  fetch->callback([o] { fetch_dataset(o->fetch); });
}

void add_fit(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* fit = data.add_subcommand("fit", "fit a look-alike to a set: a profile for specs");
  fit->add_option("set", o->what, "NAME of the catalog, or of an imported set with a scale")
      ->required();
  fit->add_option("out", o->fit_out, "file of the profile, .json")->required();
  fit->callback([o] {
    if (!o->fit_out.ends_with(".json"))
      fail(ErrorKind::usage, "{}: expected a file .json for the profile", in_quotes(o->fit_out));
    if (const auto why = why_no_rating_scale(request_asked(*o)))
      fail(ErrorKind::usage, "{}: a look-alike needs ratings with a scale: {}", o->what, *why);
    become_script("datasets/synthetic/fit.py",
                  {std::filesystem::read_symlink("/proc/self/exe").string(), o->what, o->fit_out},
                  "data fit needs Python 3 with scipy (python3-scipy)");
  });
}

}  // namespace

Json entry_of_word(const std::string& word) {
  Json entry = expand_dataset_entry(word, word);
  if (entry.contains("path")) entry["duplicates"] = "last";
  return entry;
}

DatasetRequest request_of(const Json& entry, const std::string& word) {
  JsonReader reader(entry, word);
  reader.inherited("name", word);
  DatasetRequest request = parse_dataset_request(reader);
  reader.finish();
  return request;
}

Json formats_json() {
  Json all = Json::array();
  for (const auto& one : reader_formats()) {
    all.push_back({{"name", one.name}, {"help", one.help}, {"text_ids", one.text_ids}});
  }
  return all;
}

void add_data_commands(CLI::App& app) {
  auto* data =
      app.add_subcommand("data", "manage data sets: list, stats, import, remove, fetch, fit");
  data->require_subcommand(1);
  const auto options = std::make_shared<DataOptions>();
  add_list(*data, options);
  add_stats(*data, options);
  add_import(*data, options);
  add_remove(*data, options);
  add_fetch(*data, options);
  add_fit(*data, options);
}

}  // namespace mf
