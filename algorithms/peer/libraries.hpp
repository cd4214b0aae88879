// The libraries that mfbench races against, each as the peer.json in its folder says. What a
// parameter means to the library, and what its adapter makes of it: docs/peers.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/foreign.hpp"

namespace mf {

// Bytes at the peak of its process, as measured.
struct PeerMemory {
  double base = 0;             // the interpreter and what it loads
  double of_rating = 0;        // the library's format, its copies, and the 12 that are handed over
  double of_number = 0;        // of each of (users + items) x factors
  double of_row = 0;           // of each user and item, beside that
  double of_row_square = 0;    // of each of (users + items) x factors x factors
  double of_item_pair = 0;     // of each of items x items
  double of_batch_number = 0;  // of each of the ratings of a batch x factors
  double kept_of_rating = 0;   // after each training call but the last
  double kept_of_number = 0;
  // A limit of its address space refuses nothing but memory: it does not reserve far more than it
  // uses, as CUDA and Java do.
  bool limits_addresses = false;
  std::string not_counted;  // what is not in these numbers
};

struct PeerAlgorithm {
  std::string name;    // "als"
  AlgorithmInfo info;  // as mfbench has it: "peer:implicit:als"
  ForeignInfo foreign;
  bool changes_rate = false;                        // between epochs, as a schedule may ask
  std::optional<PeerMemory> memory = std::nullopt;  // nothing: it is unknown

  // Else the library is run from the start for each point that is evaluated.
  bool each_epoch() const { return !foreign.repeats_epochs; }
};

struct PeerLibrary {
  std::string name;                   // "implicit": that of its folder
  std::string folder;                 // has adapter.py
  std::string environment;            // whose Python runs the adapter: ./dev peers NAME
  std::vector<std::string> packages;  // that the environment must have
  // A program of one's own, which the parameter `program` names, instead of a Python package.
  bool is_program = false;
  std::vector<PeerAlgorithm> algorithms;
};

// For all folders of peers (places.hpp), in the order of their names. Read once; throws
// Error(usage) that names the file and the place in it.
const std::vector<PeerLibrary>& peer_libraries();

// One of them, by its peer.json. Throws an Error that names the file and the place in it.
PeerLibrary read_peer_library(const std::string& folder);

// Why a library cannot run here, and what to do about it; or nothing.
std::optional<std::string> why_not_installed(const PeerLibrary& library);

}  // namespace mf
