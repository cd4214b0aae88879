#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/file_place.hpp"
#include "base/files/files.hpp"
#include "base/json/json.hpp"
#include "base/key_words.hpp"
#include "base/log.hpp"
#include "base/ranks/mpi_ranks.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "datasets/load.hpp"
#include "datasets/look.hpp"
#include "datasets/ratings/feedback.hpp"
#include "harness/commands.hpp"
#include "harness/device/device.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/race/plots.hpp"
#include "harness/race/race_spec.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/session.hpp"
#include "harness/run/show/progress.hpp"

namespace mf {
namespace {

struct RaceOptions {
  std::string what;  // ratings, as a word of a spec; or a spec
  double seconds = 60;
  bool limited = false;  // whether the seconds were named
  std::string feedback;  // empty: as the values look
  Json reading = Json::object();
  std::string program;  // as it was called
};

// Not ratings, of which each line is an object.
bool is_spec(const std::string& what) {
  if (!what.ends_with(".json")) return false;
  std::string line;
  std::getline(std::ifstream(what), line);
  const Json first = Json::parse(line, nullptr, false);
  return !first.is_object() || first.contains("algorithms");
}

constexpr std::int64_t kFewestRatings =
    20;  // so that a tenth, and a tenth of the rest, has a rating

// ---- the spec of given ratings ------------------------------------------------------------------

// Reads the ratings, and tells their kind.
Json spec_of_ratings(const RaceOptions& asked, const std::string& name) {
  Json entry = entry_of_word(asked.what);
  const bool named_policy = asked.reading.contains("duplicates") ||
                            asked.what.find("\"duplicates\"") != std::string::npos;
  entry.update(asked.reading);
  const auto load = [&] { return load_dataset(request_of(entry, asked.what), hardware_threads()); };
  Dataset data = load();
  std::optional<Feedback> given;
  if (!asked.feedback.empty()) given = kFeedbackNames.parse(asked.feedback, "--feedback");
  RatingsLook look = look_at_ratings(data, given, hardware_threads());
  const bool repeats = data.info.duplicate_pairs > 0;
  // Repeated stars are corrections; repeated counts and pairs are a log of events.
  if (repeats && entry.contains("path") && !named_policy && look.feedback != Feedback::stars &&
      given != Feedback::pairs) {
    entry["duplicates"] = "sum";
    data = load();
    look = look_at_ratings(data, Feedback::counts, hardware_threads());
  }
  if (data.info.duplicate_pairs == 0) entry.erase("duplicates");
  if (data.ratings.nnz() < kFewestRatings) {
    fail(ErrorKind::data,
         "{}: found {} ratings, expected at least {}: a race holds out a tenth of them for its "
         "test part, and a tenth of the rest for validation; race a larger file",
         asked.what, data.ratings.nnz(), kFewestRatings);
  }
  const std::string kind = look.feedback == Feedback::stars ? "explicit" : "implicit";
  fmt::print("{}: {} users, {} items, {} ratings, taken for {}: algorithms for {} feedback{}\n",
             one_line(asked.what), with_commas(data.ratings.n_users()),
             with_commas(data.ratings.n_items()), with_commas(data.ratings.nnz()),
             kFeedbackNames.of(look.feedback), kind,
             given ? "" : " (--feedback names another kind)");
  if (repeats) {
    fmt::print("{}{}\n", data.info.repeats(),
               !named_policy ? " (--duplicates names another rule)" : "");
  }
  if (const auto taken = first_look(request_of(entry, asked.what)).columns; !taken.empty())
    fmt::print("columns: {}\n", one_line(taken));
  if (const auto mark = lone_lowest(data.ratings.values())) fmt::print("{}\n", *mark);
  const std::string description = fmt::format(
      "Written by mfbench race {}: values taken for {}, algorithms for {} feedback, tuned on the "
      "validation part. The target is set once the trials have run.",
      asked.what, kFeedbackNames.of(look.feedback), kind);
  return race_spec(look, {name, description, entry, asked.seconds, find_device()});
}

void write_spec(const std::string& path, const Json& spec, Origin origin) {
  write_atomically(path, json_text(spec, 2) + "\n", origin);
}

// RESULTS/race.json; one that is there, maybe edited since, stays.
std::string prepared_spec(const RaceOptions& asked, std::optional<std::string>& folder) {
  const std::string label = asked.what.starts_with('{')
                                ? request_of(entry_of_word(asked.what), asked.what).label()
                                : std::filesystem::path(asked.what).filename().string();
  const std::string name = "race-" + label;
  if (!folder) folder = "results/runs/" + folder_name(name);
  std::string path = *folder + "/race.json";
  if (open_if_there(path, Origin::found)) {
    note("{} is there, and goes on as it stands; --out DIR begins another race", path);
    return without_links(*folder) + "/race.json";
  }
  const Json spec = spec_of_ratings(asked, name);
  make_folder(*folder);
  path = without_links(*folder) + "/race.json";
  write_spec(path, spec, Origin::found);
  fmt::print("its spec: {}\n", one_line(path));
  return path;
}

// ---- trials and target --------------------------------------------------------------------------

void set_target(const std::string& path, const TargetSpec& target, Origin origin) {
  Json spec = read_json_file(path, Origin::found);
  spec["target"] = to_json(target);
  write_spec(path, spec, origin);
  fmt::print("target, from the trials: {} {:g}, written into {}\n\n", target.metric.title(),
             target.value, one_line(path));
}

// The trials of a spec without a target, which follows from them. An exit code, 0: go on.
int find_target(const std::string& path, Origin origin, const Spec& spec, RunOptions options,
                SessionSummary& summary) {
  options.trials_only = true;
  install_interrupt_handler();
  const auto progress = make_progress(ProgressMode::automatic, stdout);
  summary = run_session(spec, options, *progress);
  if (summary.interrupted) return tell_interrupted();
  const auto target = race_target(summary.studies);
  if (target) set_target(path, *target, origin);
  return 0;
}

// ---- the end ------------------------------------------------------------------------------------

// Whether it was made; why not is a note, since the race itself has ended well.
bool tell_drawn(const char* what, const Drawn& drawn) {
  const std::string said = drawn.said.substr(0, drawn.said.find_last_not_of('\n') + 1);
  constexpr std::string_view kError = "error: ";
  if (!drawn.done) {
    note("no {}: {}", what, said.starts_with(kError) ? said.substr(kError.size()) : said);
  } else if (!said.empty()) {
    note("{}: {}", what, said);
  }
  return drawn.done;
}

// The page or the picture of a folder of results; empty if it was told why there is neither.
std::string drawn(const std::string& folder) {
  const Drawn figures = run_plots(kFigures, {folder, "--format", "png,svg"});
  if (!tell_drawn("figures", figures)) return "";
  const Drawn report = run_plots(kReport, {folder, "--out", folder + "/report"});
  if (tell_drawn("report", report)) return folder + "/report/index.html";
  for (const auto& line : figures.lines) {
    if (line.starts_with(kOpen)) return line.substr(kOpen.size());
  }
  return "";
}

void tell_end(const std::string& path, const std::string& folder, const RaceOptions& asked) {
  const std::string file = drawn(folder);
  const std::string next =
      is_spec(asked.what) ? "ratings.csv, with ratings of your own" : shell_word(path) + ", edited";
  tell_ending(file.empty() ? "no figure, for the reason above" : one_line(file),
              asked.program + " race " + next);
}

int race_command(const RaceOptions& asked, RunOptions options) {
  if (const int count = launched_count(); count > 1) {
    fail(ErrorKind::usage,
         "race: found {} processes that were started together, expected one; mfbench run takes "
         "several",
         count);
  }
  if (asked.limited || !is_spec(asked.what)) {
    options.left_s = [&, start = Clock::now()] { return asked.seconds - seconds_since(start); };
  }
  const std::string path = is_spec(asked.what) ? asked.what : prepared_spec(asked, options.folder);
  const Spec spec = read_spec(path);
  SessionSummary trials, ran;  // both hold the folder
  if (!spec.studies.empty() && !target_of(spec)) {
    const Origin origin = is_spec(asked.what) ? Origin::named : Origin::found;
    if (const int code = find_target(path, origin, spec, options, trials)) return code;
  }
  ran.trials_run = trials.trials_run;
  const int code = run_command(path, options, ProgressMode::automatic, &ran);
  if (code != 0 && code != kSomeCasesFailed) return code;
  tell_end(path, options.folder.value_or(default_folder(spec)), asked);
  return code;
}

}  // namespace

void add_race_command(CLI::App& app, const std::string& program, RunOptions& options, int& code) {
  auto* race = app.add_subcommand(
      "race", "race algorithms on your own ratings, or those of a spec, and name the winner");
  const auto asked = std::make_shared<RaceOptions>();
  asked->program = program;
  race->add_option("what", asked->what, "ratings: a file, or a data set as in a spec; or a spec")
      ->required();
  constexpr const char* kTime = "about how many seconds trials and cases take; no limit of a spec";
  const auto* time = race->add_option("--time", asked->seconds, kTime)
                         ->check(number_above_zero())
                         ->capture_default_str();
  race->add_option("--feedback", asked->feedback, "the kind of values, if mfbench guesses wrong")
      ->check(CLI::IsMember(kFeedbackNames.all()));
  add_reading_options(*race, asked->reading);
  race->add_flag("--explain", options.explain, kExplain);
  race->add_option("--out", options.folder, "folder of the results [results/runs/race-FILE]");
  race->callback([asked, time, &options, &code] {
    asked->limited = time->count() > 0;
    options.interrupted = interrupt_level;
    if (!is_spec(asked->what)) options_named = true;
    code = race_command(*asked, options);
  });
}

}  // namespace mf
