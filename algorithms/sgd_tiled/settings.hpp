// The parameters of sgd_tiled, resolved (info.cpp has their table).
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::sgd_tiled {

constexpr std::int64_t kMaxFactors = 1024;  // 32 lanes hold the row in registers

// How an update of an item reaches memory: the new row is stored over others' changes; or the
// update's change is added, atomically.
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

// Floats from one item's bias to the next while it is trained: a row of the second-level cache
// each, if they are few. A row of 32 items' biases would be as popular as all of them together, and
// hundreds of groups would wait for it.
constexpr std::int64_t item_bias_stride(std::int64_t items) {
  return items <= std::int64_t{1} << 20 ? 32 : 1;
}

}  // namespace mf::sgd_tiled
