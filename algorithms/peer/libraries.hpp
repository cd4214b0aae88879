// The libraries that mfbench races against, each as the peer.json in its folder says. The meaning
// of a parameter to the library, and to its adapter: docs/peers.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "algorithms/core/foreign.hpp"

namespace mf {

struct PeerAlgorithm {
  std::string name;    // "als"
  AlgorithmInfo info;  // as mfbench has it: "peer:implicit:als"
  ForeignInfo foreign;
  bool changes_rate = false;  // between epochs, as a schedule may ask
  // Bytes at the peak of its process, as measured, by the keys of docs/peers.md; empty: unknown.
  std::map<std::string, double> memory;
  std::string not_counted;  // what is not in these numbers
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

// For all folders of peers (places.hpp), in the order of their names. Read once; throws
// Error(usage) that names the file and the place in it.
const std::vector<PeerLibrary>& peer_libraries();

// One of them, by its peer.json. Throws an Error that names the file and the place in it.
PeerLibrary read_peer_library(const std::string& folder);

}  // namespace mf
