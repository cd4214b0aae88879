// Where the adapters, the environments of the libraries and the folders of running peers are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/files.hpp"

namespace mf::peer {

// The folder `peers`: MFBENCH_PEER_SCRIPTS, or that in the nearest folder above the program that
// has peers/common/supervisor.py. Nothing without one.
std::optional<std::string> peers_folder();

// It, then those that MFBENCH_PEERS_PATH names: each folder in them that has a peer.json is a
// library.
std::vector<std::string> peers_folders();

std::string supervisor_script();

// The folder of the environments that `./dev peers` makes: MFBENCH_PEERS, or build/peers beside
// `peers`. Empty where there is neither.
std::string environments_folder();

// The environment of libraries of one's own that `./dev peers` has nothing to do with: the Python
// that PYTHON names, or else python3.
inline constexpr const char* kCallersPython = "python";

// The Python of an environment; empty where it is not installed.
std::string python_of(const std::string& environment);

// "NAME==VERSION" of what its environment was made from, as ./dev peers noted; empty: not known.
std::vector<std::string> installed_packages(const std::string& environment);

// Why the adapter in `folder` cannot run here, and what to do about it; or nothing.
std::optional<std::string> why_no_adapter(const std::string& folder,
                                          const std::string& environment);

// What a peer says, for a result file: the variables in place of this machine's folders of the
// environments and of the adapters.
std::string without_places(std::string text);

// The program that a spec names: a path in one of the folders of MFBENCH_PROGRAMS (separated by
// colons), absolute or from one of them, after all links. A spec by itself starts none. Throws
// Error(unsupported), which says what to do.
std::string find_program(const std::string& named);

// Removes the folders that programs which were killed have left.
void remove_left_over_folders();

// A folder in memory (/dev/shm) where `bytes` fit there, or below TMPDIR. It is removed at the end;
// those of programs that were killed are removed by the next run.
class Scratch {
 public:
  explicit Scratch(double bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }
  bool in_memory() const { return in_memory_; }

 private:
  std::string path_;
  bool in_memory_ = false;
  FileHandle lock_;
};

}  // namespace mf::peer
