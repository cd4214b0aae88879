// The parameters all three algorithms share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/sgd_params.hpp"
#include "algorithms/sgd_cpu/isa.hpp"

namespace mf::sgd_cpu {

std::vector<ParamSpec> shared_params();
ParamSpec threads_param();

struct Settings {
  std::int32_t factors = 0;
  ModelKind model = ModelKind::biased;
  Isa isa = Isa::scalar;
  Regularizers reg;

  bool biased() const { return model == ModelKind::biased; }
  Kernels kernels() const { return sgd_cpu::kernels(isa, factors, biased()); }
  // Constants of an epoch; `mean` is the model's.
  Step step(double rate, double mean) const;
};

// Throws Error(unsupported) where the CPU lacks the instruction set asked for.
Settings read_settings(const Params& params);

// For AlgorithmInfo::supports.
std::optional<std::string> why_unsupported(const Params& params, const ProblemShape& shape);

// Floats from one row to the next: whole cache lines.
std::int64_t row_stride(std::int64_t factors);

// Compulsory work of an epoch; README.md derives it.
Work epoch_work(const Settings& settings, const Ratings& train);

}  // namespace mf::sgd_cpu
