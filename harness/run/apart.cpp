#include "harness/run/apart.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/host/process_id.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "harness/device/environment.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/one_case.hpp"
#include "harness/run/show/progress.hpp"
#include "harness/run/turns.hpp"

extern char** environ;

namespace mf {
namespace {

constexpr int kLookAgainMs = 100;

[[noreturn]] void cannot_start(int error) {
  fail(ErrorKind::io, "no process can be started for the next case: {}", std::strerror(error));
}

// One case, or the trials, from its start to its end.
class CaseProcess {
 public:
  explicit CaseProcess(std::vector<std::string> words) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) cannot_start(errno);
    report_ = pipe[0];
    ::fcntl(report_, F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], kReportFile);
    std::vector<char*> arguments;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const sigset_t blocked = told_interrupts();
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    words.insert(words.begin(), "mfbench");
    ::setenv("MFBENCH_PLUGINS_TOLD", "1", 1);  // this process has warned of them
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // Not the path of the file: a build may replace it while the run goes on.
    const int error =
        ::posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    if (error == 0) return;
    ::close(report_);
    cannot_start(error);
  }
  ~CaseProcess() { ::close(report_); }
  CaseProcess(const CaseProcess&) = delete;
  CaseProcess& operator=(const CaseProcess&) = delete;

  // Its status, as of waitpid.
  int wait() {
    int status = 0;
    while (!has_ended(status)) {
      pollfd look{report_, POLLIN, 0};
      // With the end of its report the process is about to end.
      if (::poll(&look, reported_ ? 0 : 1, reported_ ? 1 : kLookAgainMs) > 0) read_report();
      if (interrupt_level() != told_) tell();
    }
    while (read_report()) continue;
    return status;
  }

  Json report() const { return text_.empty() ? Json::object() : parse_json(text_, "report"); }

 private:
  bool has_ended(int& status) const { return ::waitpid(pid_, &status, WNOHANG) == pid_; }

  // Whether there may be more at once: what it has started itself may hold its end open.
  bool read_report() {
    std::array<char, 256> bytes{};
    const auto count = ::read(report_, bytes.data(), bytes.size());
    if (count < 0) return errno == EINTR;
    reported_ = count == 0;
    text_.append(bytes.data(), static_cast<std::size_t>(count));
    return !reported_;
  }

  void tell() {
    told_ = interrupt_level();
    tell_interrupt(pid_);
  }

  pid_t pid_ = -1;
  int report_ = -1;
  bool reported_ = false;
  std::string text_;
  int told_ = 0;
};

// The counts in the report of a process.
constexpr std::pair<const char*, int SessionSummary::*> kCounts[] = {
    {"run", &SessionSummary::run},
    {"finished_before", &SessionSummary::finished_before},
    {"by_others", &SessionSummary::by_others},
    {"bad_data", &SessionSummary::bad_data},
    {"trials_run", &SessionSummary::trials_run},
    {"trials_finished_before", &SessionSummary::trials_finished_before}};

class Apart {
 public:
  Apart(const Spec& spec, const RunOptions& options) : spec_(spec), options_(options) {
    const std::string folder = folder_of(spec, options);
    options_.began_ns = is_folder(folder) ? ClaimFolder(folder, spec.hash).now_ns() : 1;
    for (const auto& study : spec.studies) trials_ += study.runs();
  }

  ApartSession run() {
    if (!spec_.studies.empty()) run_process(RunOptions::kTrials);
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < spec_.cases.size(); ++i) {
      if (options_.shard.has(i)) own.push_back(i);
    }
    if (!ended_by_ && !options_.trials_only) run_cases(own);
    return {summary(), ended_by_};
  }

 private:
  void run_cases(const std::vector<std::size_t>& own) {
    std::map<std::size_t, HeldCase> held;
    const auto attempt = [&](HeldWork& work) {
      const std::size_t i = work.index;
      of_all_.interrupted |= interrupt_level() > 0;
      if (of_all_.interrupted) return Turn::stop;
      const Json report = run_process(static_cast<std::int64_t>(i));
      if (ended_by_) return Turn::stop;
      const auto text = [&](const char* name) { return text_at(report, {"held", name}); };
      if (!text("key")) return Turn::over;
      work.key = *text("key");
      work.patience = patience_of(options_, spec_.cases[i].stop.wall_seconds);
      held[i] = {text("id").value_or(""), work.key, text("holder").value_or("")};
      return Turn::held;
    };
    std::optional<ClaimFolder> claims;  // the first process makes the folder
    const auto await = [&](const std::vector<HeldWork>& all) {
      if (!claims) claims.emplace(folder_of(spec_, options_), spec_.hash);
      return await_claims(*claims, all, Rest::leave, interrupt_level);
    };
    for (const auto& one : take_turns(own, attempt, await)) of_all_.held.push_back(held[one.index]);
    of_all_.interrupted |= interrupt_level() > 0 && !of_all_.held.empty();
  }

  // The report of the process; `ended_by_` where no other may begin. `signal`: what has ended the
  // case, whose result only has to be written.
  Json run_process(std::int64_t which, int signal = 0) {
    std::vector<std::string> words = options_.words;
    words.push_back(fmt::format("--one-case={}", which));
    if (signal != 0) words.push_back(fmt::format("--ended-by={}", signal));
    words.push_back(fmt::format("--ran-cases={}", of_all_.run));
    words.push_back(fmt::format("--ran-seconds={}", seconds_since(start_)));
    words.push_back(fmt::format("--began-ns={}", options_.began_ns));
    CaseProcess process(words);
    const int status = process.wait();
    Json report = process.report();
    for (const auto& [key, count] : kCounts) {
      if ((which == RunOptions::kTrials) != std::string_view(key).starts_with("trials")) continue;
      of_all_.*count += static_cast<int>(integer_at(report, {key}).value_or(0));
    }
    const auto neighbour = text_at(report, {"neighbour"}).value_or("");
    if (!neighbour.empty()) of_all_.neighbour = neighbour;
    const int end = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - kBySignal;
    if (end == SIGINT || end == SIGTERM || end == SIGHUP) {
      of_all_.interrupted = true;
      ended_by_ = kBySignal + end;
    } else if (report.empty() && WIFSIGNALED(status)) {
      const bool again = which < 0 ? crashes_++ < trials_ : signal == 0;
      if (again && end != SIGKILL) return run_process(which, end);
      warn("{}: {}; its result has no end, and the same command runs it again",
           which < 0 ? "the trials" : fmt::format("case {} of {}", which + 1, spec_.cases.size()),
           how_ended(end));
      ++killed_;
      if (which < 0) ended_by_ = kBySignal + end;
    } else if (report.empty()) {  // it has said why
      ended_by_ = WEXITSTATUS(status);
    }
    return report;
  }

  // By the results that stand now.
  SessionSummary summary() const {
    RunOptions options = options_;
    options.rerun = options.retry = false;
    options.only = RunOptions::kNoCase;
    options.began = began_;
    SessionSummary found;
    if (!ended_by_ || *ended_by_ > kBySignal) {
      const auto quiet = make_progress(ProgressMode::quiet, stdout);
      found = run_session(spec_, options, *quiet);
    }
    for (const auto& [key, count] : kCounts) found.*count = of_all_.*count;
    found.held = of_all_.held;
    found.neighbour = of_all_.neighbour;
    found.failed += killed_;
    found.interrupted = of_all_.interrupted;
    return found;
  }

  const Spec& spec_;
  RunOptions options_;
  std::string began_ = utc_now();
  const Clock::time_point start_ = Clock::now();
  SessionSummary of_all_;  // counts only
  int killed_ = 0;
  std::int64_t trials_ = 0, crashes_ = 0;  // each trial ends a process once
  std::optional<int> ended_by_;
};

}  // namespace

ApartSession run_apart(const Spec& spec, const RunOptions& options) {
  return Apart(spec, options).run();
}

int end_one_case(const SessionSummary& summary, int signal) {
  Json report = {{"neighbour", summary.neighbour}};
  for (const auto& [key, count] : kCounts) report[key] = summary.*count;
  for (const auto& one : summary.held) {
    report["held"] = {{"id", one.id}, {"key", one.key}, {"holder", one.holder}};
  }
  const std::string text = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Where no process listens, the result is on file all the same.
  [[maybe_unused]] const auto written = ::write(kReportFile, text.data(), text.size());
  return summary.interrupted ? kBySignal + signal : 0;
}

}  // namespace mf
