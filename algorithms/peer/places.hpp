// Where the adapters, the environments of the libraries and the programs of one's own are.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mf::peer {

// MFBENCH_PEER_SCRIPTS, or `peers` in the nearest folder above the program that has
// peers/common/supervisor.py. Nothing without one.
std::optional<std::string> peers_folder();

// It, then those that MFBENCH_PEERS_PATH names: each folder in them that has a peer.json is a
// library.
std::vector<std::string> peers_folders();

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

// Why the adapter in `folder` cannot run here, and what to do about it; or nothing.
std::optional<std::string> why_no_adapter(const std::string& folder,
                                          const std::string& environment);

// The program that a spec names: a path in one of the folders of MFBENCH_PROGRAMS (separated by
// colons), absolute or from one of them, after all links. A spec by itself starts none. Throws
// Error(unsupported), which says what to do.
std::string find_program(const std::string& named);

}  // namespace mf::peer
