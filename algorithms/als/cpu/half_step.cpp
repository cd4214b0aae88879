#include "algorithms/als/cpu/half_step.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace mf::als::cpu {

FormationKernels formation_kernels(Isa isa) {
  if constexpr (kAvxIsCompiled) {
    if (isa == Isa::avx512) return avx512_formation();
    if (isa == Isa::avx2) return avx2_formation();
  }
  return scalar_formation();
}

FactorTable::FactorTable(const AlignedVector<float>& from, std::int32_t factors, const Side& side,
                         ThreadTeam& team, bool ones)
    : factors_(factors + (ones ? 1 : 0)),
      stride_(padded_stride(factors_)),
      data_(side.rows() * stride_) {
  team.for_chunks(side.rows(), 1024, [&](std::int64_t begin, std::int64_t end) {
    std::fill(row(begin), row(end), 0.0F);
    for (std::int64_t r = begin; r < end; ++r) {
      if (side.length(r) > 0) {
        std::copy_n(from.data() + r * factors, factors, row(r));
        if (ones) row(r)[factors] = 1;
      }
    }
  });
}

Workspace::Workspace(const Common& common, Solver row_solver, const FormationKernels& kernels)
    : solver(row_solver, common.cg, common.factors, padded_stride(common.factors), kernels) {
  const std::int64_t stride = padded_stride(common.factors);
  // Zero, so that elements that a kernel skips are numbers when parts are added.
  for (auto* square : {&a, &part_a}) square->assign(stride * stride, 0.0F);
  for (auto* vector : {&b, &part_b}) vector->assign(stride, 0.0F);
  panel.resize(panel_floats(stride));
}

void form_row(const FormationKernels& kernels, const FactorRows& rows, const RowRatings& ratings,
              Workspace& work) {
  const std::int64_t parts = part_count(ratings.count);
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t begin = part_begin(ratings.count, parts, p);
    const std::int64_t end = part_begin(ratings.count, parts, p + 1);
    const RowRatings part = ratings.part(begin, end);
    auto& a = p == 0 ? work.a : work.part_a;
    auto& b = p == 0 ? work.b : work.part_b;
    kernels.form(rows, part, {a.data(), b.data(), work.panel.data(), panel_rows(rows.stride)});
    if (p == 0) continue;
    add(work.part_a.data(), work.a.data(), rows.stride * rows.stride);
    add(work.part_b.data(), work.b.data(), rows.stride);
  }
}

RowRatings RowTerms::ratings(const Side& side, std::int64_t begin, std::int64_t end,
                             AlignedVector<float>& /*buffer*/) const {
  return {side.others.data() + begin, side.values.data() + begin, end - begin};
}

bool RowTerms::solve(std::int64_t /*row*/, float* a, const float* b, float* x,
                     Workspace& work) const {
  return work.solver.solve(a, b, x);
}

RowRatings WeightedLambda::ratings(const Side& side, std::int64_t begin, std::int64_t end,
                                   AlignedVector<float>& buffer) const {
  if (others_.empty()) return RowTerms::ratings(side, begin, end, buffer);
  buffer.resize(end - begin);
  for (std::int64_t k = begin; k < end; ++k) {
    buffer[k - begin] = side.values[k] - others_[side.others[k]];
  }
  return {side.others.data() + begin, buffer.data(), end - begin};
}

void WeightedLambda::complete(std::int64_t /*row*/, std::int64_t count, float* a,
                              std::int64_t stride) const {
  const auto shrink = static_cast<float>(row_reg_of(common_).of(count));
  for (std::int64_t k = 0; k < common_.factors; ++k) a[k * (stride + 1)] += shrink;
}

bool WeightedLambda::solve(std::int64_t row, float* a, const float* b, float* x,
                           Workspace& work) const {
  if (own_.empty()) return RowTerms::solve(row, a, b, x, work);
  float& bias = x[common_.model_factors()];
  bias = own_[row];
  const bool solved = RowTerms::solve(row, a, b, x, work);
  own_[row] = std::exchange(bias, 1.0F);
  return solved;
}

struct HalfStep::Task {
  const Side& side;
  const RowPlan& plan;
  const RowTerms& terms;
  FactorRows from;
  FactorTable& to;

  std::int64_t row(std::int64_t position) const { return plan.rows[position]; }
  std::int64_t count(std::int64_t position) const { return side.length(row(position)); }
};

HalfStep::HalfStep(const Common& common, Solver solver, Isa isa, ThreadTeam& team)
    : common_(common), solver_(solver), kernels_(formation_kernels(isa)) {
  work_.resize(team.size());
  team.run([&](int thread) {  // each by its own thread: first touch
    work_[thread] = std::make_unique<Workspace>(common_, solver_, kernels_);
  });
}

void HalfStep::solve_row(const Task& task, std::int64_t position, float* a, const float* b,
                         Workspace& work) const {
  const std::int64_t row = task.row(position);
  task.terms.complete(row, task.count(position), a, task.from.stride);
  if (task.terms.solve(row, a, b, task.to.row(row), work)) return;
  fail(ErrorKind::usage,
       "the system of {} {} (counted from 0; {} ratings) is not positive definite in fp32 at reg "
       "{}; use a larger reg, or solver \"cg\"",
       task.side.of, row, task.count(position), common_.reg);
}

// All threads form the parts of the rows at positions [first, last); then each row's parts are
// added in order.
void HalfStep::run_wave(const Task& task, std::int64_t first, std::int64_t last, ThreadTeam& team) {
  const WaveParts wave = cut_wave(task.side, task.plan, first, last);
  const std::vector<RowSpan>& parts = wave.parts;
  const std::int64_t stride = task.from.stride;
  const std::int64_t floats = stride * stride + stride;
  if (std::ssize(parts_) < std::ssize(parts) * floats) {
    parts_.assign(std::ssize(parts) * floats, 0.0F);
  }
  const auto part_a = [&](std::int64_t p) { return parts_.data() + p * floats; };
  for_each(team, std::ssize(parts), [&](int thread, std::int64_t p) {
    Workspace& work = *work_[thread];
    kernels_.form(task.from,
                  task.terms.ratings(task.side, parts[p].begin, parts[p].end, work.weights),
                  {part_a(p), part_a(p) + stride * stride, work.panel.data(), panel_rows(stride)});
  });
  for_each(team, last - first, [&](int thread, std::int64_t r) {
    const std::int64_t head = wave.of_row[r];
    for (std::int64_t p = head + 1; p < wave.of_row[r + 1]; ++p) {
      add(part_a(p), part_a(head), floats);
    }
    solve_row(task, first + r, part_a(head), part_a(head) + stride * stride, *work_[thread]);
  });
}

bool HalfStep::run(const Side& side, const RowPlan& plan, const RowTerms& terms,
                   const FactorTable& from, FactorTable& to, ThreadTeam& team,
                   const std::function<bool()>& stop) {
  const Task task = {side, plan, terms, from.view(), to};
  const auto wave = [&](std::int64_t first, std::int64_t last) {
    run_wave(task, first, last, team);
  };
  return run_plan(plan, team, stop, wave, [&](int thread, std::int64_t position) {
    Workspace& work = *work_[thread];
    const std::int64_t begin = side.offsets[task.row(position)];
    form_row(kernels_, task.from,
             terms.ratings(side, begin, begin + task.count(position), work.weights), work);
    solve_row(task, position, work.a.data(), work.b.data(), work);
  });
}

}  // namespace mf::als::cpu
