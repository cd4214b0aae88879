// The libraries that mfbench races against, each as the peer.json in its folder says, and where
// their adapters, environments and programs are. The meaning of a parameter to the library, and to
// its adapter: docs/peers.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/foreign.hpp"

namespace mf {

struct PeerAlgorithm {
  std::string name;           // "als"
  AlgorithmInfo info;         // as mfbench has it: "peer:implicit:als"
  bool changes_rate = false;  // between epochs, as a schedule may ask
  // A limit of its address space refuses nothing but memory: it does not reserve far more than it
  // uses, as CUDA and Java do.
  bool limits_addresses = false;
};

struct PeerLibrary {
  std::string name;         // "implicit": its folder's
  std::string folder;       // has adapter.py
  std::string environment;  // whose Python runs the adapter: ./dev peers NAME
  // A program of one's own, which the parameter `program` names, instead of a Python package.
  bool is_program = false;
  std::vector<PeerAlgorithm> algorithms;
};

inline bool on_device(const Params& params) {
  return params.has("device") && params.text("device") == "cuda";
}

// Those of MFBENCH_PEER_SCRIPTS, or else of `peers` beside this program, and of the folders in
// MFBENCH_PEERS_PATH, in the order of their names. Read once; throws Error(usage) that names the
// file and the place in it.
const std::vector<PeerLibrary>& peer_libraries();

// One of them, by its peer.json. Throws an Error that names the file and the place in it.
PeerLibrary read_peer_library(const std::string& folder);

namespace peer {

std::string supervisor_script();

// The folder of the environments that `./dev peers` makes: MFBENCH_PEERS, or build/peers beside
// `peers`. Empty if there is neither.
std::string environments_folder();

// The environment of libraries of one's own that `./dev peers` has nothing to do with: the Python
// that PYTHON names, or else python3.
inline constexpr const char* kCallersPython = "python";

// The Python of an environment; empty if it is not installed.
std::string python_of(const std::string& environment);

// "NAME==VERSION" of what its environment was made from, as ./dev peers noted; empty: not known.
std::vector<std::string> installed_packages(const std::string& environment);

// Why the adapter of a library cannot run here, and what to do about it; or nothing.
std::optional<std::string> why_no_adapter(const PeerLibrary& library);

// The program that a spec names: a path in one of the folders of MFBENCH_PROGRAMS (separated by
// colons), absolute or from one of them, after all links. A spec by itself starts none: empty.
std::string find_program(const std::string& named);

}  // namespace peer
}  // namespace mf
