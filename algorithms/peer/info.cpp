// Every algorithm of every library as one of mfbench's: peer:LIBRARY:ALGORITHM.
#include "algorithms/core/registry.hpp"
#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

// What is handed over, once, and a model to read and one to keep. What the library takes beyond
// that nobody knows before: `memory_gb` bounds it.
MemoryNeed memory(const Params& params, const ProblemShape& shape) {
  const double ratings =
      12.0 * static_cast<double>(shape.nnz) + 8.0 * static_cast<double>(shape.n_users + 1);
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  const auto width = static_cast<double>(params.integer("factors") + 1);
  return {ratings + 3 * rows * width * sizeof(float), {}};
}

std::optional<std::string> why_unsupported(const PeerLibrary& library, const Params& params) {
  if (const auto why = peer::why_not_installed(library.name, library.environment())) return why;
  if (!library.is_program) return std::nullopt;
  try {
    peer::find_program(params.text("program"));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

AlgorithmInfo info_of(const PeerLibrary& library, const PeerAlgorithm& algorithm) {
  AlgorithmInfo info;
  info.name = peer_name(library, algorithm);
  info.family = "peer";
  info.summary = library.name + ": " + algorithm.summary;
  info.paper = algorithm.paper;
  info.method = algorithm.method;
  info.deterministic = algorithm.deterministic;
  info.uses_learning_rate = algorithm.uses_learning_rate;
  info.repeats_epochs = !algorithm.each_epoch;
  info.params = algorithm.params;
  info.implicit = algorithm.implicit;
  info.memory = memory;
  info.takes_test = algorithm.takes_test;
  info.supports = [&library](const Params& params, const ProblemShape&) {
    return why_unsupported(library, params);
  };
  if (algorithm.method == Method::als) {
    info.updates_per_epoch = [](const ProblemShape& shape) {
      return 2 * static_cast<double>(shape.nnz);
    };
  }
  return info;
}

struct RegisterPeers {
  RegisterPeers() {
    for (const auto& library : peer_libraries()) {
      for (const auto& algorithm : library.algorithms) register_info(info_of(library, algorithm));
    }
  }
};
const RegisterPeers registered;

}  // namespace
}  // namespace mf
