// Every algorithm of every library as one of mfbench's: peer:LIBRARY:ALGORITHM.
#include <algorithm>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/places.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

bool uses_device(const Params& params) {
  return params.has("device") && params.text("device") == "cuda";
}

ProcessNeed process_need(const PeerAlgorithm& algorithm, const Params& params,
                         const ProblemShape& shape) {
  constexpr double kGiB = 1 << 30;
  ProcessNeed need;
  need.limit_bytes = params.number("memory_gb") * kGiB;
  if (algorithm.memory.empty()) {
    need.unknown = params.has("program") ? "a program of one's own takes what it takes"
                                         : "its peer.json says nothing of its memory";
    return need;
  }
  const auto nnz = static_cast<double>(shape.nnz), rows = static_cast<double>(shape.rows()),
             factors = static_cast<double>(params.integer("factors"));
  const auto batch = params.has("batch") ? std::min(params.integer("batch"), shape.nnz) : 0;
  const auto of = [&](const char* key) { return algorithm.memory.at(key); };
  need.bytes = of("base_bytes") + of("of_rating") * nnz + of("of_row") * rows +
               of("of_number") * rows * factors +
               of("of_batch_number") * factors * static_cast<double>(batch);
  need.of_further_point = of("kept_of_rating") * nnz + of("kept_of_number") * rows * factors;
  need.unknown = uses_device(params) ? "the GPU's memory, and what CUDA takes of the host"
                                     : algorithm.not_counted;
  return need;
}

// A model to read and one to keep; the process has the rest.
MemoryNeed memory(const Params& params, const ProblemShape& shape) {
  MemoryNeed need;
  need.host_bytes = 2 * shape.rows() * static_cast<double>(params.integer("factors") + 1) *
                    sizeof(float);
  return need;
}

std::optional<std::string> why_unsupported(const PeerLibrary& library, const Params& params) {
  if (const auto why = why_not_installed(library)) return why;
  if (!library.is_program) return std::nullopt;
  try {
    peer::find_program(params.text("program"));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

AlgorithmInfo info_of(const PeerLibrary& library, const PeerAlgorithm& algorithm) {
  AlgorithmInfo info = algorithm.info;
  ForeignInfo foreign = algorithm.foreign;
  foreign.process = [&](const Params& params, const ProblemShape& shape) {
    return process_need(algorithm, params, shape);
  };
  info.foreign = std::make_shared<const ForeignInfo>(std::move(foreign));
  info.memory = memory;
  info.supports = [&library](const Params& params, const ProblemShape&) {
    return why_unsupported(library, params);
  };
  return info;
}

const RegisterSource registered([] {
  for (const auto& library : peer_libraries()) {
    for (const auto& algorithm : library.algorithms) register_info(info_of(library, algorithm));
  }
});

}  // namespace
}  // namespace mf
