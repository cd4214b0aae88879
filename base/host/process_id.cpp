#include "base/host/process_id.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/host/system_files.hpp"

namespace mf {
namespace {

std::string own_space() {
  std::array<char, 64> name{};
  const auto length = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return length < 0 ? "" : std::string(name.data(), static_cast<std::size_t>(length));
}

struct Standing {
  char state = '?';   // Z, X: it has ended, and its parent has not asked for it yet
  std::string begin;  // empty: the line cannot be read
};

// Fields 3 and 22 of the line of a process. Its second, a name, may have blanks.
Standing standing_of(std::int64_t pid) {
  std::string line = system_text(fmt::format("/proc/{}/stat", pid));
  line.erase(0, line.rfind(')') + 1);
  Standing found;
  if (line.size() < 2) return found;
  found.state = line[1];
  std::size_t at = 0;  // of the blank before the field
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at != std::string::npos) found.begin = line.substr(at + 1, line.find(' ', at + 1) - at - 1);
  return found;
}

}  // namespace

bool ProcessId::on_same_host(const ProcessId& other) const {
  return !boot.empty() && boot == other.boot && host == other.host;
}

std::string ProcessId::to_text() const {
  return pid == 0 ? "a process that has not said its name"
                  : fmt::format("process {} on {}", pid, host);
}

std::string boot_id() {
  static const std::string id = [] {
    const std::string text = system_text("/proc/sys/kernel/random/boot_id");
    return text.substr(0, text.find('\n'));
  }();
  return id;
}

ProcessId own_process() {
  utsname system{};
  ::uname(&system);
  const std::int64_t pid = ::getpid();
  return {system.nodename, boot_id(), own_space(), pid, standing_of(pid).begin};
}

std::optional<bool> is_running(const ProcessId& process) {
  const ProcessId own = own_process();
  const bool visible =
      process.on_same_host(own) && !own.space.empty() && process.space == own.space;
  if (!visible || process.pid <= 0) return std::nullopt;
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return false;
  const Standing now = standing_of(process.pid);
  // A system may hide the processes of other users (hidepid).
  if (now.begin.empty()) return std::nullopt;
  return now.begin == process.begin && now.state != 'Z' && now.state != 'X';
}

std::string how_ended(int status) {
  if (!WIFSIGNALED(status))
    return fmt::format("its process ended with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("its process was ended by signal {} ({}){}", signal, strsignal(signal),
                     signal == SIGKILL   ? "; the system does so when memory runs out"
                     : signal == SIGALRM ? "; its time was over"
                                         : "");
}

}  // namespace mf
