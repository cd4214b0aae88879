// The parameters of sgd_tiled, resolved (info.cpp has their table).
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::sgd_tiled {

// How an update of an item reaches memory: the new row is stored, whatever others made of it
// meanwhile; or what the update changes is added, atomically.
enum class Writes { store, add };
inline constexpr Names kWrites{
    std::to_array<Named<Writes>>({{"store", Writes::store}, {"add", Writes::add}})};

struct Settings {
  std::int32_t factors;
  ModelKind model;
  Regularizers reg;
  Storage storage;
  bool stochastic;
  int chunk;
  Writes writes;
  std::int64_t workers;     // 0: automatic
  std::int64_t thin_above;  // 0: never

  bool biased() const { return model == ModelKind::biased; }
};
Settings read_settings(const Params& params);

}  // namespace mf::sgd_tiled
