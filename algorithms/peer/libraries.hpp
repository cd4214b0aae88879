// The libraries that mfbench races against, and the places of their adapters, environments and
// programs. The peer.json in its folder describes a library. docs/peers.md says what a parameter
// means to the library and to its adapter.
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
  std::string hardware = "cpu";  // or "cuda", "cpu or cuda"
  std::vector<PeerAlgorithm> algorithms;
};

inline bool on_device(const Params& params) {
  return params.has("device") && params.text("device") == "cuda";
}

// All libraries in the order of their names: from MFBENCH_PEER_SCRIPTS, or else from `peers` beside
// this program, and from the folders in MFBENCH_PEERS_PATH. They are read once. Throws Error(usage)
// that names the file and the place in it.
const std::vector<PeerLibrary>& peer_libraries();

// One of them, by its peer.json. Throws an Error that names the file and the place in it.
PeerLibrary read_peer_library(const std::string& folder);

namespace peer {

std::string supervisor_script();

// The folder of the environments that `./dev peers` makes: MFBENCH_PEERS, or build/peers beside
// `peers`. Empty if there is neither.
std::string environments_folder();

// The environment of users' own libraries, which `./dev peers` does not make. It is the Python that
// PYTHON names, or else python3.
inline constexpr const char* kCallersPython = "python";

// The Python of an environment; empty if it is not installed.
std::string python_of(const std::string& environment);

// "NAME==VERSION" of each package in the environment, as ./dev peers noted; empty if not known.
std::vector<std::string> installed_packages(const std::string& environment);

// Says why the adapter of a library cannot run here, and what to do; nothing if it can.
std::optional<std::string> why_no_adapter(const PeerLibrary& library);

// The program that a spec names, with all links followed. Its path lies in a folder of
// MFBENCH_PROGRAMS (separated by colons); it is absolute, or relative to such a folder. Empty if
// MFBENCH_PROGRAMS does not allow it: a spec cannot start a program by itself.
std::string find_program(const std::string& named);

}  // namespace peer
}  // namespace mf
