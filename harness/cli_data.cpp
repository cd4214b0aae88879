#include "harness/commands.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/key_words.hpp"
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

constexpr const char* kColumnsHelp =
    "user=NAME,item=NAME,rating=NAME,time=NAME: columns of a header, or #3: the third without one";

// Any of the four, each once.
Json columns_of(const std::vector<std::string>& words) {
  Json columns = Json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string role = word.substr(0, equals);
    if (!kRoleNames.find(role) || equals == word.npos || equals + 1 >= word.size() ||
        columns.contains(role)) {
      fail(ErrorKind::usage, "--columns: found {}, expected {}", in_quotes(word), kColumnsHelp);
    }
    columns[role] = word.substr(equals + 1);
  }
  return columns;
}

struct DataOptions {
  bool json = false;
  std::string what;
  Json reading = Json::object();
  DataImportOptions own;
  std::map<std::string, std::string> files;  // to import, by key
  std::vector<float> scale;
  bool times = false;
  FetchOptions fetch;
  std::string fit_out;
};

// A word as in a spec (datasets/dataset_entry.hpp).
DatasetRequest request_asked(const DataOptions& options) {
  Json entry = entry_of_word(options.what);
  entry.update(options.reading);
  return request_of(entry, options.what);
}

DatasetRequest import_asked(const DataOptions& o) {
  Json entry = Json::object();
  for (const auto& [key, path] : o.files) {
    if (!path.empty()) entry[key] = path;
  }
  if (entry.empty()) return {};
  entry.update(o.reading);
  DatasetRequest request = request_of(entry, o.own.name);
  request.times = o.times || !request.columns.time.empty();
  if (o.scale.empty()) return request;
  request.scale = RatingScale{o.scale[0], o.scale[1], o.scale[2]};
  if (const auto why = why_no_scale(*request.scale))
    fail(ErrorKind::usage, "--rating-scale: {}", *why);
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
  add_reading_options(*stats, o->reading);
  stats->add_flag("--json", o->json, "as JSON");
  stats->callback([o] {
    options_named = true;
    data_stats(std::cout, {request_asked(*o), o->json, hardware_threads()});
  });
}

void add_import(CLI::App& data, const std::shared_ptr<DataOptions>& o) {
  auto* command = data.add_subcommand("import", "keep files of your own under a name for specs");
  command->add_option("name", o->own.name, "letters, digits, . _ -")->required();
  auto* path = command->add_option("path", o->files["path"], "the ratings");
  auto* train =
      command->add_option("--train", o->files["train"], "the train file, instead of path");
  auto* test = command->add_option("--test", o->files["test"], "the test file");
  command->add_option("--validation", o->files["validation"], "the validation file")->needs(train);
  train->needs(test)->excludes(path);
  test->needs(train);
  add_reading_options(*command, o->reading);
  command->add_option("--rating-scale", o->scale, "MIN MAX STEP: a rating outside is an error")
      ->expected(3);
  command->add_flag("--times", o->times, "keep the times of the ratings, for splits by time");
  command->add_flag("--replace", o->own.replace, "replace an earlier import of this name");
  command->callback([o] {
    options_named = true;
    o->own.request = import_asked(*o);
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

void add_reading_options(CLI::App& command, Json& keys) {
  const auto word = [&](const std::string& key, const std::string& help) {
    command.add_option_function<std::string>(
        "--" + key, [&keys, key](const std::string& value) { keys[key] = value; }, help);
  };
  word("format", format_help());
  word("ids", "auto | integers | text: the kind of ids in the files");
  word("duplicates", join(kDuplicatePolicyNames.all(), " | ") + ": of pairs that occur twice");
  using Words = std::vector<std::string>;
  command
      .add_option_function<Words>(
          "--columns", [&](const Words& words) { keys["columns"] = columns_of(words); },
          kColumnsHelp)
      ->delimiter(',');
  command.add_option_function<double>(
      "--unrated", [&](double value) { keys["unrated"] = value; },
      "the value of pairs without a rating: left out");
  auto* least = command.add_option_function<double>(
      "--min-rating", [&](double value) { keys["implicit"]["min_rating"] = value; },
      "as implicit feedback: observed pairs are ratings from here on");
  command
      .add_option_function<std::string>(
          "--value", [&](const std::string& value) { keys["implicit"]["value"] = value; },
          "binary | rating: the value of an observed pair")
      ->needs(least);
}

Json entry_of_word(const std::string& word) {
  Json entry =
      word.starts_with('{') ? parse_json(word, "the data set") : expand_dataset_entry(word, word);
  if (entry.contains("path") && !entry.contains("duplicates")) entry["duplicates"] = "last";
  return entry;
}

DatasetRequest request_of(const Json& entry, const std::string& word) {
  JsonReader reader(entry, word.starts_with('{') ? "the data set" : word);
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
