#include "harness/race/plots.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "datasets/fetch/fetch.hpp"

namespace mf {
namespace {

constexpr int kNotStarted = 127;  // as in a shell
constexpr std::array<const char*, 2> kPackages = {"matplotlib", "pandas"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Its exit code; its output goes to `out` and `err`, files of this process.
int run(const std::vector<std::string>& words, int out, int err) {
  const pid_t child = ::fork();
  if (child < 0) fail(ErrorKind::io, "{}: cannot be started: {}", words.front(), last_cause());
  if (child == 0) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    become(words);
    ::_exit(kNotStarted);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Only locates them: importing takes seconds.
int look_for_packages(const std::string& python) {
  std::vector<std::string> words = {
      python, "-c",
      "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"};
  words.insert(words.end(), kPackages.begin(), kPackages.end());
  const FileHandle nothing(::open("/dev/null", O_RDWR));
  return run(words, nothing.fd(), nothing.fd());
}

class TemporaryFile {
 public:
  TemporaryFile() : file_(std::tmpfile(), std::fclose) {
    if (!file_) fail(ErrorKind::io, "no temporary file can be made: {}", last_cause());
  }
  int fd() const { return ::fileno(file_.get()); }
  std::string text() const {
    std::rewind(file_.get());
    std::string text;
    std::array<char, 4096> bytes{};
    while (const auto count = std::fread(bytes.data(), 1, bytes.size(), file_.get())) {
      text.append(bytes.data(), count);
    }
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// The first that has the packages; else the first that starts, which then names the missing ones.
std::string find_python() {
  std::string some;
  for (const std::string& python :
       {variable("PYTHON"), std::string("python3"), std::string("/usr/bin/python3")}) {
    if (python.empty()) continue;
    const int code = look_for_packages(python);
    if (code == 0) return python;
    if (code != kNotStarted && some.empty()) some = python;
  }
  if (some.empty()) {
    fail(ErrorKind::unsupported,
         "figures need Python 3.11 or newer with matplotlib and pandas, and found no python3: sudo "
         "apt-get install python3-matplotlib python3-pandas, or name one in PYTHON");
  }
  return some;
}

// Also puts into the environment the path of its modules, and of this program, which explains
// results to it.
std::vector<std::string> command_of(const char* module, const std::vector<std::string>& words) {
  const std::string found = source_file("plots/mfplots/__main__.py");
  namespace fs = std::filesystem;
  const std::string more = variable("PYTHONPATH");
  const std::string folder = fs::path(found).parent_path().parent_path().string();
  ::setenv("PYTHONPATH", (folder + (more.empty() ? "" : ":" + more)).c_str(), 1);
  ::setenv("MFBENCH", fs::read_symlink("/proc/self/exe").c_str(), 1);
  std::vector<std::string> command = {find_python(), "-m", module};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

}  // namespace

void become_plots(const char* module, const std::vector<std::string>& words) {
  const auto command = command_of(module, words);
  std::cout.flush();
  std::fflush(stdout);
  become(command);
  fail(ErrorKind::unsupported, "{}: cannot be started: {}", command.front(), last_cause());
}

Drawn run_plots(const char* module, const std::vector<std::string>& words) {
  Drawn drawn;
  try {
    const TemporaryFile out, err;
    drawn.done = run(command_of(module, words), out.fd(), err.fd()) == 0;
    std::istringstream lines(out.text());
    for (std::string line; std::getline(lines, line);) drawn.lines.push_back(line);
    drawn.said = err.text();
  } catch (const Error& error) {
    drawn.said = error.what();
  }
  return drawn;
}

}  // namespace mf
