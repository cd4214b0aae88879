#include "harness/cli.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "harness/commands.hpp"
#include "harness/experiment/frozen_targets.hpp"
#include "harness/experiment/metric_keys.hpp"
#include "harness/results/cards.hpp"
#include "harness/results/compare/compare.hpp"
#include "harness/results/compare/compare_report.hpp"
#include "harness/results/files/fields.hpp"
#include "harness/results/merge.hpp"
#include "harness/results/questions.hpp"
#include "harness/results/summarize.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/plan/plan.hpp"
#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

constexpr int kSomeLeftOut = 1;
constexpr const char* kOneCase = "--one-case";

// Without the program's folder: results travel, machine paths should not. Nor does a process of
// --apart say its number.
std::string command_line(int argc, char** argv) {
  std::string text = "mfbench";
  for (int i = 1; i < argc && !std::string_view(argv[i]).starts_with(kOneCase); ++i) {
    text += " " + shell_word(argv[i]);
  }
  return text;
}

// With its folder if it was called by that and is not on the PATH.
std::string called_as(std::string_view program) {
  return program.find('/') == std::string_view::npos ? "mfbench" : shell_word(program);
}

// 1 where there is reason for one of the complaints.
int compare_command(const std::string& first, const std::string& second,
                    const CompareOptions& options, const std::vector<std::string>& fail_on,
                    bool json) {
  const ComparisonReport report = compare_results(first, second, options);
  fmt::print("{}", json ? json_text(to_json(report), 2) + "\n" : to_text(report));
  if (report.rows.empty() && options.between) {
    fail(ErrorKind::usage,
         "{} and {} have no data set, split and swept settings in common, so there is nothing to "
         "compare",
         options.between->at(0).text, options.between->at(1).text);
  }
  if (report.rows.empty()) {
    fail(ErrorKind::usage,
         "{} and {} have no case in common: compare pairs cases that agree in all but their seeds; "
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

void check_tables(const std::vector<std::string>& tables) {
  for (const auto& path : tables) {
    if (path.ends_with(".csv")) continue;
    fail(ErrorKind::usage, "--out {}: found another ending, expected .csv, the format written",
         path);
  }
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  if (place(tables[0]) == place(tables[1])) {
    fail(ErrorKind::usage, "--out: {} is named for both tables", tables[0]);
  }
}

// JSON to standard output, or the two tables.
int summarize_command(const SummarizeOptions& options, const std::vector<std::string>& tables) {
  if (!tables.empty()) check_tables(tables);
  const Summarized done = tables.empty() ? summarize_as_json(options, std::cout)
                                         : summarize_as_csv(options, tables[0], tables[1]);
  if (!tables.empty()) {
    fmt::print("{}: {}, {} columns\n{}: {}, {} columns\n", tables[0], counted(done.cases, "case"),
               done.case_columns, tables[1], counted(done.points, "trace point"),
               done.trace_columns);
  }
  if (done.unlisted > 0) {
    note("left out: {} that spec.json does not list; --unlisted takes them in",
         counted(done.unlisted, "case"));
  }
  return done.left_out > 0 ? kSomeLeftOut : 0;
}

void merge_command(const std::string& out, const std::vector<std::string>& folders) {
  const Merged merged = merge_results(out, folders);
  fmt::print("{}\n", to_text(merged, out));
  const auto& missing = merged.missing;
  if (missing.empty()) return;
  note("without a result: {}; mfbench run with the spec and --out {} runs what is missing",
       counted(std::ssize(missing), "case"), shell_word(out));
  tell_first(missing);
}

// Helps that are the same by every version of CLI11: 2.3 writes defaults as "TEXT=none", 2.4 as
// "TEXT [none] "; this, as 2.3 does.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string newer = " [" + option->get_default_str() + "] ";
    const auto at = text.find(newer);
    if (option->get_default_str().empty() || at == std::string::npos) return text;
    return text.replace(at, newer.size(), "=" + option->get_default_str());
  }
};

class Cli {
 public:
  Cli(int argc, char** argv) {
    options_.command_line = command_line(argc, argv);
    options_.words.assign(argv + 1, argv + argc);
    app_.description(
        "mfbench " + std::string(build_info::version) +
        ": races matrix-factorization algorithms. docs/spec.md says how to write a spec.");
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.require_subcommand(1);
    app_.set_version_flag("--version", version_text);
    add_information();
    add_race_command(app_, called_as(argv[0]), options_, code_);
    add_spec_commands();
    add_plot_commands(app_);
    add_model_commands(app_);
    add_evaluate_command(app_);
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
      tell_error(message.str().substr(0, message.str().find_last_not_of('\n') + 1));
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

  // CLI11 would only list unexpected words, also values of unknown options, and from the end.
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
    auto* list = app_.add_subcommand("list", "list the algorithms");
    list->add_flag("--json", json_, "as JSON");
    list->callback([this] { list_command(json_); });
    auto* describe = app_.add_subcommand("describe", "show one algorithm and its parameters");
    describe->add_option("algorithm", name_, "its name, or peer:LIBRARY for all of that library")
        ->required();
    describe->add_flag("--json", json_, "as JSON");
    describe->callback([this] { describe_command(name_, json_); });
    auto* doctor = app_.add_subcommand("doctor", "show what this machine and this build can do");
    doctor->add_flag("--json", json_, "as JSON");
    doctor->add_flag("-v,--verbose", verbose_, "also each algorithm, library and data set");
    doctor->callback([this] {
      const Json report = doctor_json();
      fmt::print("{}",
                 json_ ? json_text(report, 2) + "\n" : printable(format_doctor(report, verbose_)));
    });
    auto* schema = app_.add_subcommand("schema",
                                       "print the JSON Schema of specs, the metrics, the frozen "
                                       "targets, the formats of ratings, or the fields of results");
    schema->add_option("what", name_, "specs, metrics, targets, formats, or results")
        ->check(CLI::IsMember({"specs", "metrics", "targets", "formats", "results"}));
    schema->callback([this] {
      const Json said = name_ == "metrics"   ? metric_table()
                        : name_ == "targets" ? frozen_targets_json()
                        : name_ == "formats" ? formats_json()
                        : name_ == "results" ? result_fields_json()
                                             : spec_schema();
      fmt::print("{}\n", json_text(said, 2));
    });
  }

  void add_spec_commands() {
    add_validate();
    add_plan();
    add_run();
    add_tune();
    add_compare();
    add_summarize();
    add_merge();
  }

  void add_validate() {
    auto* validate = app_.add_subcommand("validate", "check a spec and count its cases");
    validate->add_option("spec", spec_, "the spec, a JSON file")->required();
    validate->add_flag("--json", json_, "print every resolved case");
    validate->add_flag("--data", look_, "also look for the data: files, formats, caches");
    add_reading_options(*validate, reading_);
    validate->callback([this] { validate_command(spec_, json_, look_, reading_); });
  }

  void add_plan() {
    auto* plan =
        app_.add_subcommand("plan", "estimate cases, memory and time of a spec without running it");
    plan->add_option("spec", spec_, "the spec, a JSON file")->required();
    plan->add_flag("--json", json_, "as JSON");
    plan->add_flag_callback(
        "--no-measure", [this] { plan_.measure = false; }, "leave out the time estimate");
    plan->add_flag_callback(
        "--no-share", [this] { plan_.share = false; }, "plan for run --no-share");
    auto* device =
        plan->add_option("--device-memory", device_gib_, "plan for so many GiB free on the device")
            ->check(number_above_zero());
    plan->callback([this, device] {
      const Spec spec = read_and_warn(spec_);
      if (device->count() > 0)
        plan_.device_free_bytes = device_gib_ * static_cast<double>(std::int64_t{1} << 30);
      const Json made = make_plan(spec, plan_);
      fmt::print("{}", json_ ? json_text(made, 2) + "\n" : printable(format_plan(made, spec)));
    });
  }

  void add_run() {
    auto* run = app_.add_subcommand("run", "run a spec; finished cases are not run again");
    run->add_option("spec", spec_, "the spec, a JSON file")->required();
    run->add_option("--out", options_.folder, "folder of the results [results/runs/NAME]");
    run->add_option("--save-model", options_.model_folder, "folder for the trained models");
    run->add_flag("--json", json_, "JSON lines instead of a table");
    run->add_flag("--quiet", quiet_, "print only the table at the end");
    run->add_flag("--explain", options_.explain, kExplain);
    run->add_flag("--retry", options_.retry,
                  "run failed cases again (old files are set aside), and take the claims of other "
                  "machines");
    run->add_flag("--rerun", options_.rerun, "run all cases again (old files are set aside)");
    run->add_flag_callback(
        "--no-share", [this] { options_.share = false; },
        "each case loads, cuts and uploads its ratings anew");
    run->add_flag("--apart", options_.apart, "start a process for each case");
    run->add_option_function<std::string>(
           "--shard", [this](const std::string& text) { options_.shard = parse_shard(text); },
           "run only each N-th case, from the I-th on: 1/8, 2/8, ... 8/8 on eight machines")
        ->type_name("I/N");
    run->add_option("--case", options_.named,
                    "run only cases whose id or hash begins so (mfbench validate SPEC --json)");
    add_process_options(*run);
    auto* profile =
        run->add_option("--profile", window_.epochs,
                        "record N epochs of each case for a profiler, then end the case [3]")
            ->expected(0, 1)
            ->check(whole_within(1, 1'000'000));
    run->add_option("--profile-warmup", window_.warmup, "epochs before those that are recorded")
        ->needs(profile)
        ->check(whole_within(0, 1'000'000))
        ->capture_default_str();
    run->add_option("--trace", options_.timeline,
                    "file for a timeline of phases, threads and streams (docs/profiling.md)")
        ->check([](const std::string& path) {  // it would wait for a reader
          std::error_code none;
          return std::filesystem::is_fifo(path, none) ? path + ": a pipe, expected a file" : "";
        });
    run->callback([this, profile] {
      // Without a number, CLI11 takes the empty text for 0.
      if (profile->results() == std::vector<std::string>{""})
        window_.epochs = ProfileWindow{}.epochs;
      if (profile->count() > 0) options_.profile = window_;
      refuse_apart(options_);
      options_.apart |= is_apart_for_plugins(spec_, options_);
      options_.interrupted = interrupt_level;
      SessionSummary ran;
      code_ = run_command(spec_, options_, mode(), &ran);
      if (!json_ && !options_.only && !options_.profile) tell_end_of_run(ran);
    });
  }

  void add_process_options(CLI::App& command) {
    command.add_option(kOneCase, options_.only)->group("");  // which one, in such a process
    command.add_option("--ended-by", options_.ended_by)->group("");
    command.add_option("--began-ns", options_.began_ns)->group("");
    command.add_option("--ran-cases", options_.before.cases)->group("");  // by those before it
    command.add_option("--ran-seconds", options_.before.seconds)->group("");
  }

  void add_compare() {
    auto* compare =
        app_.add_subcommand("compare", "say whether the second run is faster, slower or the same");
    compare
        ->add_option("folders", summarize_.paths,
                     "two folders of results; with --between it may be one, with --by any number")
        ->required();
    auto* by = compare->add_option("--by", by_, "card: times of each case on every card")
                   ->check(CLI::IsMember({"card"}));
    compare
        ->add_option("--over", over_,
                     "with --by: the card of speed-ups, by a part of its name [the first]")
        ->needs(by);
    compare
        ->add_option_function<std::string>(
            "--baseline",
            [this](const std::string& text) { compare_.baseline = parse_side(text, "--baseline"); },
            "with --by: an algorithm; speed-ups over it on the same card: \"als_cpu solver=cg\"")
        ->needs(by);
    compare
        ->add_option("--between", between_,
                     "two algorithms, the first one's cases against the second one's: \"als_cpu "
                     "solver=cg\" fpsgd")
        ->expected(2)
        ->type_name("FIRST SECOND");
    compare->add_option("--margin", compare_.margin, "times within 1 +- margin are the same")
        ->check(number_from_zero())
        ->capture_default_str();
    compare
        ->add_option("--quality-margin", compare_.quality_margin,
                     "values within this share of the first's are the same")
        ->check(number_from_zero())
        ->capture_default_str();
    compare->add_option_function<std::string>(
        "--target", [this](const std::string& text) { compare_.target = parse_target(text); },
        "answer times are to this target, instead of the results' target: test_rmse=0.9");
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
    for (const char* of_two :
         {"--between", "--margin", "--quality-margin", "--fail-on", "--allow-contended"}) {
      by->excludes(compare->get_option(of_two));
    }
    compare->callback([this] {
      if (!by_.empty()) return compare_by_card();
      set_sides();
      code_ = compare_command(summarize_.paths.front(), summarize_.paths.back(), compare_, fail_on_,
                              json_);
    });
  }

  void compare_by_card() {
    const Json compared = compare_cards(summarize_.paths, over_, compare_);
    fmt::print("{}", json_ ? json_text(compared, 2) + "\n" : cards_text(compared));
  }

  void set_sides() {
    if (!between_.empty()) compare_.between = {parse_side(between_[0]), parse_side(between_[1])};
    const std::size_t count = summarize_.paths.size();
    if (count > 2 || (count == 1 && between_.empty())) {
      fail(ErrorKind::usage,
           "compare: found {}, expected two, or two algorithms of one: --between FIRST SECOND, or "
           "any number --by card",
           counted(static_cast<std::int64_t>(count), "folder"));
    }
  }

  void add_tune() {
    auto* tune = app_.add_subcommand(
        "tune", "run the trials of a spec, or show the choices of a folder's trials and why");
    tune->add_option("spec", spec_, "the spec, a JSON file, or a folder of results")->required();
    tune->add_option("--out", options_.folder, "folder of the results [results/runs/NAME]");
    tune->add_flag("--json", json_, "the studies with all their trials as JSON");
    tune->add_flag("--quiet", quiet_, "print only the tables at the end");
    tune->add_flag("--retry", options_.retry, "run failed trials again (old files are set aside)");
    tune->add_flag("--rerun", options_.rerun, "run all trials again (old files are set aside)");
    add_process_options(*tune);
    tune->callback([this] {
      options_.interrupted = interrupt_level;
      options_.apart = is_apart_for_plugins(spec_, options_);
      const ProgressMode shown = json_ ? ProgressMode::quiet : mode();
      code_ = options_.only ? run_command(spec_, options_, shown)
                            : tune_command(spec_, options_, shown, json_);
    });
  }

  void add_summarize() {
    auto* command =
        app_.add_subcommand("summarize", "export results, and derived values, as CSV or JSON");
    command->add_option("results", summarize_.paths, "folders of results, .jsonl files")
        ->required();
    auto* json = command->add_flag("--json", json_, "a line of JSON a case");
    auto* out = command->add_option("--out", tables_, "CSV: one row a case; one row a trace point")
                    ->expected(2)
                    ->type_name("CASES.csv TRACE.csv")
                    ->excludes(json);
    command->add_flag("--unlisted", summarize_.unlisted,
                      "also cases that spec.json no longer lists");
    command->add_flag("--lines", summarize_.with_lines, "JSON: with the lines of each file")
        ->needs(json);
    command->callback([this, out] {
      if (!json_ && out->count() == 0) {
        fail(ErrorKind::usage, "summarize: needs --json, or --out CASES.csv TRACE.csv");
      }
      code_ = summarize_command(summarize_, tables_);
    });
    app_.add_subcommand("ask", "answer questions about numbers of your own, one line of JSON each")
        ->callback([] { answer_questions(std::cin, std::cout); });
  }

  void add_merge() {
    auto* merge =
        app_.add_subcommand("merge", "join folders of results of one spec, such as its shards");
    merge->add_option("out", first_, "the joined folder: a new one, or one of this spec")
        ->required();
    merge->add_option("results", summarize_.paths, "folders of results")->required();
    merge->callback([this] { merge_command(first_, summarize_.paths); });
  }

  ProgressMode mode() const {
    if (json_) return ProgressMode::json;
    if (quiet_) return ProgressMode::quiet;
    return ProgressMode::automatic;
  }

  CLI::App app_;
  int code_ = 0;
  bool json_ = false, quiet_ = false, verbose_ = false, look_ = false;
  Json reading_ = Json::object();
  std::string name_, first_;
  std::vector<std::string> between_;
  CompareOptions compare_;
  std::string by_, over_;
  std::vector<std::string> fail_on_;
  std::string spec_;
  RunOptions options_;
  ProfileWindow window_;
  PlanOptions plan_;
  double device_gib_ = 0;
  SummarizeOptions summarize_;
  std::vector<std::string> tables_;
};

}  // namespace

namespace {

// A reader that closed the pipe (EPIPE, as head does) wants no more.
void fail_unwritten(int error) {
  if (error == EPIPE) return;
  fail(ErrorKind::io, "what was printed could not be written: {}; results have files of their own",
       error != 0 ? std::generic_category().message(error) : "an earlier line was refused");
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_unwritten(errno);
}

int run_cli(int argc, char** argv) {
  try {
    const int code = Cli(argc, argv).run(argc, argv);
    flush_output();
    return code;
  } catch (const std::system_error& error) {  // of a line that did not fit the buffer of stdout
    if (std::ferror(stdout) == 0) throw;
    fail_unwritten(error.code().value());
    return 0;
  }
}

}  // namespace

int cli_main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of files is an error of the write, not the end
  try {
    return run_cli(argc, argv);
  } catch (...) {
    return tell_exception();
  }
}

}  // namespace mf
