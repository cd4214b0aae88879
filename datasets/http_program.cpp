// HTTP through the program curl, for builds without libcurl.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "datasets/http_get.hpp"

extern char** environ;

namespace mf {
namespace {

namespace fs = std::filesystem;

// A pipe whose ends close with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      fail(ErrorKind::io, "a pipe cannot be made: {}", std::strerror(errno));
    }
  }
  ~Pipe() {
    close_writer();
    ::close(ends[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  std::string read_all() const {
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
};

struct Ended {
  int status = -1;  // exit status, -1 where it did not start or was killed
  std::string out;
  std::string error;
};

// No shell in between: arguments are passed as they are. Output is a line or two, far less than
// what a pipe holds.
Ended run_program(std::vector<std::string> arguments, const std::function<void()>& while_running) {
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe out;
  Pipe error;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, error.ends[1], 2);
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {-1, "", std::strerror(failed)};
  out.close_writer();
  error.close_writer();
  int status = 0;
  for (;;) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR) return {-1, "", std::strerror(errno)};
    while_running();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.read_all(), error.read_all()};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Exit codes as the manual page curl(1) lists them.
GetResult judge(const Ended& ended, long http_status, std::int64_t offset) {
  switch (ended.status) {
    case 0:
      // 200 to a request for a part: the whole file, and curl only lets that pass if it is empty.
      if (offset > 0 && http_status == 200) {
        return {GetResult::Outcome::no_range, "the server does not serve ranges"};
      }
      return {GetResult::Outcome::done, ""};
    case 22:
      return judge_status(http_status);
    case 33:
      return {GetResult::Outcome::no_range, "the server does not serve ranges"};
    case 5:
    case 6:
    case 7:
    case 16:
    case 18:
    case 28:
    case 35:
    case 52:
    case 55:
    case 56:
    case 92:
      return {GetResult::Outcome::transient, first_line(ended.error)};
    default:
      return {GetResult::Outcome::permanent,
              fmt::format("curl ended with status {}: {}", ended.status, first_line(ended.error))};
  }
}

}  // namespace

bool have_curl_program() {
  const char* path = std::getenv("PATH");
  std::string text = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    const fs::path candidate = fs::path(text.substr(at, colon - at)) / "curl";
    if (::access(candidate.c_str(), X_OK) == 0) return true;
    at = colon + 1;
  }
  return false;
}

GetResult get_with_program(const std::string& url, const std::string& path, std::int64_t offset,
                           double stall_s, const ProgressCall& progress) {
  std::vector<std::string> arguments = {"curl",
                                        "--silent",
                                        "--show-error",
                                        "--location",
                                        "--max-redirs",
                                        "10",
                                        "--fail",
                                        "--proto",
                                        "=http,https",
                                        "--user-agent",
                                        "mfbench",
                                        "--connect-timeout",
                                        "30",
                                        "--speed-limit",
                                        "1",
                                        "--speed-time",
                                        std::to_string(std::max(1L, static_cast<long>(stall_s))),
                                        "--write-out",
                                        "%{http_code}",
                                        "--output",
                                        path};
  if (offset > 0) arguments.insert(arguments.end(), {"--continue-at", std::to_string(offset)});
  arguments.insert(arguments.end(), {"--", url});
  const Ended ended = run_program(arguments, [&] {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (!error && progress) progress(static_cast<std::int64_t>(bytes), 0);
  });
  return judge(ended, std::strtol(ended.out.c_str(), nullptr, 10), offset);
}

}  // namespace mf
