// Where the adapters, the environments of the libraries and the folders of running peers are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace mf::peer {

// The folder of the adapters: MFBENCH_PEER_SCRIPTS, or `peers` in the nearest folder above the
// program that has peers/launch.py. Nothing where there is none.
std::optional<std::string> scripts_folder();

// The folder of the environments that `./dev peers` makes: MFBENCH_PEERS, or build/peers beside
// `peers`. Empty where there is neither.
std::string environments_folder();

// The Python of a library's environment; empty where it is not installed.
std::string python_of(const std::string& library);

// "NAME==VERSION" of what its environment was made from, as ./dev peers noted; empty: not known.
std::vector<std::string> installed_packages(const std::string& library);

// Why a library cannot run here, and what to do about it; or nothing.
std::optional<std::string> why_not_installed(const std::string& library);

// A folder in memory (/dev/shm) where `bytes` fit there, or below TMPDIR. It is removed at the end;
// those of programs that were killed are removed by the next one.
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
