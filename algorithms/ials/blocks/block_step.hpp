// Improves all rows of one side with the other side fixed, block by block of their coordinates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/ials/gram.hpp"
#include "algorithms/ials/pairs.hpp"

namespace mf::ials::blocks {

struct BlockShape {
  std::int32_t factors;
  std::int64_t block_size;  // a multiple of 16, or all factors

  std::int64_t count() const { return (factors + block_size - 1) / block_size; }
  std::int64_t begin(std::int64_t block) const { return block * block_size; }
  std::int32_t width(std::int64_t block) const {
    const std::int64_t rest = factors - begin(block);
    return static_cast<std::int32_t>(rest < block_size ? rest : block_size);
  }
  std::int64_t stride(std::int64_t block) const { return als::cpu::padded_stride(width(block)); }
};

class BlockStep {
 public:
  BlockStep(const BlockShape& shape, Isa isa, ThreadTeam& team);
  ~BlockStep();

  // As als::cpu::HalfStep::run; `regs` are l of the rows of `side`, `gram` is of `from`. Throws
  // Error(usage) if a block's system is not positive definite in fp32.
  bool run(const als::Side& side, const als::cpu::RowPlan& plan, const AlignedVector<float>& regs,
           const Gram& gram, const als::cpu::FactorTable& from, als::cpu::FactorTable& to,
           ThreadTeam& team, const std::function<bool()>& stop);

 private:
  using RowSpan = als::cpu::RowSpan;
  struct Task;  // of one call of run
  struct Work;  // buffers of one thread
  void cut_gram(const Gram& gram);
  void predict(const Task& task, const RowSpan& part, const float* x, float* predictions) const;
  void form(const Task& task, const RowSpan& part, std::int64_t block, const float* predictions,
            float* a, float* b, Work& work) const;
  void solve(const Task& task, std::int64_t row, std::int64_t block, float* a, float* b,
             float* delta, Work& work) const;
  void move(const Task& task, const RowSpan& part, std::int64_t block, const float* delta,
            float* predictions) const;
  void run_row(const Task& task, std::int64_t row, Work& work) const;
  void run_wave(const Task& task, std::int64_t first, std::int64_t last, ThreadTeam& team);

  BlockShape shape_;
  als::cpu::FormationKernels formation_;
  PairKernels pairs_;
  std::vector<AlignedVector<float>> gram_columns_;  // of each block: factors x its stride
  std::vector<std::unique_ptr<Work>> work_;         // one a thread
  AlignedVector<float> systems_;                    // A and b of the parts of a wave
  AlignedVector<float> predictions_, deltas_;       // of a wave: a pair; a row
};

}  // namespace mf::ials::blocks
