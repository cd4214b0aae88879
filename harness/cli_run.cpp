#include "harness/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/shared_folder.hpp"
#include "base/key_words.hpp"
#include "base/log.hpp"
#include "base/ranks/mpi_ranks.hpp"
#include "base/ranks/silence.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/timeline.hpp"
#include "base/wait.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/look.hpp"
#include "datasets/ratings/feedback.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/study/study_report.hpp"
#include "harness/results/summary.hpp"
#include "harness/run/apart.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/ranks/rank_world.hpp"
#include "harness/run/session.hpp"

namespace mf {
namespace {

constexpr int kUnforeseen = 70;
const std::string kFastest = "fastest  ";

// Warns of oddities of a valid spec.
void warn_of(const Spec& spec, const std::string& path) {
  for (const auto& warning : spec.warnings) warn("{}: {}", path, warning);
}

void warn_of_edges(const std::vector<FoundStudy>& studies) {
  for (const auto& [plan, state] : studies) {
    if (!state.over()) continue;
    if (const std::string better = choice_warning(plan, state); !better.empty()) {
      warn("{}", better);
    }
  }
  if (const std::string edges = edges_warning(studies); !edges.empty()) warn("{}", edges);
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

// A pipe's columns, too.
std::size_t room_of_table() {
  constexpr std::size_t kPipe = 100;
  return terminal_columns(stdout).value_or(kPipe);
}

void print_choices(const SessionSummary& summary, std::size_t room) {
  if (summary.studies.empty()) return;
  fmt::print("tuned on the validation part; `mfbench tune {}` says why:\n",
             one_line(summary.folder));
  for (const auto& [plan, state] : summary.studies) {
    fmt::print("{}\n", folded("  " + one_line(choice_line(plan, state)), room, 4));
  }
  fmt::print("{} run now, {} finished before\n\n", counted(summary.trials_run, "trial"),
             summary.trials_finished_before);
}

// "12 cases, shard 2/3: 3 run now, 0 finished before, 1 run by others; results in runs/als".
std::string counts_text(const SessionSummary& summary, const RunOptions& options) {
  std::string text = counted(std::ssize(summary.spec.cases), "case");
  const auto& [part, of, named] = options.shard;
  if (of > 1) text += fmt::format(", shard {}/{}", part, of);
  if (!options.named.empty()) text += fmt::format(", {} named", options.shard.named.size());
  text += fmt::format(": {} run now, {} finished before", summary.run, summary.finished_before);
  if (summary.left_out > 0) text += fmt::format(", {} left out: the time is up", summary.left_out);
  if (summary.by_others > 0) text += fmt::format(", {} run by others", summary.by_others);
  if (!summary.held.empty()) text += fmt::format(", {} with others still", summary.held.size());
  return text + "; results in " + one_line(summary.folder);
}

void print_session(const SessionSummary& summary, const RunOptions& options) {
  const std::size_t room = room_of_table();
  const Spec& spec = summary.spec;
  fmt::print("\n");
  // Before all trials have run there are no cases yet.
  if (!spec.cases.empty() && !summary.interrupted && !options.profile)
    fmt::print("{}\n\n", folded(kFastest + winners_text(summary.folder, spec), room, 9));
  print_choices(summary, room);
  if (!spec.cases.empty()) {
    fmt::print("{}{}\n", summary_table(summary.folder, spec, room, options.explain),
               folded(counts_text(summary, options), room, 2));
  }
  if (options.profile) {
    fmt::print("profiled: {} warm-up and {} recorded epochs a case; these times are no results\n",
               options.profile->warmup, options.profile->epochs);
  }
}

// The last line of JSON: the place of the results, even if no case had to run.
void print_end(const SessionSummary& summary) {
  const Json end = {{"type", "run_ends"},
                    {"folder", summary.folder},
                    {"cases", summary.spec.cases.size()},
                    {"run", summary.run},
                    {"finished_before", summary.finished_before},
                    {"by_others", summary.by_others},
                    {"held_by_others", summary.held.size()},
                    {"failed", summary.failed}};
  fmt::print("{}\n", json_text(end));
}

// The first of them with their reasons, also with --quiet and if an earlier call ran them: many
// have one reason.
void tell_failures(const SessionSummary& summary) {
  fmt::print(stderr, "{} failed: the result files say why, --retry runs failed cases again\n",
             counted(summary.failed, "case"));
  std::vector<std::string> lines;
  for (const auto& one : summary.failures) {
    lines.push_back(fmt::format("{}: {}: {}", one.id, kStatuses.of(one.status), one.reason));
  }
  tell_first(lines);
}

void tell_held(const SessionSummary& summary) {
  if (summary.held.empty()) return;
  note(
      "with other processes: {}; the same command takes what they leave without a result, and "
      "--retry what ended on another machine",
      counted(std::ssize(summary.held), "case"));
  std::vector<std::string> lines;
  for (const auto& one : summary.held) lines.push_back(one.id + ": " + one.holder);
  tell_first(lines);
}

// Warnings, and the exit code.
int judge_session(const SessionSummary& summary) {
  if (summary.failed > 0) tell_failures(summary);
  if (summary.interrupted) return tell_interrupted();
  if (summary.bad_data > 0) return static_cast<int>(ErrorKind::data);
  return summary.failed > 0 ? kSomeCasesFailed : 0;
}

int tell_session(const SessionSummary& summary, const RunOptions& options, ProgressMode mode) {
  if (interrupt_signal() == SIGHUP) return kBySignal + SIGHUP;  // the terminal is gone
  if (mode == ProgressMode::json) {
    print_end(summary);
  } else {
    print_session(summary, options);
  }
  warn_of_edges(summary.studies);
  for (const auto& why : summary.studies_not_run) warn("{}; its trials were not run", why);
  if (!summary.neighbour.empty()) {
    warn(
        "{}: {} ran cases of this spec on this machine, too: both took from each other's caches "
        "and memory bandwidth. Cases whose CPUs or GPU were shared are marked contended",
        summary.folder, summary.neighbour);
  }
  tell_held(summary);
  return judge_session(summary);
}

int run_spec_apart(const Spec& spec, const RunOptions& options, ProgressMode mode,
                   SessionSummary* ran) {
  install_interrupt_handler();
  const auto [summary, ended_by] = run_apart(spec, options);
  if (ran != nullptr) *ran = summary;
  // The code that ended it has said why.
  if (ended_by && !summary.interrupted) return *ended_by;
  const int code = tell_session(summary, options, mode);
  return ended_by.value_or(code);
}

int run_spec(const Spec& spec, const RunOptions& options, ProgressMode mode, SessionSummary* ran) {
  install_interrupt_handler();
  if (options.only) hear_interrupts();
  const auto progress = make_progress(mode, stdout);
  std::optional<Timeline> timeline;  // its file ends with the session, however that ends
  if (options.timeline) timeline.emplace(*options.timeline);
  SessionSummary summary = run_session(spec, options, *progress);
  if (ran != nullptr) {
    summary.trials_run += ran->trials_run;
    summary.trials_finished_before -= ran->trials_run;
    *ran = summary;
  }
  const std::string lost = timeline ? timeline->flush() : "";
  timeline.reset();
  if (!lost.empty()) {
    warn("{}: {}; the timeline ends there, the results do not", *options.timeline, lost);
  }
  if (options.only) return end_one_case(summary, interrupt_signal());
  const int code = tell_session(summary, options, mode);
  if (options.timeline && lost.empty() && mode != ProgressMode::json &&
      interrupt_signal() != SIGHUP) {
    fmt::print("timeline in {}; https://ui.perfetto.dev opens it\n", one_line(*options.timeline));
  }
  return code;
}

// How a rank waits for the next order of rank 0: after a signal, rank 0 may still have to end and
// evaluate an epoch.
class WaitOfRank {
 public:
  void operator()(const std::string& what, double) {
    constexpr double kLastEpochSeconds = 10;
    if (interrupt_level() == 0) return;
    if (!since_) since_ = Clock::now();
    if (interrupt_level() >= 2 || seconds_since(*since_) >= kLastEpochSeconds)
      fail(ErrorKind::io, "interrupted while waiting for {}", what);
  }

 private:
  std::optional<Clock::time_point> since_;  // that the signal is known
};

// The other ranks do as rank 0 says, and leave the telling to it. A launcher may send a signal to
// all.
int follow_command(const Spec& spec, const RunOptions& options, RankWorld& world) {
  try {
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
    world.provide(spec, [spec, options](RankWorld& own) {
      try {
        own.provide(spec, {});
      } catch (const std::exception&) {
        return;
      }
      follow_command(spec, options, own);
    });
    return spec;
  } catch (const RankFault&) {
    world.set_broken();
    throw;
  } catch (...) {
    if (world.leads()) throw;
    return std::nullopt;
  }
}

// Prints which files of each data set are here. Throws Error(data) at the end if any is missing.
void look_at_data(const Spec& spec, bool tell) {
  std::set<std::string> seen, of_stars;
  std::vector<std::string> problems;
  for (const auto& item : spec.cases) {
    if (!is_implicit(item) && !item.data.scale && !item.data.implicit)
      of_stars.insert(item.data.label());
  }
  for (const auto& item : spec.cases) {
    const std::string label = item.data.label();
    if (!seen.insert(label).second) continue;
    try {
      const std::string found = look_at_data(item.data);
      if (tell) fmt::print("{}: {}\n", printable(label), found);
      if (!of_stars.contains(label)) continue;
      if (const auto why = why_no_stars(first_look(item.data).ratings.values))
        warn("{}: {}", item.data_path, *why);
    } catch (const Error& error) {
      problems.push_back(item.data_path + ": " + error.what());
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::data, join(problems, "\n"));
}

// ", and 70 runs of the trials of 2 studies"; nothing without one.
std::string trials_text(const Spec& spec) {
  if (spec.studies.empty()) return "";
  std::int64_t runs = 0;
  for (const auto& study : spec.studies) runs += study.runs();
  return fmt::format(", and up to {} of the trials of {} {}", counted(runs, "run"),
                     spec.studies.size(), spec.studies.size() == 1 ? "study" : "studies");
}

}  // namespace

// The exception being handled, on standard error; returns the exit code that it stands for.
int tell_exception() {
  try {
    throw;
  } catch (const Error& error) {
    tell_error(error.what());
    return static_cast<int>(error.kind());
  } catch (const std::bad_alloc&) {
    tell_error("out of memory");
    return static_cast<int>(ErrorKind::memory);
  } catch (const std::system_error& error) {  // of the file system, or a pipe that was closed
    const std::string advice = advice_on(error.code().value());
    tell_error(error.what() + (advice.empty() ? "" : "; " + advice));
    return static_cast<int>(ErrorKind::io);
  } catch (const std::exception& error) {
    tell_error(std::string(error.what()) + "; this message should be better. Please report it");
  } catch (...) {
    tell_error("an unknown exception was thrown; this message should be better. Please report it");
  }
  return kUnforeseen;
}

void tell_first(const std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i) {
    fmt::print(stderr, "  {}\n", one_line(lines[i]));
  }
  if (lines.size() > kShown) fmt::print(stderr, "  and {} more\n", lines.size() - kShown);
}

int tell_interrupted() {
  fmt::print(stderr, "interrupted; the same command goes on where it stopped\n");
  return kBySignal + interrupt_signal();
}

void tell_ending(const std::string& open, const std::string& next) {
  const std::size_t room = terminal_columns(stdout).value_or(kAnyWidth);
  fmt::print("{}\n{}\n", folded(std::string(kOpen) + open, room, 9),
             folded("next     " + next, room, 9));
}

void tell_end_of_run(const SessionSummary& ran) {
  if (ran.spec.cases.empty() || ran.interrupted) return;
  tell_ending(one_line(ran.folder) + ", a file a case",
              "mfbench plot " + one_line(shell_word(ran.folder)));
}

Spec read_and_warn(const std::string& path) {
  Spec spec = read_spec(path);
  warn_of(spec, path);
  return spec;
}

void validate_command(const std::string& path, bool json, bool data, const Json& keys) {
  options_named = !keys.empty();
  const auto read_changed = [&] {
    Json changed = read_json_file(path);
    if (!changed.contains("datasets")) return parse_spec(changed, path);
    for (Json& entry : changed["datasets"]) {
      entry = expand_dataset_entry(entry, path);
      if (entry.contains("path") || entry.contains("train")) entry.update(keys);
    }
    return parse_spec(changed, path);
  };
  const Spec spec = options_named ? read_changed() : read_and_warn(path);
  if (data) look_at_data(spec, !json);
  if (json) {
    Json cases = Json::array();
    for (const auto& item : spec.cases) cases.push_back({{"id", item.id}, {"case", item.resolved}});
    fmt::print("{}\n", json_text(cases, 2));
    return;
  }
  fmt::print("{}: valid, {}{}{}\n", one_line(path), counted(std::ssize(spec.cases), "case"),
             trials_text(spec),
             data ? "; its data are at hand" : "; its data were not looked at (--data does)");
}

// For a folder of results, what its studies chose; for a spec, the trials first.
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
  const auto [summary, ended_by] = options.apart
                                       ? run_apart(spec, options)
                                       : ApartSession{run_session(spec, options, *progress), {}};
  if (ended_by && !summary.interrupted) return *ended_by;
  if (interrupt_signal() == SIGHUP) return kBySignal + SIGHUP;
  if (mode != ProgressMode::quiet) fmt::print("\n");
  print_studies(summary.studies, json);
  for (const auto& why : summary.studies_not_run) warn("{}; its trials were not run", why);
  if (!json) {
    fmt::print("{} run now, {} finished before; they are in {}\n",
               counted(summary.trials_run, "trial"), summary.trials_finished_before,
               one_line(summary.folder) + "/tune");
  }
  if (summary.interrupted) return std::max(tell_interrupted(), ended_by.value_or(0));
  const auto chose = [](const FoundStudy& study) { return study.state.best() != nullptr; };
  return std::all_of(summary.studies.begin(), summary.studies.end(), chose) ? 0 : kSomeCasesFailed;
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, bad_part] = std::from_chars(text.data(), end, shard.part);
  const bool has_slash = bad_part == std::errc() && slash != end && *slash == '/';
  const auto [rest, bad_of] = std::from_chars(slash + (has_slash ? 1 : 0), end, shard.of);
  if (has_slash && bad_of == std::errc() && rest == end && shard.part >= 1 &&
      shard.part <= shard.of) {
    return shard;
  }
  fail(ErrorKind::usage,
       "--shard: found \"{}\", expected I/N with I from 1 to N: 1/8, 2/8, ... 8/8 are the parts of "
       "eight machines",
       text);
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

bool is_apart_for_plugins(const std::string& path, const RunOptions& options) {
  const bool in_one = options.only || options.profile || options.timeline || launched_count() > 1;
  // A pipe can be read only once.
  if (in_one || named_folders("MFBENCH_PLUGINS").empty() || !std::filesystem::is_regular_file(path))
    return false;
  const Spec spec = read_spec(path);
  return std::ranges::any_of(
      spec.cases, [](const Case& item) { return !find_algorithm(item.algorithm).origin.empty(); });
}

int run_command(const std::string& path, RunOptions options, ProgressMode mode,
                SessionSummary* ran) {
  static bool begun = false;
  if (!std::exchange(begun, true)) options.process_start = process_start();
  if (options.apart && !options.only) {
    const Spec spec = read_and_warn(path);
    options.shard.named = cases_named(options.named, spec.cases);
    return run_spec_apart(spec, options, mode, ran);
  }
  if (options.only) end_with_starter(kReportFile);
  const bool joins = launched_count() == 1 || !mpi_version().empty();
  if (!joins && launched_rank() > 0) return 0;  // rank 0 says why
  const WaitScope waits{WaitOfRank()};          // also while the ranks part
  RankWorld world;
  int code = 0;
  try {
    const std::optional<Spec> spec = gather_ranks(world, path, options);
    if (!spec) return 0;
    if (!world.leads()) {
      is_silent = true;
      install_interrupt_handler();
      return follow_command(*spec, options, world);
    }
    if (!options.only) warn_of(*spec, path);
    options.shard.named = cases_named(options.named, spec->cases);
    options.ranks = &world;
    code = run_spec(*spec, options, mode, ran);
    world.dismiss();
    if (!world.broken()) return code;
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

}  // namespace mf
