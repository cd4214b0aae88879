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
#include "base/files/shared_folder.hpp"

namespace mf {
namespace {

constexpr int kNotStarted = 127;  // as a shell has it
constexpr std::array<const char*, 2> kPackages = {"matplotlib", "pandas"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void exec(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
}

// Its exit code; what it prints goes to `out`, a file of this process.
int run(const std::vector<std::string>& words, int out, int err) {
  const pid_t child = ::fork();
  if (child < 0) fail(ErrorKind::io, "{}: cannot be started: {}", words.front(), last_cause());
  if (child == 0) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    exec(words);
    ::_exit(kNotStarted);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Looks where they are: to import them takes seconds.
int look_for_packages(const std::string& python) {
  std::vector<std::string> words = {
      python, "-c",
      "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"};
  words.insert(words.end(), kPackages.begin(), kPackages.end());
  const FileHandle nothing(::open("/dev/null", O_RDWR));
  return run(words, nothing.fd(), nothing.fd());
}

// The first that has the packages; where none has, the first that there is, which then says so.
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

// The command, after it is in the environment where its modules are, and this program, which tells
// it what results mean.
std::vector<std::string> command_of(const char* module, const std::vector<std::string>& words) {
  const auto found = beside_program("plots/mfplots/__main__.py");
  if (!found) {
    fail(ErrorKind::unsupported,
         "plots/mfplots of the source is not beside this program; install mfbench, or run the "
         "program of a build folder");
  }
  namespace fs = std::filesystem;
  const std::string more = variable("PYTHONPATH");
  const std::string folder = fs::path(*found).parent_path().parent_path().string();
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
  exec(command);
  fail(ErrorKind::unsupported, "{}: cannot be started: {}", command.front(), last_cause());
}

void open_file(const std::string& file) {
  const FileHandle nothing(::open("/dev/null", O_RDWR));
  run({"xdg-open", file}, nothing.fd(), nothing.fd());
}

Drawn run_plots(const char* module, const std::vector<std::string>& words) {
  std::fflush(stdout);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> said(std::tmpfile(), std::fclose);
  if (!said) fail(ErrorKind::io, "no temporary file can be made: {}", last_cause());
  Drawn drawn;
  drawn.code = run(command_of(module, words), ::fileno(said.get()), STDERR_FILENO);
  std::rewind(said.get());
  std::string text;
  std::array<char, 4096> bytes{};
  while (const auto count = std::fread(bytes.data(), 1, bytes.size(), said.get())) {
    text.append(bytes.data(), count);
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) drawn.lines.push_back(line);
  return drawn;
}

}  // namespace mf
