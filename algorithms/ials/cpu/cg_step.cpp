#include "algorithms/ials/cpu/cg_step.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace mf::ials::cpu {

using als::cpu::part_begin;
using als::cpu::part_count;

struct CgHalfStep::Task {
  const als::Side& side;
  const CgPlan& plan;
  const AlignedVector<float>& regs;
  const Gram& gram;
  FactorRows from;
  std::int64_t others;  // rows of `from`
  als::cpu::FactorTable& to;

  std::int64_t row(std::int64_t position) const { return plan.order.rows[position]; }
  std::int64_t begin(std::int64_t position) const { return side.offsets[row(position)]; }
  std::int64_t count(std::int64_t position) const { return side.length(row(position)); }
  // Pairs of the side, counted from its first.
  Pairs pairs(std::int64_t begin, std::int64_t end) const {
    return {side.others.data() + begin, side.values.data() + begin, end - begin,
            side.unobserved.data()};
  }
};

// Row r is that at position first + r of the plan.
class CgHalfStep::Rows {
 public:
  void begin(const Task& task, std::int64_t first, std::int64_t count, std::int64_t stride) {
    stride_ = stride;
    if (std::ssize(rs_) < count) {
      for (auto* vectors : {&r_, &p_, &ap_, &sums_}) vectors->resize(count * stride);
      regs_.resize(count);
      rs_.resize(count);
      cursors_.resize(count);
    }
    std::fill_n(sums_.begin(), count * stride, 0.0F);
    std::fill_n(r_.begin(), count * stride, 0.0F);
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row = task.row(first + r);
      std::copy_n(task.to.row(row), stride, p(r));
      regs_[r] = task.regs[row];
      rs_[r] = 0;
    }
  }

  float* r(std::int64_t row) { return r_.data() + row * stride_; }
  float* p(std::int64_t row) { return p_.data() + row * stride_; }
  float* ap(std::int64_t row) { return ap_.data() + row * stride_; }
  float* sums(std::int64_t row) { return sums_.data() + row * stride_; }
  const float* regs(std::int64_t row) const { return regs_.data() + row; }
  float& rs(std::int64_t row) { return rs_[row]; }  // r . r; below 0: the row is done
  bool active(std::int64_t row) const { return !(rs_[row] < 0); }
  CgRow vectors(const Task& task, std::int64_t first, std::int64_t row) {
    return {task.to.row(task.row(first + row)), r(row), p(row), ap(row)};
  }

  // How far a row of a banded group has come.
  struct Cursor {
    std::int64_t next, end;
    std::int64_t part, part_end;
  };
  Cursor& cursor(std::int64_t row) { return cursors_[row]; }

 private:
  std::int64_t stride_ = 0;
  AlignedVector<float> r_, p_, ap_;
  AlignedVector<float> sums_;  // of the part of a row that is being summed; zero between parts
  AlignedVector<float> regs_, rs_;
  AlignedVector<Cursor> cursors_;
};

namespace {

// The sums of all pairs of the row at `position`, part by part, onto `to`.
template <class Task>
void add_row(const Task& task, std::int64_t position, PairsKernel kernel, MoveKernel move,
             const float* v, float* sums, float* to) {
  const std::int64_t begin = task.begin(position);
  const std::int64_t count = task.count(position);
  const std::int64_t parts = part_count(count);
  for (std::int64_t part = 0; part < parts; ++part) {
    const Pairs pairs = task.pairs(begin + part_begin(count, parts, part),
                                   begin + part_begin(count, parts, part + 1));
    kernel(task.from, pairs, v, sums);
    move(sums, to, task.from.stride);
  }
}

// In order, which is faster than as the pairs come.
void fetch_rows(const FactorRows& rows, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kLineFloats = kLineBytes / sizeof(float);
  const float* last = rows.data + end * rows.stride;
  for (const float* at = rows.data + begin * rows.stride; at < last; at += kLineFloats) {
    __builtin_prefetch(at, 0, 2);
  }
}

// The same for the rows of a banded group at once; to(r) is the target of row r.
template <class Task, class Rows, class To>
void add_banded(const Task& task, const Group& group, Rows& rows, PairsKernel kernel,
                MoveKernel move, const To& to) {
  const std::int64_t count = group.last - group.first;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t begin = task.begin(group.first + r);
    const std::int64_t length = task.count(group.first + r);
    rows.cursor(r) = {begin, begin + length, 0, begin + part_begin(length, part_count(length), 1)};
  }
  const std::int32_t* others = task.side.others.data();
  const std::int64_t step = task.plan.band_rows;
  for (std::int64_t band_end = step; band_end < task.others + step; band_end += step) {
    fetch_rows(task.from, band_end - step, std::min(band_end, task.others));
    for (std::int64_t r = 0; r < count; ++r) {
      if (!rows.active(r)) continue;
      auto& at = rows.cursor(r);
      while (at.next < at.end && others[at.next] < band_end) {
        std::int64_t end = at.next + 1;
        while (end < at.part_end && others[end] < band_end) ++end;
        kernel(task.from, task.pairs(at.next, end), rows.p(r), rows.sums(r));
        at.next = end;
        if (end < at.part_end) continue;
        move(rows.sums(r), to(r), task.from.stride);
        const std::int64_t length = task.count(group.first + r);
        const std::int64_t parts = part_count(length);
        at.part_end =
            task.begin(group.first + r) + part_begin(length, parts, std::min(++at.part + 1, parts));
      }
    }
  }
}

}  // namespace

CgHalfStep::CgHalfStep(std::int32_t factors, int steps, Isa isa, ThreadTeam& team)
    : factors_(factors),
      stride_(als::cpu::padded_stride(factors)),
      steps_(steps),
      kernels_(pair_kernels(isa)),
      shared_(std::make_unique<Rows>()) {
  rows_.resize(team.size());
  team.run([&](int thread) { rows_[thread] = std::make_unique<Rows>(); });  // grown by it, too
}

CgHalfStep::~CgHalfStep() = default;

void CgHalfStep::run_group(const Task& task, const Group& group, Rows& rows) const {
  const std::int64_t count = group.last - group.first;
  rows.begin(task, group.first, count, stride_);
  const auto multiply = [&](PairsKernel kernel, const auto& to) {
    kernels_.dense(task.gram.data(), stride_, factors_, rows.regs(0), rows.p(0), count, rows.ap(0));
    if (group.banded) return add_banded(task, group, rows, kernel, kernels_.move, to);
    for (std::int64_t r = 0; r < count; ++r) {
      if (!rows.active(r)) continue;
      add_row(task, group.first + r, kernel, kernels_.move, rows.p(r), rows.sums(r), to(r));
    }
  };
  multiply(kernels_.residual, [&](std::int64_t r) { return rows.r(r); });
  for (std::int64_t r = 0; r < count; ++r) {
    rows.rs(r) = kernels_.start(rows.vectors(task, group.first, r), rows.r(r), stride_);
  }
  for (int step = 0; step < steps_; ++step) {
    multiply(kernels_.product, [&](std::int64_t r) { return rows.ap(r); });
    for (std::int64_t r = 0; r < count; ++r) {
      if (!rows.active(r)) continue;
      rows.rs(r) = kernels_.step(rows.vectors(task, group.first, r), rows.rs(r), stride_);
    }
  }
}

void CgHalfStep::run_shared(const Task& task, ThreadTeam& team) {
  const std::int64_t count = task.plan.order.shared;
  if (count == 0) return;
  const als::cpu::WaveParts wave = als::cpu::cut_wave(task.side, task.plan.order, 0, count);
  const std::vector<als::cpu::RowSpan>& parts = wave.parts;
  // In the order of their first reads, so that the threads find each other's rows in a cache.
  std::vector<std::int64_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return task.side.others[parts[a].begin] < task.side.others[parts[b].begin];
  });
  part_sums_.resize(std::ssize(parts) * stride_);
  Rows& rows = *shared_;
  rows.begin(task, 0, count, stride_);
  const auto dense = [&](std::int64_t r) {
    kernels_.dense(task.gram.data(), stride_, factors_, rows.regs(r), rows.p(r), 1, rows.ap(r));
  };
  const auto add_parts = [&](PairsKernel kernel) {
    team.for_each(std::ssize(parts), 1, [&](std::int64_t chunk) {
      const als::cpu::RowSpan& part = parts[order[chunk]];
      if (!rows.active(part.number)) return;
      float* sums = part_sums_.data() + order[chunk] * stride_;
      std::fill_n(sums, stride_, 0.0F);
      kernel(task.from, task.pairs(part.begin, part.end), rows.p(part.number), sums);
    });
  };
  const auto finish = [&](const auto& to, const auto& body) {
    team.for_each(count, 1, [&](std::int64_t r) {
      if (!rows.active(r)) return;
      for (std::int64_t p = wave.of_row[r]; p < wave.of_row[r + 1]; ++p) {
        kernels_.move(part_sums_.data() + p * stride_, to(r), stride_);
      }
      rows.rs(r) = body(rows.vectors(task, 0, r), r);
      dense(r);
    });
  };
  team.for_each(count, 1, [&](std::int64_t r) { dense(r); });
  add_parts(kernels_.residual);
  finish([&](std::int64_t r) { return rows.r(r); },
         [&](const CgRow& row, std::int64_t) { return kernels_.start(row, row.r, stride_); });
  for (int step = 0; step < steps_; ++step) {
    add_parts(kernels_.product);
    finish(
        [&](std::int64_t r) { return rows.ap(r); },
        [&](const CgRow& row, std::int64_t r) { return kernels_.step(row, rows.rs(r), stride_); });
  }
}

bool CgHalfStep::run(const als::Side& side, const CgPlan& plan, const AlignedVector<float>& regs,
                     const Gram& gram, const als::cpu::FactorTable& from, std::int64_t others,
                     als::cpu::FactorTable& to, ThreadTeam& team,
                     const std::function<bool()>& stop) {
  const Task task = {side, plan, regs, gram, from.view(), others, to};
  if (stop && stop()) return false;
  run_shared(task, team);
  std::atomic<bool> stopped{false};
  als::cpu::for_each(team, std::ssize(plan.groups), [&](int thread, std::int64_t group) {
    if (thread == 0 && stop && stop()) stopped = true;
    if (!stopped) run_group(task, plan.groups[group], *rows_[thread]);
  });
  return !stopped;
}

}  // namespace mf::ials::cpu
