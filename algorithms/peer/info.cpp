// Every algorithm of every library as one of mfbench's: peer:LIBRARY:ALGORITHM.
#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/places.hpp"
#include "algorithms/peer/process_need.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

// A model to read and one to keep; the process has the rest.
MemoryNeed memory(const Params& params, const ProblemShape& shape) {
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  const auto width = static_cast<double>(params.integer("factors") + 1);
  MemoryNeed need;
  need.host_bytes = 2 * rows * width * sizeof(float);
  return need;
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
  info.params = algorithm.params;
  info.implicit = algorithm.implicit;
  info.memory = memory;
  ForeignInfo foreign;
  foreign.repeats_epochs = !algorithm.each_epoch;
  foreign.takes_test = algorithm.takes_test;
  foreign.process = [&](const Params& params, const ProblemShape& shape) {
    return peer::process_need(library, algorithm, params, shape);
  };
  info.foreign = std::make_shared<const ForeignInfo>(std::move(foreign));
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
