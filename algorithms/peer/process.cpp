#include "algorithms/peer/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.hpp"

namespace mf::peer {
namespace {

constexpr int kChannel = 3;

// The C interface, closed at the end.
class SpawnPlan {
 public:
  SpawnPlan(const Command& command, int channel) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    const char* log = command.log.empty() ? "/dev/null" : command.log.c_str();
    // The channel first: its number may be one of those that follow.
    check(posix_spawn_file_actions_adddup2(&actions_, channel, kChannel));
    check(posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0));
    check(posix_spawn_file_actions_addopen(&actions_, 1, log, O_WRONLY | O_APPEND | O_CREAT, 0644));
    check(posix_spawn_file_actions_adddup2(&actions_, 1, 2));
    check(posix_spawn_file_actions_addclosefrom_np(&actions_, kChannel + 1));
    check(posix_spawn_file_actions_addchdir_np(&actions_, command.folder.c_str()));
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    check(posix_spawnattr_setsigmask(&attributes_, &none));
    check(posix_spawnattr_setsigdefault(&attributes_, &all));
    check(posix_spawnattr_setpgroup(&attributes_, 0));
    check(posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  pid_t start(const Command& command) {
    auto arguments = pointers(command.arguments), environment = pointers(command.environment);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, arguments[0], &actions_, &attributes_, arguments.data(),
                                  environment.data());
    if (error != 0) {
      fail(ErrorKind::io, "{}: cannot be started: {}", command.arguments[0], cause_of(error));
    }
    return pid;
  }

 private:
  static void check(int error) {
    if (error != 0) fail(ErrorKind::io, "no process can be started: {}", cause_of(error));
  }
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Of /proc/PID/stat, counted from 1 as proc(5) does; empty where there is no such process.
std::vector<std::string> stat_fields(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t name_end = text.rfind(')');  // names may have blanks and brackets
  if (name_end == std::string::npos) return {};
  std::vector<std::string> fields = {"", std::to_string(pid), "name"};
  std::istringstream rest(text.substr(name_end + 1));
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields.size() > 24 ? fields : std::vector<std::string>{};
}

double ticks_s(const std::string& field) {
  return std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

constexpr std::size_t kParent = 4, kUser = 14, kWaitedSystem = 17, kStarted = 22, kResident = 24;

// Those of every thread: a child belongs to the thread that made it.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> all;
  std::error_code gone;
  const std::string threads = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator at(threads, gone), end; !gone && at != end;
       at.increment(gone)) {
    std::ifstream in(at->path() / "children");
    for (pid_t child = 0; in >> child;) all.push_back(child);
  }
  return all;
}

void add_use(pid_t pid, TreeUse& use) {
  const auto fields = stat_fields(pid);
  if (fields.empty()) return;
  for (std::size_t i = kUser; i <= kWaitedSystem; ++i) use.cpu_s += ticks_s(fields[i]);
  use.resident_bytes +=
      std::strtoll(fields[kResident].c_str(), nullptr, 10) * sysconf(_SC_PAGESIZE);
  for (const pid_t child : children_of(pid)) add_use(child, use);
}

// The most that the process held at once since it began its program; 0 where it has ended.
std::int64_t most_resident(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  for (std::string word; in >> word;) {
    std::int64_t kib = 0;
    if (word == "VmHWM:" && in >> kib) return kib * 1024;
  }
  return 0;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::string Ending::text() const {
  if (signal != 0) return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("ended with code {}", code);
}

Process::Process(const Command& command, const FileHandle& channel) : log_(command.log) {
  // Descendants whose parent has ended become children of this process, which finds them so.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  pid_ = SpawnPlan(command, channel.fd()).start(command);
  inherited_bytes_ = most_resident(getpid());
  const auto fields = stat_fields(pid_);
  if (!fields.empty()) began_s_ = ticks_s(fields[kStarted]);
}

Process::~Process() { kill(); }

void Process::reap(int options) {
  if (ending_) return;
  int status = 0;
  rusage used{};
  pid_t found = 0;
  do {
    found = wait4(pid_, &status, options, &used);
  } while (found < 0 && errno == EINTR);
  if (found != pid_) return;
  ending_.emplace();
  if (WIFSIGNALED(status)) ending_->signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending_->code = WEXITSTATUS(status);
  ended_cpu_s_ = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  const std::int64_t most = std::int64_t{used.ru_maxrss} * 1024;
  if (most > inherited_bytes_) peak_bytes_ = std::max(peak_bytes_, most);
}

std::optional<Ending> Process::ended() {
  reap(WNOHANG);
  return ending_;
}

std::optional<Ending> Process::wait(double seconds) {
  const auto start = Clock::now();
  while (!ended() && seconds_since(start) < seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ending_;
}

void Process::kill() {
  if (killed_) return;
  killed_ = true;
  use();                   // the last look at its memory
  ::kill(-pid_, SIGKILL);  // the number stays the group's as long as one of it is there
  reap(0);
  kill_strays();
}

// What has left the group and lost its parent: a child of ours that began after the peer did.
void Process::kill_strays() const {
  for (int round = 0; round < 100; ++round) {
    bool found = false;
    for (const pid_t child : children_of(getpid())) {
      const auto fields = stat_fields(child);
      if (fields.empty() || fields[kParent] != std::to_string(getpid())) continue;
      if (child == pid_ || began_s_ == 0 || ticks_s(fields[kStarted]) < began_s_) continue;
      ::kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      found = true;
    }
    if (!found) return;
  }
}

TreeUse Process::use() const {
  // Of descendants that nobody waited for, only a look while they ran tells.
  if (ending_) return {std::max(ended_cpu_s_, seen_cpu_s_), 0};
  TreeUse use;
  add_use(pid_, use);
  seen_cpu_s_ = std::max(seen_cpu_s_, use.cpu_s);
  peak_bytes_ = std::max({peak_bytes_, use.resident_bytes, most_resident(pid_)});
  return use;
}

std::int64_t Process::log_bytes() const {
  struct stat info {};
  return !log_.empty() && stat(log_.c_str(), &info) == 0 ? info.st_size : 0;
}

}  // namespace mf::peer
