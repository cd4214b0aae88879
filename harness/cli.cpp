#include "harness/cli.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/local_ranks.hpp"
#include "base/log.hpp"
#include "base/mpi_ranks.hpp"
#include "base/text.hpp"
#include "base/timeline.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/look.hpp"
#include "harness/cli_data.hpp"
#include "harness/cli_numbers.hpp"
#include "harness/cli_pages.hpp"
#include "harness/cli_tree.hpp"
#include "harness/device/device.hpp"
#include "harness/doctor.hpp"
#include "harness/evaluate/model_io.hpp"
#include "harness/model_lines.hpp"
#include "harness/results/compare.hpp"
#include "harness/results/compare_report.hpp"
#include "harness/results/export.hpp"
#include "harness/results/study_report.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/apart.hpp"
#include "harness/run/follower.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/plan.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/rank_world.hpp"
#include "harness/run/session.hpp"
#include "harness/spec/spec.hpp"
#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

constexpr int kSomeCasesFailed = 1;
constexpr int kSomeLeftOut = 1;
constexpr int kUnforeseen = 70;
constexpr const char* kOneCase = "--one-case";

// Without the program's folder: results travel, machine paths should not. Nor does a process of
// --apart say its number.
std::string command_line(int argc, char** argv) {
  std::string text = "mfbench";
  for (int i = 1; i < argc && std::string_view(argv[i]) != kOneCase; ++i) {
    text += " " + shell_word(argv[i]);
  }
  return text;
}

std::int64_t number_of_case(const std::string& word) {
  if (word == "trials") return RunOptions::kTrials;
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number >= 0) return number;
  fail(ErrorKind::usage,
       "{}: found {}, expected the number of a case; it is for processes of --apart", kOneCase,
       in_quotes(word));
}

std::string value_text(const ParamValue& value) {
  return std::visit([](const auto& v) { return Json(v).dump(); }, value);
}

std::string range_text(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamSpec::Type::boolean:
      return "true | false";
    case ParamSpec::Type::choice:
      return join(spec.choices, " | ");
    case ParamSpec::Type::integer:
      return fmt::format("{:.0f} .. {:.0f}", spec.min, spec.max);
    case ParamSpec::Type::text:
      return "text";
    case ParamSpec::Type::number:
      break;
  }
  return fmt::format("{} .. {}", spec.min, spec.max);
}

Json param_json(const ParamSpec& spec) {
  Json json = {
      {"name", spec.name}, {"help", spec.help}, {"unit", spec.unit}, {"range", range_text(spec)}};
  std::visit([&](const auto& value) { json["default"] = value; }, spec.fallback);
  return json;
}

void list_command(bool json) {
  Json all = Json::array();
  for (const auto* info : all_algorithms()) {
    all.push_back({{"name", info->name},
                   {"family", info->family},
                   {"hardware", info->hardware == Hardware::cuda ? "cuda" : "cpu"},
                   {"built", is_built(info->name)},
                   {"summary", info->summary},
                   {"paper", info->paper}});
  }
  if (json) {
    fmt::print("{}\n", json_text(all, 2));
    return;
  }
  for (const auto& item : all) {
    fmt::print("{:<14} {:<5} {}{}\n", item["name"].get<std::string>(),
               item["hardware"].get<std::string>(), item["summary"].get<std::string>(),
               item["built"].get<bool>() ? "" : "  (not in this build)");
  }
}

// "CPU", "CUDA", "CUDA, compute capability 8.0 or newer"
std::string hardware_text(const AlgorithmInfo& info) {
  if (info.hardware == Hardware::cpu) return "CPU";
  if (info.min_compute == 0) return "CUDA";
  return "CUDA, compute capability " + format_compute(info.min_compute) + " or newer";
}

Json describe_json(const AlgorithmInfo& info) {
  Json params = Json::array();
  for (const auto& spec : info.params) params.push_back(param_json(spec));
  return {{"name", info.name},
          {"summary", info.summary},
          {"paper", info.paper},
          {"hardware", hardware_text(info)},
          {"deterministic", info.deterministic},
          {"uses_learning_rate", info.uses_learning_rate},
          {"params", params}};
}

void describe(const AlgorithmInfo& info) {
  const std::string& name = info.name;
  fmt::print("{}: {}\npaper: {}\nhardware: {}{}\ndeterministic: {}\nparameters:\n", info.name,
             info.summary, info.paper, hardware_text(info),
             is_built(name) ? "" : " (not in this build)", info.deterministic ? "yes" : "no");
  for (const auto& spec : info.params) {
    fmt::print("  {:<16} {:<12} {:<28} {}{}\n", spec.name, value_text(spec.fallback),
               range_text(spec), spec.help, spec.unit.empty() ? "" : " [" + spec.unit + "]");
  }
  if (info.uses_learning_rate) {
    fmt::print(
        "the learning rate is the harness's: \"learning_rate\" or \"schedule\" (docs/spec.md)\n");
  }
}

// The exception being handled, on standard error; returns the exit code that it stands for.
int tell_exception() {
  try {
    throw;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", printable(error.what()));
    return static_cast<int>(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\n");
    return static_cast<int>(ErrorKind::memory);
  } catch (const std::system_error& error) {  // of the file system, or a pipe that was closed
    const std::string advice = advice_on(error.code().value());
    fmt::print(stderr, "error: {}{}\n", printable(error.what()),
               advice.empty() ? "" : "; " + advice);
    return static_cast<int>(ErrorKind::io);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}; this should have been told better: please report it\n",
               printable(error.what()));
    return kUnforeseen;
  }
}

// One algorithm, or all whose names begin so: those of a library, or of all of them.
std::vector<const AlgorithmInfo*> named(const std::string& name) {
  std::vector<const AlgorithmInfo*> found;
  for (const auto* info : all_algorithms()) {
    if (info->name.starts_with(name + ":")) found.push_back(info);
  }
  if (found.empty()) found.push_back(&find_algorithm(name));
  return found;
}

void describe_command(const std::string& name, bool json) {
  const auto infos = named(name);
  if (!json) {
    for (const auto* info : infos) {
      if (info != infos.front()) fmt::print("\n");
      describe(*info);
    }
    return;
  }
  Json all = Json::array();
  for (const auto* info : infos) all.push_back(describe_json(*info));
  fmt::print("{}\n", (all.size() == 1 ? all[0] : all).dump(2));
}

// Says what is odd about a spec that is valid.
void warn_of(const Spec& spec, const std::string& path) {
  for (const auto& warning : spec.warnings) warn("{}: {}", path, warning);
}

Spec read_and_warn(const std::string& path) {
  Spec spec = read_spec(path);
  warn_of(spec, path);
  return spec;
}

void warn_of_edges(const std::vector<FoundStudy>& studies) {
  for (const auto& [plan, state] : studies) {
    if (!state.over()) continue;
    for (const auto& warning : edge_warnings(plan, state)) warn("{}", warning);
  }
}

void print_studies(const std::vector<FoundStudy>& studies, bool json) {
  Json all = Json::array();
  for (const auto& [plan, state] : studies) {
    if (json) {
      all.push_back(to_json(plan, state));
    } else {
      fmt::print("{}{}", &plan == &studies.front().plan ? "" : "\n", to_text(plan, state));
    }
  }
  if (json) fmt::print("{}\n", json_text(all, 2));
  warn_of_edges(studies);
}

// Of a folder of results, what its studies chose; of a spec, the trials first.
int tune_command(const std::string& path, RunOptions options, ProgressMode mode, bool json) {
  if (std::filesystem::is_directory(path)) {
    print_studies(read_studies(path), json);
    return 0;
  }
  const Spec spec = read_and_warn(path);
  if (spec.studies.empty()) {
    fail(ErrorKind::usage, "{}: no algorithm of this spec has \"tune\"", path);
  }
  refuse_trials_of_ranks(spec);
  options.trials_only = true;
  install_interrupt_handler();
  const auto progress = make_progress(mode, stdout);
  const SessionSummary summary = run_session(spec, options, *progress);
  if (interrupt_signal() == SIGHUP) return kBySignal + SIGHUP;
  if (mode != ProgressMode::quiet) fmt::print("\n");
  print_studies(summary.studies, json);
  for (const auto& why : summary.studies_not_run) warn("{}; its trials were not run", why);
  if (!json) {
    fmt::print("{} trials run now, {} finished before; they are in {}\n", summary.trials_run,
               summary.trials_finished_before, one_line(summary.folder) + "/tune");
  }
  if (summary.interrupted) {
    fmt::print(stderr, "interrupted; the same command goes on where it stopped\n");
    return kBySignal + interrupt_signal();
  }
  const auto chose = [](const FoundStudy& study) { return study.state.best() != nullptr; };
  return std::all_of(summary.studies.begin(), summary.studies.end(), chose) ? 0 : kSomeCasesFailed;
}

void print_choices(const SessionSummary& summary) {
  if (summary.studies.empty()) return;
  fmt::print("tuned on the validation part; `mfbench tune {}` says why:\n",
             one_line(summary.folder));
  for (const auto& [plan, state] : summary.studies) {
    fmt::print("  {}\n", one_line(choice_line(plan, state)));
  }
  fmt::print("{} trials run now, {} finished before\n\n", summary.trials_run,
             summary.trials_finished_before);
}

struct TracedSession {
  SessionSummary summary;
  bool timeline = false;  // there is one, whole
};

// The file ends with the session, however that ends.
TracedSession run_with_timeline(const Spec& spec, const RunOptions& options, Progress& progress) {
  std::optional<Timeline> timeline;
  if (options.timeline) timeline.emplace(*options.timeline);
  SessionSummary summary = run_session(spec, options, progress);
  if (!timeline) return {std::move(summary), false};
  timeline->flush();
  const std::string why = timeline->failure();
  if (!why.empty()) {
    warn("{}: {}; the timeline ends there, the results do not", *options.timeline, why);
  }
  return {std::move(summary), why.empty()};
}

void print_session(const SessionSummary& summary, const RunOptions& options) {
  fmt::print("\n");
  print_choices(summary);
  // Before all trials have run there are no cases yet.
  if (!summary.spec.cases.empty()) {
    fmt::print("{}\n{} cases: {} run now, {} finished before; results in {}\n",
               summary_table(summary.folder, summary.spec), summary.spec.cases.size(), summary.run,
               summary.finished_before, one_line(summary.folder));
  }
  if (options.profile) {
    fmt::print("profiled: {} warm-up and {} recorded epochs a case; these times are no results\n",
               options.profile->warmup, options.profile->epochs);
  }
}

// The first of them with their reasons, also with --quiet and where an earlier call ran them: many
// have one reason.
void tell_failures(const SessionSummary& summary) {
  constexpr std::size_t kShown = 3;
  fmt::print(stderr, "{} cases failed: the result files say why, --retry runs them again\n",
             summary.failed);
  const auto& all = summary.failures;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    fmt::print(stderr, "  {}: {}: {}\n", one_line(all[i].id), kStatuses.of(all[i].status),
               one_line(all[i].reason));
  }
  if (all.size() > kShown) fmt::print(stderr, "  and {} more\n", all.size() - kShown);
}

// Warnings, and the exit code.
int judge_session(const SessionSummary& summary) {
  if (summary.failed > 0) tell_failures(summary);
  if (summary.interrupted) {
    fmt::print(stderr, "interrupted; the same command goes on where it stopped\n");
    return kBySignal + interrupt_signal();
  }
  if (summary.bad_data > 0) return static_cast<int>(ErrorKind::data);
  return summary.failed > 0 ? kSomeCasesFailed : 0;
}

int tell_session(const SessionSummary& summary, const RunOptions& options, ProgressMode mode) {
  if (interrupt_signal() == SIGHUP) return kBySignal + SIGHUP;  // nobody is there to be told
  if (mode != ProgressMode::json) print_session(summary, options);
  warn_of_edges(summary.studies);
  for (const auto& why : summary.studies_not_run) warn("{}; its trials were not run", why);
  return judge_session(summary);
}

int run_spec_apart(const Spec& spec, const RunOptions& options, ProgressMode mode) {
  install_interrupt_handler();
  const auto [summary, ended_by] = run_apart(spec, options);
  // Who ended it so has said why.
  if (ended_by && !summary.interrupted) return *ended_by;
  const int code = tell_session(summary, options, mode);
  return ended_by.value_or(code);
}

int run_spec(const Spec& spec, const RunOptions& options, ProgressMode mode) {
  install_interrupt_handler();
  if (options.only) hear_interrupts();
  const auto progress = make_progress(mode, stdout);
  const auto [summary, timeline] = run_with_timeline(spec, options, *progress);
  if (options.only) return end_one_case(summary, interrupt_signal());
  const int code = tell_session(summary, options, mode);
  if (timeline && mode != ProgressMode::json && interrupt_signal() != SIGHUP) {
    fmt::print("timeline in {}; https://ui.perfetto.dev opens it\n", one_line(*options.timeline));
  }
  return code;
}

// The other ranks do as rank 0 says, and leave the telling to it.
int follow_command(const Spec& spec, const RunOptions& options, RankWorld& world) {
  try {
    be_silent();
    follow_session(spec, options, world);
    return 0;
  } catch (const RankFault& fault) {
    world.all().announce(fault.fault());
  } catch (...) {
    world.all().announce(current_fault(world.rank()));
  }
  world.set_broken();
  return 1;
}

// Before any case, by all ranks: where one of them refuses, all do, and rank 0 says why.
std::optional<Spec> gather_ranks(RankWorld& world, const std::string& path,
                                 const RunOptions& options) {
  try {
    Spec spec = world.read(path);
    world.provide(spec, options);
    return spec;
  } catch (const RankFault&) {
    world.set_broken();
    throw;
  } catch (...) {
    if (world.leads()) throw;
    return std::nullopt;
  }
}

void refuse_apart(const RunOptions& options) {
  if (!options.apart) return;
  if (options.timeline) {
    fail(ErrorKind::usage,
         "--apart: each case is another process, and --trace writes one; expected one of them");
  }
  if (launched_count() > 1) {
    fail(ErrorKind::usage,
         "--apart: found {} processes that were started together; it starts one for each case by "
         "itself",
         launched_count());
  }
}

int run_command(const std::string& path, RunOptions options, ProgressMode mode) {
  if (options.apart && !options.only) return run_spec_apart(read_and_warn(path), options, mode);
  if (options.only) end_with_starter(kReportFile);
  const bool joins = launched_count() == 1 || !mpi_version().empty();
  if (!joins && launched_rank() > 0) return 0;  // rank 0 says why
  RankWorld world;
  int code = 0;
  try {
    const std::optional<Spec> spec = gather_ranks(world, path, options);
    if (!spec) return 0;
    if (!world.leads()) return follow_command(*spec, options, world);
    if (!options.only) warn_of(*spec, path);
    options.ranks = &world;
    code = run_spec(*spec, options, mode);
    world.dismiss();
    return code;
  } catch (...) {
    if (world.size() == 1) throw;
    if (!world.leads()) return 1;
    code = tell_exception();
  }
  if (!world.broken()) {
    world.dismiss();
    return code;
  }
  std::fflush(nullptr);
  world.all().end_others(code);
  return code;
}

// What is at hand of each data set; at the end throws Error(data) with all that is not.
void look_at_data(const Spec& spec, bool tell) {
  std::set<std::string> seen;
  std::vector<std::string> problems;
  for (const auto& item : spec.cases) {
    if (!seen.insert(item.data.label()).second) continue;
    try {
      const std::string found = look_at_data(item.data);
      if (tell) fmt::print("{}: {}\n", printable(item.data.label()), found);
    } catch (const Error& error) {
      problems.push_back(item.data_path + ": " + error.what());
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::data, join(problems, "\n"));
}

// ", and 70 runs of the trials of 2 studies"; nothing where there is none.
std::string trials_text(const Spec& spec) {
  if (spec.studies.empty()) return "";
  std::int64_t runs = 0;
  for (const auto& study : spec.studies) runs += study.runs();
  return fmt::format(", and up to {} runs of the trials of {} {}", runs, spec.studies.size(),
                     spec.studies.size() == 1 ? "study" : "studies");
}

void validate_command(const std::string& path, bool json, bool data) {
  const Spec spec = read_and_warn(path);
  if (data) look_at_data(spec, !json);
  if (json) {
    Json cases = Json::array();
    for (const auto& item : spec.cases) cases.push_back({{"id", item.id}, {"case", item.resolved}});
    fmt::print("{}\n", json_text(cases, 2));
    return;
  }
  fmt::print("{}: valid, {} cases{}{}\n", one_line(path), spec.cases.size(), trials_text(spec),
             data ? "; its data are at hand" : "; its data were not looked at (--data does)");
}

// 1 where there is reason for one of the complaints.
int compare_command(const std::string& first, const std::string& second,
                    const CompareOptions& options, const std::vector<std::string>& fail_on,
                    bool json) {
  const ComparisonReport report = compare_results(first, second, options);
  fmt::print("{}", json ? json_text(to_json(report), 2) + "\n" : to_text(report));
  if (report.rows.empty()) {
    fail(ErrorKind::usage,
         "{} and {} have no case in common: compared are cases that agree in all but their seeds; "
         "--ignore NAME lets them differ in NAME",
         first, second);
  }
  std::vector<std::string> found;
  for (const auto& name : fail_on) {
    if (has(report, kComplaints.parse(name, "--fail-on"))) found.push_back(name);
  }
  if (!found.empty()) fmt::print(stderr, "--fail-on: {}\n", join(found));
  return found.empty() ? 0 : kSomeCasesFailed;
}

int export_command(const ExportOptions& options) {
  for (const auto& path : {options.cases, options.trace}) {
    if (path.ends_with(".jsonl")) {
      fail(ErrorKind::usage, "--out {}: results are such files; name one that ends in .csv", path);
    }
    if (!path.ends_with(".parquet")) continue;
    fail(ErrorKind::usage, "--out {}: mfbench writes CSV; ./dev export writes parquet", path);
  }
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  if (place(options.cases) == place(options.trace)) {
    fail(ErrorKind::usage, "--out: {} is named for both tables", options.cases);
  }
  const ExportSummary done = export_results(options);
  fmt::print("{}: {} cases, {} columns\n{}: {} trace points, {} columns\n", options.cases,
             done.cases, done.case_columns, options.trace, done.points, done.trace_columns);
  if (done.unlisted > 0) {
    note("{} cases that their spec.json does not list are left out; --unlisted takes them in",
         done.unlisted);
  }
  return done.left_out > 0 ? kSomeLeftOut : 0;
}

// Ids are refused by one rule: what the model does not know has no prediction of its own. --cold
// asks for that of the evaluator, by the side that is known.
void check_known(const SavedModel& model, const GivenId* user, const GivenId& item) {
  constexpr const char* kAdvice = "--cold predicts by what is known";
  if (user != nullptr && !model.knows_user(user->key)) {
    fail(ErrorKind::data, "the model knows no user {}; {}", user->text, kAdvice);
  }
  if (!model.knows_item(item.key)) {
    fail(ErrorKind::data, "the model knows no item {}; {}", item.text, kAdvice);
  }
}

// Between the columns of what is printed: text may have blanks in it.
const char* separator_of(const SavedModel& model) {
  return model.user_names.empty() && model.item_names.empty() ? " " : "\t";
}

void predict_pairs(const SavedModel& model, const std::string& path, bool cold) {
  const char* between = separator_of(model);
  for_pairs(path, model, [&](const GivenId& user, const GivenId& item) {
    if (!cold) check_known(model, &user, item);
    fmt::print("{}{}{}{}{:.4f}\n", printable(user.text), between, printable(item.text), between,
               model.predict(user.key, item.key));
  });
}

void recommend_command(const SavedModel& model,
                       const std::vector<std::pair<std::int32_t, float>>& best) {
  for (const auto& [id, score] : best) {
    fmt::print("{}{}{:.4f}\n", model.item_name(id), separator_of(model), score);
  }
}

std::vector<std::pair<std::int32_t, float>> recommended(const SavedModel& model,
                                                        const std::string& user, int k,
                                                        bool include_seen) {
  const GivenId given = given_user(model, user);
  if (!model.user_names.empty() && given.key < 0) {
    fail(ErrorKind::data, "the model knows no user {}; it has {} users with names such as {}",
         in_quotes(user), model.user_names.size(), in_quotes(model.user_names[0]));
  }
  return model.recommend(given.key, k, include_seen);
}

// Algorithms, and for describe the libraries of peers; data sets of the catalog.
CompletionWords completion_words() {
  CompletionWords words;
  for (const auto* info : all_algorithms()) words.algorithms.push_back(info->name);
  for (const auto& entry : catalog()) words.data_sets.push_back(entry.name);
  return words;
}

class Cli {
 public:
  Cli(int argc, char** argv) {
    options_.command_line = command_line(argc, argv);
    options_.words.assign(argv + 1, argv + argc);
    app_.description(
        "mfbench " + std::string(build_info::version) +
        ": races matrix-factorization algorithms. docs/spec.md says how to write a spec.");
    app_.formatter(help_formatter());
    app_.require_subcommand(1);
    app_.set_version_flag("--version", version_text);
    add_information();
    add_spec_commands();
    add_model_commands();
    add_data_commands(app_);
  }

  int run(int argc, char** argv) {
    check_command(argc, argv);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
      fail_unknown_word(app_);
    } catch (const CLI::ParseError& error) {
      std::ostringstream help, message;
      const int code = app_.exit(error, help, message);
      fmt::print("{}", help.str());
      if (code == 0) return 0;
      fmt::print(stderr, "error: {}", printable(message.str()));  // words of the command line
      return static_cast<int>(ErrorKind::usage);
    }
    return code_;
  }

 private:
  // CLI11 would only say that a command is missing, not which word it does not know.
  void check_command(int argc, char** argv) const {
    const CLI::App* within = &app_;
    std::string words;
    for (int k = 1; k < argc && argv[k][0] != '-'; ++k) {
      std::vector<std::string> names;
      for (const auto* command : within->get_subcommands({})) names.push_back(command->get_name());
      if (names.empty()) return;
      if (std::find(names.begin(), names.end(), argv[k]) == names.end()) {
        const std::string near = nearest(argv[k], names);
        fail(ErrorKind::usage, "there is no command \"{}{}\"{}; known: {}", words, argv[k],
             meant(near.empty() ? "" : words + near), join(names));
      }
      within = within->get_subcommand(argv[k]);
      words += argv[k] + std::string(" ");
    }
  }

  static std::string meant(const std::string& near) {
    return near.empty() ? "" : ", did you mean \"" + near + "\"?";
  }

  // CLI11 would only list what it did not expect, values of options that it does not know too, and
  // from behind.
  [[noreturn]] static void fail_unknown_word(const CLI::App& app) {
    const CLI::App* command = &app;
    std::string words = "mfbench";
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      words += " " + command->get_name();
    }
    const std::vector<std::string> left = app.remaining(true);
    const auto option = std::find_if(left.begin(), left.end(),
                                     [](const auto& word) { return word.starts_with("-"); });
    if (option != left.end()) {
      const std::string name = option->substr(0, option->find('='));
      const std::vector<std::string> known = options_of(*command);
      fail(ErrorKind::usage, "{} has no option \"{}\"{}; known: {}", words, name,
           meant(name.size() > 2 ? nearest(name, known) : ""), join(known));
    }
    fail(ErrorKind::usage, "{}: found the word \"{}\", expected no more; {} --help", words,
         left.empty() ? "" : left.front(), words);
  }

  static std::vector<std::string> options_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
      if (option->get_group().empty()) continue;  // of mfbench's own calls of itself
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
      for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
  }

  void add_information() {
    auto* list = app_.add_subcommand("list", "the algorithms");
    list->add_flag("--json", json_, "as JSON");
    list->callback([this] { list_command(json_); });
    auto* describe = app_.add_subcommand("describe", "one algorithm and its parameters");
    describe->add_option("algorithm", name_, "its name; peer:LIBRARY: all of that library")
        ->check(takes(ValueKind::algorithm))
        ->required();
    describe->add_flag("--json", json_, "as JSON");
    describe->callback([this] { describe_command(name_, json_); });
    auto* doctor = app_.add_subcommand("doctor", "what this machine and this build can do");
    doctor->add_flag("--json", json_, "as JSON");
    doctor->callback([this] {
      const Json report = doctor_json();
      fmt::print("{}", json_ ? json_text(report, 2) + "\n" : printable(format_doctor(report)));
    });
    auto* schema =
        app_.add_subcommand("schema", "the JSON Schema of specs, generated from the code");
    schema->callback([] { fmt::print("{}\n", json_text(spec_schema(), 2)); });
    auto* man = app_.add_subcommand("man", "the manual page: mfbench man | man -l -");
    man->callback([this] { fmt::print("{}", man_page(app_, build_info::version)); });
    auto* completion = app_.add_subcommand("completion", "a script by which a shell completes");
    completion->add_option("shell", name_, "which")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    completion->callback([this] {
      const CompletionWords words = completion_words();
      fmt::print("{}",
                 name_ == "bash" ? bash_completion(app_, words) : zsh_completion(app_, words));
    });
  }

  void add_spec_commands() {
    add_validate();
    add_plan();
    add_run();
    add_tune();
    add_compare();
    add_export();
  }

  void add_validate() {
    auto* validate = app_.add_subcommand("validate", "check a spec and count its cases");
    validate->add_option("spec", spec_, "JSON file")->check(takes(ValueKind::spec))->required();
    validate->add_flag("--json", json_, "print every resolved case");
    validate->add_flag("--data", look_, "also look for the data: files, formats, caches");
    validate->callback([this] { validate_command(spec_, json_, look_); });
  }

  void add_plan() {
    auto* plan =
        app_.add_subcommand("plan", "cases, memory and time of a spec, without running it");
    plan->add_option("spec", spec_, "JSON file")->check(takes(ValueKind::spec))->required();
    plan->add_flag("--json", json_, "as JSON");
    plan->add_flag("!--no-measure", plan_.measure, "leave the time estimate out");
    plan->add_flag("!--no-share", plan_.share, "as of run: each case has all of its ratings anew");
    auto* device = plan->add_option("--device-memory", device_gib_,
                                    "GiB: as if so much were free on the device")
                       ->check(number_above_zero());
    plan->callback([this, device] {
      const Spec spec = read_and_warn(spec_);
      if (device->count() > 0)
        plan_.device_free_bytes = device_gib_ * static_cast<double>(std::int64_t{1} << 30);
      const Plan made = make_plan(spec, plan_);
      fmt::print("{}",
                 json_ ? json_text(to_json(made), 2) + "\n" : printable(format_plan(made, spec)));
    });
  }

  void add_run() {
    auto* run = app_.add_subcommand("run", "run a spec; finished cases are not run again");
    run->add_option("spec", spec_, "JSON file")->check(takes(ValueKind::spec))->required();
    run->add_option("--out", options_.folder, "folder of the results [results/runs/NAME]")
        ->check(takes(ValueKind::folder));
    run->add_option("--save-model", options_.model_folder, "folder for the trained models")
        ->check(takes(ValueKind::folder));
    run->add_flag("--json", json_, "JSON lines instead of a table");
    run->add_flag("--quiet", quiet_, "only the table at the end");
    run->add_flag("--retry", options_.retry, "run failed cases again (old files are set aside)");
    run->add_flag("--rerun", options_.rerun, "run all cases again (old files are set aside)");
    run->add_flag("!--no-share", options_.share,
                  "each case loads, cuts and uploads its ratings anew, also what another had");
    run->add_flag("--apart", options_.apart, "a process of its own for each case");
    run->add_option(kOneCase, one_case_)->group("");  // which one, in such a process
    auto* profile = run->add_option("--profile", window_.epochs,
                                    "record N epochs of each case with a profiler, then end it [3]")
                        ->expected(0, 1)
                        ->check(whole_within(1, 1'000'000));
    run->add_option("--profile-warmup", window_.warmup, "epochs before those")
        ->needs(profile)
        ->check(whole_within(0, 1'000'000))
        ->capture_default_str();
    run->add_option("--trace", options_.timeline,
                    "file for a timeline of phases, threads and streams (docs/profiling.md)")
        ->check(takes(ValueKind::file));
    add_placement(run);
    run->callback([this, profile] {
      set_placement();
      // Without a number, CLI11 takes the empty text for 0.
      if (profile->results() == std::vector<std::string>{""})
        window_.epochs = ProfileWindow{}.epochs;
      if (profile->count() > 0) options_.profile = window_;
      if (!one_case_.empty()) options_.only = number_of_case(one_case_);
      refuse_apart(options_);
      options_.interrupted = interrupt_level;
      code_ = run_command(spec_, options_,
                          json_    ? ProgressMode::json
                          : quiet_ ? ProgressMode::quiet
                                   : ProgressMode::automatic);
    });
  }

  void add_compare() {
    auto* compare = app_.add_subcommand("compare", "is the second run faster, slower or the same?");
    compare->add_option("first", first_, "folder of results")
        ->check(takes(ValueKind::folder))
        ->required();
    compare->add_option("second", second_, "folder of results")
        ->check(takes(ValueKind::folder))
        ->required();
    compare->add_option("--margin", compare_.margin, "times within 1 +- margin are the same")
        ->check(number_from_zero())
        ->capture_default_str();
    compare
        ->add_option("--quality-margin", compare_.quality_margin,
                     "best values within this share of the first's are the same")
        ->check(number_from_zero())
        ->capture_default_str();
    auto* target = compare->add_option("--target-rmse", target_rmse_,
                                       "the answer, instead of the target of the results");
    compare
        ->add_option("--ignore", compare_.ignored,
                     "match cases that differ in these (\"params.threads\", \"evaluate\")")
        ->delimiter(',');
    compare
        ->add_option("--fail-on", fail_on_, "end with code 1 if any is " + join(kComplaints.all()))
        ->delimiter(',')
        ->check(CLI::IsMember(kComplaints.all()));
    compare->add_flag("--allow-contended", compare_.allow_contended,
                      "judge times although other programs took part of the machine");
    compare->add_flag("--json", json_, "as JSON");
    compare->callback([this, target] {
      if (target->count() > 0) compare_.target = TargetSpec{Metric::test_rmse, target_rmse_};
      code_ = compare_command(first_, second_, compare_, fail_on_, json_);
    });
  }

  void add_placement(CLI::App* command) {
    command->add_option("--pin", pin_, "bind each thread to one of these: " + join(kPins.all()))
        ->check(CLI::IsMember(kPins.all()))
        ->capture_default_str();
    command->add_option("--numa", numa_, "where memory lies: first-touch, interleave or node:N")
        ->capture_default_str();
  }

  void set_placement() {
    options_.placement.pin = kPins.parse(pin_, "--pin");
    set_memory(options_.placement, numa_);
  }

  void add_tune() {
    auto* tune = app_.add_subcommand(
        "tune", "run the trials of a spec, or say what those of a folder chose and why");
    tune->add_option("spec", spec_, "JSON file, or a folder of results")
        ->check(takes(ValueKind::spec))
        ->required();
    tune->add_option("--out", options_.folder, "folder of the results [results/runs/NAME]")
        ->check(takes(ValueKind::folder));
    tune->add_flag("--json", json_, "the studies with all their trials as JSON");
    tune->add_flag("--quiet", quiet_, "only the tables at the end");
    tune->add_flag("--retry", options_.retry, "run failed trials again (old files are set aside)");
    tune->add_flag("--rerun", options_.rerun, "run all trials again (old files are set aside)");
    add_placement(tune);
    tune->callback([this] {
      set_placement();
      options_.interrupted = interrupt_level;
      code_ = tune_command(spec_, options_,
                           json_ || quiet_ ? ProgressMode::quiet : ProgressMode::automatic, json_);
    });
  }

  void add_export() {
    auto* command = app_.add_subcommand("export", "results as two tables (CSV) for other programs");
    command->add_option("results", export_.paths, "folders of results, .jsonl files")
        ->check(takes(ValueKind::folder))
        ->required();
    command->add_option("--out", tables_, "one row a case; one row a trace point")
        ->check(takes(ValueKind::file))
        ->required()
        ->expected(2)
        ->type_name("CASES.csv TRACE.csv");
    command->add_flag("--unlisted", export_.unlisted, "also cases that spec.json lists no more");
    command->callback([this] {
      export_.cases = tables_.at(0);
      export_.trace = tables_.at(1);
      code_ = export_command(export_);
    });
  }

  void add_model_commands() {
    auto* predict = app_.add_subcommand("predict", "ratings predicted by an exported model");
    predict->add_option("model", model_, "folder of the model")
        ->check(takes(ValueKind::folder))
        ->required();
    auto* user = predict->add_option("--user", user_, "id of a user");
    auto* item = predict->add_option("--item", item_, "id of an item");
    user->needs(item);
    auto* pairs =
        predict->add_option("--pairs", pairs_, "file of lines \"user item\"; - for standard input")
            ->check(takes(ValueKind::file))
            ->excludes(user);
    auto* history = add_history(predict)->needs(item)->excludes(user)->excludes(pairs);
    predict->add_flag("--cold", cold_, "also users and items that the model does not know");
    predict->callback([this, user, item, history] {
      if (item->count() > 0 && user->count() + history->count() == 0) {
        fail(ErrorKind::usage, "--item: needs --user, or --history for a user of its own");
      }
      const SavedModel model = load_model(model_);
      if (history->count() > 0) {
        const GivenId one = given_item(model, item_);
        if (!cold_) check_known(model, nullptr, one);
        const FoldedUser of = model.fold_in(read_history(history_, model));
        fmt::print("{:.4f}\n", model.predict(of, one.key));
      } else if (user->count() > 0) {
        const GivenId of = given_user(model, user_);
        const GivenId one = given_item(model, item_);
        if (!cold_) check_known(model, &of, one);
        fmt::print("{:.4f}\n", model.predict(of.key, one.key));
      } else {
        predict_pairs(model, pairs_, cold_);
      }
    });
    auto* recommend =
        app_.add_subcommand("recommend", "the best items for a user by an exported model");
    recommend->add_option("model", model_, "folder of the model")
        ->check(takes(ValueKind::folder))
        ->required();
    auto* of_user = recommend->add_option("--user", user_, "id of the user");
    auto* of_history = add_history(recommend)->excludes(of_user);
    recommend->add_option("-k", k_, "how many")
        ->check(whole_within(1, 1'000'000'000))
        ->capture_default_str();
    recommend->add_flag("--include-seen", include_seen_, "also items rated in training");
    recommend->callback([this, of_user, of_history] {
      if (of_user->count() + of_history->count() == 0) {
        fail(ErrorKind::usage, "recommend: needs --user or --history");
      }
      const SavedModel model = load_model(model_);
      recommend_command(model, of_user->count() > 0
                                   ? recommended(model, user_, k_, include_seen_)
                                   : model.recommend(model.fold_in(read_history(history_, model)),
                                                     k_, include_seen_));
    });
  }

  CLI::Option* add_history(CLI::App* command) {
    return command
        ->add_option("--history", history_,
                     "of a user of its own: file of lines \"item value\" or \"item\"")
        ->check(takes(ValueKind::file));
  }

  CLI::App app_;
  int code_ = 0;
  bool json_ = false, quiet_ = false, include_seen_ = false, cold_ = false;
  bool look_ = false;
  std::string name_, first_, second_, model_;
  std::string pairs_ = "-", history_;
  std::string user_, item_;
  int k_ = 10;
  CompareOptions compare_;
  std::vector<std::string> fail_on_;
  double target_rmse_ = 0;
  std::string spec_, one_case_;
  RunOptions options_;
  ProfileWindow window_;
  PlanOptions plan_;
  double device_gib_ = 0;
  std::string pin_ = kPins.of(Pin::none);
  std::string numa_ = memory_text({});
  ExportOptions export_;
  std::vector<std::string> tables_;
};

}  // namespace

namespace {

// Whoever reads it no more (EPIPE, as head) wanted no more.
void flush_output() {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || errno == EPIPE) return;
  fail(ErrorKind::io, "what was printed could not be written: {}; results have files of their own",
       errno != 0 ? last_cause() : "an earlier line was refused");
}

}  // namespace

int cli_main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of files is an error of the write, not the end
  try {
    const int code = Cli(argc, argv).run(argc, argv);
    flush_output();
    return code;
  } catch (...) {
    return tell_exception();
  }
}

}  // namespace mf
