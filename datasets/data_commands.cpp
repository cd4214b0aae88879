#include "datasets/data_commands.hpp"

#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/from_files.hpp"
#include "datasets/implicit_rule.hpp"
#include "datasets/load.hpp"
#include "datasets/look.hpp"
#include "datasets/ratings/feedback.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// ---- list ----

const char* ids_word(bool names) { return names ? "text" : "integers"; }

std::string scale_text(const std::optional<RatingScale>& scale) {
  if (!scale) return "";
  const std::string step = scale->step > 0 ? fmt::format(" step {}", scale->step) : "";
  return fmt::format("{} to {}{}", scale->min, scale->max, step);
}

// here: its files are in a data folder; cached: only a cache file is; fetch: `data fetch` brings
// it; on request: see its origin.
std::string state_of(const CatalogEntry& entry) {
  const bool here = std::ranges::any_of(entry.whole, [&](const auto& files) {
    return std::ranges::all_of(
        files, [&](const auto& one) { return find_data_file(entry, one).has_value(); });
  });
  if (here) return "here";
  DatasetRequest request;
  request.name = entry.name;
  request.duplicates = entry.duplicates;
  if (why_unavailable(request).empty()) return "cached";
  return entry.url.empty() ? "on request" : "fetch";
}

Json catalog_row(const CatalogEntry& entry) {
  Json splits = Json::array();
  for (const auto& split : entry.splits) splits.push_back(split.name);
  return {{"name", entry.name},
          {"title", entry.title},
          {"state", state_of(entry)},
          {"n_users", entry.n_users},
          {"n_items", entry.n_items},
          {"nnz", entry.nnz},
          {"counts_verified", entry.counts_verified},
          {"scale", scale_text(entry.scale)},
          {"splits", splits},
          {"origin", entry.origin},
          {"licence", entry.licence},
          {"redistributable", entry.redistributable},
          {"citation", entry.citation}};
}

std::vector<Json> imported_rows() {
  std::vector<Json> rows;
  std::vector<std::string> unreadable;
  for (const CacheHead& head : imported_sets(&unreadable)) {
    Json splits = Json::array();
    if (head.has_parts) splits.push_back("imported");
    rows.push_back({{"name", head.info.name},
                    {"title", "imported"},
                    {"state", "imported"},
                    {"n_users", head.n_users},
                    {"n_items", head.n_items},
                    {"nnz", head.nnz},
                    {"counts_verified", true},
                    {"scale", scale_text(head.info.scale)},
                    {"user_ids", ids_word(head.user_names)},
                    {"item_ids", ids_word(head.item_names)},
                    {"splits", splits}});
  }
  for (const auto& why : unreadable)
    warn("not listed: {}; if it was imported, import it again", why);
  return rows;
}

void print_list(std::ostream& out, const std::vector<Json>& rows) {
  fmt::print(out, "{:<20} {:>11} {:>9} {:>12}  {:<18} {:<11} {}\n", "name", "users", "items",
             "ratings", "scale", "state", "splits");
  for (const Json& row : rows) {
    std::vector<std::string> splits;
    for (const Json& split : row.at("splits")) splits.push_back(split);
    const std::string line = fmt::format(
        "{:<20} {:>11} {:>9} {:>12}  {:<18} {:<11} {}", one_line(row.at("name").get<std::string>()),
        with_commas(row.at("n_users")), with_commas(row.at("n_items")), with_commas(row.at("nnz")),
        row.at("scale").get<std::string>(), row.at("state").get<std::string>(), join(splits));
    fmt::print(out, "{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
  fmt::print(
      out, "\nhere: in {}; fetch: `mfbench data fetch NAME`; cached: a cache without its source;\n",
      one_line(join(data_folders(), ", ")));
  fmt::print(out, "on request: no public download, `--json` has the address. Look-alikes: {}.\n",
             join(look_alike_names()));
}

// ---- stats ----

std::string number_text(const Json& number) {
  return number.is_number_integer() ? with_commas(number)
                                    : fmt::format("{:.6g}", number.get<double>());
}

void print_summary(std::ostream& out, const char* title, const Json& summary) {
  if (summary.is_null()) return;
  fmt::print(out, "{:<18} min {}, median {}, mean {:.2f}, max {}\n", title,
             number_text(summary.at("min")), number_text(summary.at("median")),
             summary.at("mean").get<double>(), number_text(summary.at("max")));
}

void print_histogram(std::ostream& out, const Json& bars, std::int64_t nnz) {
  constexpr std::int64_t width = 40;
  std::int64_t most = 1;
  for (const Json& bar : bars) most = std::max<std::int64_t>(most, bar.at("count"));
  for (const Json& bar : bars) {
    const std::int64_t count = bar.at("count");
    const double share = 100.0 * static_cast<double>(count) / static_cast<double>(nnz);
    const std::int64_t length = (count * width + most - 1) / most;
    fmt::print(out, "{:>10} {:>13} {:>6.2f} %  {}\n", bar.at("value").get<float>(),
               with_commas(count), share, std::string(length, '#'));
  }
}

void print_rule(std::ostream& out, const Json& stats) {
  if (!stats.contains("implicit")) return;
  const Json& rule = stats.at("implicit");
  fmt::print(out, "{:<18} ratings from {}, value {}; dropped: {} ratings, {} users, {} items\n",
             "implicit", rule.at("min_rating").get<double>(), rule.at("value").get<std::string>(),
             number_text(rule.at("ratings_dropped")), number_text(rule.at("users_dropped")),
             number_text(rule.at("items_dropped")));
}

// Advice for values that do not look like ratings of a scale.
void print_look(std::ostream& out, const Json& stats) {
  const std::string stars = kFeedbackNames.of(Feedback::stars);
  const std::string look = stats.value("values_look_like", stars);
  if (look == stars) return;
  const bool counts = look == kFeedbackNames.of(Feedback::counts);
  const std::string alpha =
      fmt::format("{:.2g}", 1 / std::max(1.0, stats.at("mean").get<double>()));
  fmt::print(out, "{:<18} {}: implicit feedback, for ials_cpu and its like{}\n", "look like",
             counts ? "counts" : "observed pairs",
             counts ? fmt::format(" with an alpha of about {} (1 over the mean)", alpha) : "");
  if (counts) {
    fmt::print(out,
               "{:<18} or as pairs: \"implicit\": {{\"min_rating\": 1}}; algorithms for ratings "
               "may diverge on them\n",
               "");
  }
}

const char* mark_of(const std::string& source) {
  return source == "expanded" ? " (a real set enlarged, with ratings drawn anew)"
                              : " (synthetic look-alike, no real ratings)";
}

void print_stats(std::ostream& out, const Json& stats, const std::optional<RatingScale>& scale) {
  const bool look_alike = stats.at("look_alike");
  fmt::print(out, "{}{}\n", one_line(stats.at("name").get<std::string>()),
             look_alike ? mark_of(stats.at("source").get<std::string>()) : "");
  fmt::print(out, "{:<18} {}\n", "users", number_text(stats.at("n_users")));
  fmt::print(out, "{:<18} {}\n", "items", number_text(stats.at("n_items")));
  fmt::print(out, "{:<18} {}\n", "ratings", number_text(stats.at("nnz")));
  const auto ids = [&](const char* key) { return stats.at(key).get<std::string>(); };
  fmt::print(out, "{:<18} users {}, items {}\n", "ids", ids("user_ids"), ids("item_ids"));
  fmt::print(out, "{:<18} {:.4g} %\n", "density", 100 * stats.at("density").get<double>());
  if (stats.contains("columns"))
    fmt::print(out, "{:<18} {}\n", "columns", one_line(stats.at("columns").get<std::string>()));
  if (const Json& parts = stats.at("parts"); !parts.is_null()) {
    fmt::print(out, "{:<18} train {}, test {}, validation {}\n", "parts",
               number_text(parts.at("train")), number_text(parts.at("test")),
               number_text(parts.at("validation")));
  }
  print_rule(out, stats);
  fmt::print(out, "{:<18} {}\n", "scale", scale ? scale_text(scale) : "not declared");
  fmt::print(out, "{:<18} {} (policy: {})\n", "duplicate pairs",
             number_text(stats.at("duplicate_pairs")),
             one_line(stats.at("duplicate_policy").get<std::string>()));
  fmt::print(out, "{:<18} {:.6f}, standard deviation {:.6f}\n", "mean",
             stats.at("mean").get<double>(), stats.at("standard_deviation").get<double>());
  print_look(out, stats);
  if (stats.contains("lowest"))
    fmt::print(out, "{:<18} {}\n", "lowest value", stats.at("lowest").get<std::string>());
  print_summary(out, "ratings per user", stats.at("ratings_per_user"));
  print_summary(out, "ratings per item", stats.at("ratings_per_item"));
  const std::string source_hash = stats.at("source_sha256");
  fmt::print(out, "{:<18} {}\n", "source", one_line(stats.at("source").get<std::string>()));
  if (!source_hash.empty()) {
    fmt::print(out, "{:<18} {}\n", "source SHA-256", one_line(source_hash));
  }
  fmt::print(out, "{:<18} {}\n", "content hash", stats.at("content_hash").get<std::string>());
  if (stats.contains("histogram")) {
    fmt::print(out, "values\n");
    print_histogram(out, stats.at("histogram"), stats.at("nnz"));
  }
}

// ---- import ----

void check_import_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 100 && name.front() != '.' &&
                     name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._-") == std::string::npos;
  if (!plain) {
    fail(ErrorKind::usage,
         "\"{}\" cannot be a name: expected up to 100 letters, digits, '.', '_', '-'", name);
  }
  if (catalog_entry_or_null(name) != nullptr) {
    fail(ErrorKind::usage, "{}: the catalog has a data set of this name: choose another", name);
  }
  // Labels of look-alikes and of enlarged sets are file names in the same folder.
  for (const char* kept : {"-look-alike", "-expanded-"}) {
    if (name.find(kept) == std::string::npos) continue;
    fail(ErrorKind::usage, "{}: names with \"{}\" are reserved for synthetic data; choose another",
         name, kept);
  }
}

Source import_source(const DataImportOptions& options) {
  const DatasetRequest& request = options.request;
  if (request.path.empty() && request.train.empty()) {
    fail(ErrorKind::usage, "{}: expected one file, or a train and a test file", options.name);
  }
  if (request.path.empty() && request.times) {
    fail(ErrorKind::usage,
         "{}: times are for splits, but train and test files are a split already; leave the times "
         "out",
         options.name);
  }
  if (const std::string why = why_unavailable(request); !why.empty()) {
    fail(ErrorKind::data, "{}", why);
  }
  Source source = source_of_files(request);
  source.name = options.name;
  return source;
}

}  // namespace

void data_list(std::ostream& out, bool json) {
  std::vector<Json> rows;
  for (const auto& entry : catalog()) rows.push_back(catalog_row(entry));
  for (Json& row : imported_rows()) rows.push_back(std::move(row));
  if (json) {
    out << json_text(Json(rows), 2) << '\n';
  } else {
    print_list(out, rows);
  }
}

void data_stats(std::ostream& out, const DataStatsOptions& options) {
  const Dataset data = load_dataset(options.request, options.threads);
  Json stats = dataset_stats(data, options.threads);
  if (const auto taken = first_look(options.request).columns; !taken.empty())
    stats["columns"] = taken;
  const auto lowest = lone_lowest(data.ratings.values());
  if (lowest && !data.info.scale) stats["lowest"] = *lowest;
  if (options.json) {
    out << json_text(stats, 2) << '\n';
  } else {
    print_stats(out, stats, data.info.scale);
  }
}

void data_import(std::ostream& out, const DataImportOptions& options) {
  check_import_name(options.name);
  const Source source = import_source(options);
  const std::string path = (fs::path(cache_folder()) / (options.name + ".mfc")).string();
  if (fs::exists(path) && !options.replace) {
    fail(ErrorKind::usage, "{}: already imported as {}; --replace replaces it", options.name, path);
  }
  Dataset data = read_source(source, options.threads);
  if (const auto& rule = options.request.implicit) data = observed(data, *rule, options.threads);
  write_cache(path, data, options.threads, kImportKey, options.replace);
  fmt::print(out, "{}: {} users, {} items, {} ratings{}; in specs: {{\"name\": \"{}\"}}\n",
             options.name, with_commas(data.ratings.n_users()), with_commas(data.ratings.n_items()),
             with_commas(data.ratings.nnz()),
             data.parts.empty() ? "" : " with the split \"imported\"", options.name);
  if (data.info.duplicate_pairs > 0) fmt::print(out, "{}\n", data.info.repeats());
  fmt::print(out, "kept in {}\n", one_line(path));
}

void data_remove(std::ostream& out, const std::string& name) {
  if (catalog_entry_or_null(name) != nullptr) {
    fail(ErrorKind::usage, "{}: found a data set of the catalog, expected an imported one", name);
  }
  DatasetRequest request;
  request.name = name;
  if (!is_imported(name)) {
    std::vector<std::string> names;
    for (const CacheHead& head : imported_sets()) names.push_back(head.info.name);
    const std::string near = nearest(name, names);
    fail(ErrorKind::usage, "{}: nothing was imported under this name{}{}", name,
         near.empty() ? "" : ", did you mean \"" + near + "\"?",
         names.empty() ? "" : "; imported: " + join(names));
  }
  const std::string path = cache_path(request);
  remove_cache(path);
  fmt::print(out, "{}: removed {}\n", name, one_line(path));
}

}  // namespace mf
