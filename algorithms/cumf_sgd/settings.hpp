// The parameters of batch_hogwild and wavefront, resolved (info.cpp has their table).
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/storage.hpp"

namespace mf::cumf_sgd {

// Factors, at most: 32 lanes hold the rows of the ratings under way in registers, and wavefront's
// also the results of the last updates.
constexpr std::int64_t kMostOfHogwild = 1024;
constexpr std::int64_t kMostOfWavefront = 512;

struct Settings {  // of both
  std::int32_t factors;
  Regularizers reg;
  Storage storage;
  bool stochastic;
  std::int64_t workers;  // 0: by the device and the data
};
Settings read_settings(const Params& params);

enum class Sampling { replacement, passes };
inline constexpr Names kSamplings{std::to_array<Named<Sampling>>(
    {{"replacement", Sampling::replacement}, {"passes", Sampling::passes}})};

// warp: a warp an update, as published; group: as many lanes an update as a row needs.
enum class Mapping { warp, group };
inline constexpr Names kMappings{
    std::to_array<Named<Mapping>>({{"warp", Mapping::warp}, {"group", Mapping::group}})};

struct HogwildSettings : Settings {
  Sampling sampling;
  Mapping mapping;
  std::int64_t run;
};
HogwildSettings read_hogwild(const Params& params);

struct WavefrontSettings : Settings {
  std::int64_t column_blocks;  // 0: by the workers
};
WavefrontSettings read_wavefront(const Params& params);

struct WavefrontShape {
  std::int64_t bands;    // of users, one a worker
  std::int64_t columns;  // of items
};
// The grid of a device that holds `resident` workers at once; values of parameters are not cut to
// that.
WavefrontShape wavefront_shape(const WavefrontSettings& settings, const ProblemShape& shape,
                               std::int64_t resident);

}  // namespace mf::cumf_sgd
