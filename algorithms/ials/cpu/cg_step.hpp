// Solves all rows of one side by CG with the other side fixed, A never formed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/ials/cpu/plan.hpp"
#include "algorithms/ials/gram.hpp"
#include "algorithms/ials/pairs.hpp"

namespace mf::ials::cpu {

class CgHalfStep {
 public:
  CgHalfStep(std::int32_t factors, int steps, Isa isa, ThreadTeam& team);
  ~CgHalfStep();

  // `regs` are l of the rows of `side`, the rows of `to`; `gram` is of `from`, which has `others`
  // rows. False if `stop` (may be empty) asked to end early.
  bool run(const als::Side& side, const CgPlan& plan, const AlignedVector<float>& regs,
           const Gram& gram, const als::cpu::FactorTable& from, std::int64_t others,
           als::cpu::FactorTable& to, ThreadTeam& team, const std::function<bool()>& stop);

 private:
  class Rows;   // vectors of the rows that take their steps together
  struct Task;  // of one call of run
  void run_group(const Task& task, const Group& group, Rows& rows) const;
  void run_shared(const Task& task, ThreadTeam& team);

  std::int32_t factors_;
  std::int64_t stride_;
  int steps_;
  PairKernels kernels_;
  std::vector<std::unique_ptr<Rows>> rows_;  // one a thread
  std::unique_ptr<Rows> shared_;
  AlignedVector<float> part_sums_;  // of the shared rows
};

}  // namespace mf::ials::cpu
