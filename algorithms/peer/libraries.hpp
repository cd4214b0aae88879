// The libraries that mfbench races against, and what each of their algorithms takes: data alone.
// What a parameter means to the library, and what its adapter makes of it: docs/peers.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"

namespace mf {

// What an algorithm of a library can and cannot do.
struct PeerTraits {
  // The library trains epoch by epoch; else it is run from the start for each point that is
  // evaluated.
  bool each_epoch = false;
  bool uses_learning_rate = false;
  bool changes_rate = false;   // between epochs, as a schedule may ask
  bool takes_test = false;     // as AlgorithmInfo::takes_test
  bool deterministic = false;  // with one thread it always is
};

struct PeerAlgorithm : PeerTraits {
  std::string name;  // "als"
  std::string summary;
  std::string paper;
  Method method = Method::sgd;
  std::vector<ParamSpec> params;
  std::function<ImplicitLoss(const Params&)> implicit;  // as AlgorithmInfo::implicit
};

struct PeerLibrary {
  std::string name;  // "implicit": that of its adapter peers/implicit.py
  std::string summary;
  std::vector<PeerAlgorithm> algorithms;
  // A program of one's own, which the parameter `program` names, instead of a Python package.
  bool is_program = false;

  // Whose Python runs the adapter: ./dev peers NAME.
  std::string environment() const { return is_program ? "programs" : name; }
};

// In the order of their names.
const std::vector<PeerLibrary>& peer_libraries();

// "peer:implicit:als"
std::string peer_name(const PeerLibrary& library, const PeerAlgorithm& algorithm);

}  // namespace mf
