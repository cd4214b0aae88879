// A process that mfbench does not trust, by way of peers/common/supervisor.py, which starts it,
// looks at what it takes and ends it with all that descends from it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/peer/log_file.hpp"
#include "base/files/files.hpp"
#include "base/json/json_fwd.hpp"

namespace mf::peer {

struct Order {
  std::string python;                               // that runs both
  std::string adapter;                              // a file
  std::string folder;                               // where it runs; its argument
  std::vector<std::string> variables;               // beside HOME, TMPDIR and LC_ALL: "NAME=value"
  std::string log;                                  // what it prints (LogFile); empty: dropped
  int answers = 0;                                  // that it gives before the first question
  double timeout_s = 0;                             // for each
  std::int64_t memory_bytes = 0;                    // of all its processes; 0: any
  std::int64_t address_bytes = 0;                   // of the address space of each; 0: any
  std::optional<double> scratch_gb = std::nullopt;  // in its folder; 0: nine tenths of what is free
  bool keeps_network = false;
  std::vector<std::string> confined;  // of confinements()
};

// Why there is no answer.
struct Over {
  enum class Why { stop, timeout, memory, broken, ended };
  Why why = Why::ended;
  std::string text;  // "took 3 MiB of memory, ...": of the peer
};

class Supervised {
 public:
  // Throws Error(io) where no process can be started.
  explicit Supervised(const Order& order);
  ~Supervised() { end(); }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  void ask(const Json& message);
  // The next line that it says; nothing where it is over, or where `stop`, which is asked ten times
  // a second, says so.
  std::optional<std::string> answer(const std::function<bool()>& stop = nullptr);
  const std::optional<Over>& over() const { return over_; }
  void end();  // nothing of it is left after that

  const LogFile& log() const { return log_; }
  // For all that it has started, as of its last message.
  double cpu_s() const { return cpu_s_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }
  const std::string& network() const { return network_; }  // "none", "host"; "": not known
  const std::string& network_why() const { return network_why_; }

 private:
  bool read_more();
  std::optional<std::string> take_line();
  std::optional<std::string> take(const Json& message);

  double timeout_s_;
  LogFile log_;
  pid_t pid_ = -1;
  FileHandle channel_;
  std::string pending_;
  std::optional<Over> over_;
  double cpu_s_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::string network_, network_why_;
};

}  // namespace mf::peer
