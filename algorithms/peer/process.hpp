// A process that mfbench does not trust: a group of its own, which ends with mfbench, watched for
// memory and for what it prints.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace mf::peer {

struct Command {
  std::vector<std::string> arguments;    // [0] is the path of the program
  std::vector<std::string> environment;  // all of it: "NAME=value"
  std::string folder;                    // where it runs
  std::string log;                       // what it prints is appended here; empty: dropped
};

// How a process ended.
struct Ending {
  int code = 0;              // of exit()
  int signal = 0;            // that killed it, or 0
  std::string text() const;  // "ended with code 1", "was killed by signal 9 (Killed)"
};

// CPU seconds and resident bytes of the process and of all that descend from it, those that it has
// waited for included in the CPU seconds.
struct TreeUse {
  double cpu_s = 0;
  std::int64_t resident_bytes = 0;
};

class Process {
 public:
  // `channel` becomes descriptor 3 of the child; its standard input is empty. Throws Error(io).
  Process(const Command& command, const FileHandle& channel);
  // Kills all that is left of it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing while it runs.
  std::optional<Ending> ended();
  std::optional<Ending> wait(double seconds);
  void kill();  // the group and what has left it

  TreeUse use() const;
  // The most of: the sum over the tree at any use(), the process's own most until then, and the
  // largest of the tree by wait4. wait4 counts what this process held when it started the other, so
  // it tells nothing that is not above that.
  std::int64_t peak_bytes() const { return peak_bytes_; }
  std::int64_t log_bytes() const;

 private:
  void reap(int options);
  void kill_strays() const;

  pid_t pid_ = -1;
  std::string log_;
  std::int64_t inherited_bytes_ = 0;
  double began_s_ = 0;  // by /proc, since the machine's start
  std::optional<Ending> ending_;
  double ended_cpu_s_ = 0;
  bool killed_ = false;
  mutable double seen_cpu_s_ = 0;
  mutable std::int64_t peak_bytes_ = 0;
};

}  // namespace mf::peer
