// Solves all rows of one side with the other side fixed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/als/cpu/formation.hpp"
#include "algorithms/als/cpu/plan.hpp"
#include "algorithms/als/cpu/solver.hpp"
#include "algorithms/core/rows.hpp"
#include "base/host/isa.hpp"

namespace mf::als::cpu {

FormationKernels formation_kernels(Isa isa);

// Floats from one row to the next: whole cache lines.
constexpr std::int64_t padded_stride(std::int64_t factors) {
  return row_stride(factors, sizeof(float), kLineBytes);
}

// A panel of rows stays in the first-level cache while all tiles of A pass over it.
inline constexpr std::int64_t kPanelFloats = 8 << 10;
constexpr std::int64_t panel_rows(std::int64_t stride) {
  return std::max<std::int64_t>(32, kPanelFloats / stride);
}
// Enough for rows of this or a smaller stride.
constexpr std::int64_t panel_floats(std::int64_t stride) {
  return std::max(kPanelFloats, panel_rows(stride) * stride);
}

inline void add(const float* from, float* to, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
}

// body(thread, index) for each index in [0, count), taken in order by free threads.
template <class Body>
void for_each(ThreadTeam& team, std::int64_t count, const Body& body) {
  std::atomic<std::int64_t> next{0};
  team.run([&](int thread) {
    for (std::int64_t index = next++; index < count; index = next++) body(thread, index);
  });
}

// wave(first, last) of positions in plan.rows, by turns, then row(thread, position) for each of the
// rest, by free threads. False if `stop` (may be empty) asked to end early.
template <class Wave, class Row>
bool run_plan(const RowPlan& plan, ThreadTeam& team, const std::function<bool()>& stop,
              const Wave& wave, const Row& row) {
  for (std::int64_t number = 0; number + 1 < std::ssize(plan.waves); ++number) {
    if (stop && stop()) return false;
    wave(plan.waves[number], plan.waves[number + 1]);
  }
  std::atomic<bool> stopped{false};
  for_each(team, std::ssize(plan.cuts) - 1, [&](int thread, std::int64_t chunk) {
    if (thread == 0 && stop && stop()) stopped = true;
    if (stopped) return;
    for (std::int64_t position = plan.cuts[chunk]; position < plan.cuts[chunk + 1]; ++position) {
      row(thread, position);
    }
  });
  return !stopped;
}

// Factors of one side, as the kernels want them.
class FactorTable {
 public:
  FactorTable() = default;
  // `from` has rows x factors. `ones` adds a column of ones. Rows without ratings on `side` become
  // zero and stay zero.
  FactorTable(const AlignedVector<float>& from, std::int32_t factors, const Side& side,
              ThreadTeam& team, bool ones = false);

  FactorRows view() const { return {data_.data(), stride_, factors_}; }
  float* row(std::int64_t row) { return data_.data() + row * stride_; }
  std::span<float> all() { return {data_.data(), data_.size()}; }

 private:
  std::int32_t factors_ = 0;
  std::int64_t stride_ = 0;
  AlignedVector<float> data_;
};

// One thread's A, b and buffers to form and solve them.
struct Workspace {
  Workspace(const Common& common, Solver solver, const FormationKernels& kernels);

  AlignedVector<float> a, b, panel;
  AlignedVector<float> part_a, part_b;  // of a part of a row, before it is added
  AlignedVector<float> weights;         // for RowTerms::ratings
  RowSolver solver;
};

// Sums of the ratings of one row, in parts: into `work.a` and `work.b`.
void form_row(const FormationKernels& kernels, const FactorRows& rows, const RowRatings& ratings,
              Workspace& work);

// How a method weighs the ratings of a row, completes their sums, and solves them.
class RowTerms {
 public:
  virtual ~RowTerms() = default;
  // Ratings [begin, end) of the side as the kernels take them, valid while the side is and `buffer`
  // does not change. Here: unchanged.
  virtual RowRatings ratings(const Side& side, std::int64_t begin, std::int64_t end,
                             AlignedVector<float>& buffer) const;
  // Adds terms other than sums over ratings to A of a row of `count` ratings, as kernels leave it.
  virtual void complete(std::int64_t row, std::int64_t count, float* a,
                        std::int64_t stride) const = 0;
  // The row x of A, completed, and b; `part_a` and `part_b` of `work` are free. May fail.
  virtual bool solve(std::int64_t row, float* a, const float* b, float* x, Workspace& work) const;
};

// A_u has lambda n_u^reg_power on its diagonal. With biases, rows are (x, 1), and row u is solved
// for (x_u, b_u): the other side's biases are subtracted from its ratings, and b_u goes to `own`.
class WeightedLambda : public RowTerms {
 public:
  explicit WeightedLambda(const Common& common, std::span<float> own = {},
                          std::span<const float> others = {})
      : common_(common), own_(own), others_(others) {}
  RowRatings ratings(const Side& side, std::int64_t begin, std::int64_t end,
                     AlignedVector<float>& buffer) const override;
  void complete(std::int64_t row, std::int64_t count, float* a, std::int64_t stride) const override;
  bool solve(std::int64_t row, float* a, const float* b, float* x, Workspace& work) const override;

 private:
  const Common& common_;
  std::span<float> own_;
  std::span<const float> others_;
};

class HalfStep {
 public:
  HalfStep(const Common& common, Solver solver, Isa isa, ThreadTeam& team);

  // `to` has the rows of `side`. False if `stop` (may be empty) asked to end early. Throws
  // Error(usage) if the solver is Cholesky and a system is not positive definite.
  bool run(const Side& side, const RowPlan& plan, const RowTerms& terms, const FactorTable& from,
           FactorTable& to, ThreadTeam& team, const std::function<bool()>& stop);

 private:
  struct Task;  // of one call of run
  void solve_row(const Task& task, std::int64_t position, float* a, const float* b,
                 Workspace& work) const;
  void run_wave(const Task& task, std::int64_t first, std::int64_t last, ThreadTeam& team);

  Common common_;
  Solver solver_;
  FormationKernels kernels_;
  std::vector<std::unique_ptr<Workspace>> work_;  // one a thread
  AlignedVector<float> parts_;                    // A and b of the parts of a wave
};

}  // namespace mf::als::cpu
