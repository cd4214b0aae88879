// The parameters of the three algorithms, resolved (info.cpp has their table).
#pragma once

#include <cstdint>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/sgd_cpu/kernel.hpp"
#include "base/host/isa.hpp"

namespace mf::sgd_cpu {

struct Settings {
  std::int32_t factors;
  ModelKind model;
  Regularizers reg;
  Isa isa;

  Kernels kernels() const { return sgd_cpu::kernels(isa, factors, model == ModelKind::biased); }
};

// Throws Error(unsupported) if the CPU lacks the instruction set asked for.
Settings read_settings(const Params& params);

// Compulsory work of an epoch; README.md derives it.
Work epoch_work(const Settings& settings, const RatedShape& shape);

}  // namespace mf::sgd_cpu
