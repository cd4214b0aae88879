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
  if (!algorithm.memory) {
    need.unknown = params.has("program") ? "a program of one's own takes what it takes"
                                         : "its peer.json says nothing of its memory";
    return need;
  }
  const PeerMemory& measured = *algorithm.memory;
  const auto nnz = static_cast<double>(shape.nnz);
  const double rows = shape.rows();
  const auto items = static_cast<double>(shape.n_items);
  const auto factors = static_cast<double>(params.integer("factors"));
  const auto batch = params.has("batch") ? std::min(params.integer("batch"), shape.nnz) : 0;
  need.bytes = measured.base + measured.of_rating * nnz +
               rows * (measured.of_number * factors + measured.of_row +
                       measured.of_row_square * factors * factors) +
               measured.of_item_pair * items * items +
               measured.of_batch_number * factors * static_cast<double>(batch);
  need.of_further_point = measured.kept_of_rating * nnz + measured.kept_of_number * rows * factors;
  need.unknown = uses_device(params) ? "the GPU's memory, and what CUDA takes of the host"
                                     : measured.not_counted;
  return need;
}

// A model to read and one to keep; the process has the rest.
MemoryNeed memory(const Params& params, const ProblemShape& shape) {
  const double rows = shape.rows();
  const auto width = static_cast<double>(params.integer("factors") + 1);
  MemoryNeed need;
  need.host_bytes = 2 * rows * width * sizeof(float);
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
