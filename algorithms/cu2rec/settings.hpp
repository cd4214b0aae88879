// The parameters of the cu2rec family, resolved.
#pragma once

#include <cstdint>

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::cu2rec {

// How the item side is updated if several users drew the same item in one iteration. Named as the
// algorithms.
enum class ItemRule {
  atomic,        // every gradient is added
  last_writer,   // early bird loses the gradient: every user writes the whole row, the last stays
  first_writer,  // early bird gets the gradient: the first to claim the item writes
};
inline constexpr Names kItemRules{
    std::to_array<Named<ItemRule>>({{"sgd_atomic", ItemRule::atomic},
                                    {"ebltg", ItemRule::last_writer},
                                    {"ebgtg", ItemRule::first_writer}})};

enum class Buffering { swap, in_place };
inline constexpr Names kBufferings{std::to_array<Named<Buffering>>(
    {{"swap", Buffering::swap}, {"in_place", Buffering::in_place}})};

enum class Mapping { thread, warp };
inline constexpr Names kMappings{
    std::to_array<Named<Mapping>>({{"thread", Mapping::thread}, {"warp", Mapping::warp}})};

enum class Generator { curand, counter };
inline constexpr Names kGenerators{std::to_array<Named<Generator>>(
    {{"curand", Generator::curand}, {"counter", Generator::counter}})};

// ItemRule::atomic: four floats in one addition (compute capability 9.0 or more; below it, scalar),
// or each in its own.
enum class Atomics { vector, scalar };
inline constexpr Names kAtomics{
    std::to_array<Named<Atomics>>({{"vector", Atomics::vector}, {"scalar", Atomics::scalar}})};

struct Settings {
  ItemRule rule;
  std::int32_t factors;
  Regularizers reg;
  std::int64_t stride;
  Buffering buffering;
  Mapping mapping;
  Generator generator;
  int threads_per_block;
  int users_per_warp;  // mapping warp; 0: by the number of users
  bool graph;
  Atomics atomics = Atomics::vector;
};

// Longest row of mapping `warp`: its elements stay in the registers of 32 lanes.
constexpr std::int64_t kMaxWarpFactors = 1024;
// Largest block of mapping `warp`: its threads take up to 128 registers.
constexpr int kMaxWarpThreads = 512;
// A cuRAND XORWOW state.
constexpr int kStateBytes = 48;

Settings read_settings(ItemRule rule, const Params& params);

// Compulsory work of an iteration; README.md derives it.
Work iteration_work(const Settings& settings, std::int64_t rating_users, std::int64_t rated_items);

}  // namespace mf::cu2rec
