#include "algorithms/ials/blocks/block_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace mf::ials::blocks {

struct BlockStep::Task {
  const als::Side& side;
  const als::cpu::RowPlan& plan;
  const AlignedVector<float>& regs;
  als::cpu::FactorRows from;
  als::cpu::FactorTable& to;
  const std::vector<AlignedVector<float>>& gram_columns;

  als::cpu::FactorRows columns(const BlockShape& shape, std::int64_t block) const {
    return {from.data + shape.begin(block), from.stride, shape.width(block)};
  }
};

struct BlockStep::Work {
  explicit Work(std::int64_t stride)
      : a(stride * stride, 0.0F),
        part_a(stride * stride, 0.0F),  // zero, as elements that a kernel skips are added, too
        b(stride, 0.0F),
        part_b(stride, 0.0F),
        delta(stride, 0.0F),
        gx(stride, 0.0F),
        scratch(2 * stride),
        panel(als::cpu::panel_floats(stride)) {}

  AlignedVector<float> a, part_a, b, part_b, delta, gx, scratch, panel;
  AlignedVector<float> weights, predictions;
};

BlockStep::BlockStep(const BlockShape& shape, Isa isa, ThreadTeam& team)
    : shape_(shape),
      formation_(als::cpu::formation_kernels(isa)),
      pairs_(pair_kernels(isa)),
      gram_columns_(shape.count()) {
  work_.resize(team.size());
  team.run([&](int thread) {
    work_[thread] = std::make_unique<Work>(als::cpu::padded_stride(shape_.block_size));
  });
}

BlockStep::~BlockStep() = default;

// Cut so that G x of a block reads only rows of its columns.
void BlockStep::cut_gram(const Gram& gram) {
  for (std::int64_t block = 0; block < shape_.count(); ++block) {
    const std::int64_t stride = shape_.stride(block);
    AlignedVector<float>& columns = gram_columns_[block];
    columns.resize(shape_.factors * stride);
    for (std::int64_t i = 0; i < shape_.factors; ++i) {
      std::copy_n(gram.data() + i * gram.stride() + shape_.begin(block), stride,
                  columns.data() + i * stride);
    }
  }
}

// y . x of the pairs of a part, from nothing.
void BlockStep::predict(const Task& task, const RowSpan& part, const float* x,
                        float* predictions) const {
  std::fill_n(predictions, part.count(), 0.0F);
  pairs_.dots(task.from, task.side.others.data() + part.begin, part.count(), x, predictions);
}

// After a block has moved by delta.
void BlockStep::move(const Task& task, const RowSpan& part, std::int64_t block, const float* delta,
                     float* predictions) const {
  pairs_.dots(task.columns(shape_, block), task.side.others.data() + part.begin, part.count(),
              delta, predictions);
}

// sum w y y^T and sum (c + w (1 - y . x)) y of the block's columns, over the pairs of a part.
void BlockStep::form(const Task& task, const RowSpan& part, std::int64_t block,
                     const float* predictions, float* a, float* b, Work& work) const {
  const std::int64_t count = part.count();
  work.weights.resize(std::max<std::int64_t>(std::ssize(work.weights), 2 * count));
  float* scales = work.weights.data();
  float* values = scales + count;
  for (std::int64_t k = 0; k < count; ++k) {
    const float w = task.side.values[part.begin + k];
    scales[k] = std::sqrt(w);
    const float c = task.side.unobserved_of(part.begin + k);
    values[k] = (c + w * (1 - predictions[k])) / scales[k];
  }
  formation_.form(task.columns(shape_, block),
                  {task.side.others.data() + part.begin, values, count, scales},
                  {a, b, work.panel.data(), als::cpu::panel_rows(shape_.stride(block))});
}

// The Newton step of a block: (H + G + l I) delta = b - G x - l x, all of the block's rows. A and b
// are as form() leaves them, and used up; x of the row moves.
void BlockStep::solve(const Task& task, std::int64_t row, std::int64_t block, float* a, float* b,
                      float* delta, Work& work) const {
  const std::int64_t stride = shape_.stride(block);
  const std::int64_t begin = shape_.begin(block);
  const std::int32_t width = shape_.width(block);
  const float* columns = task.gram_columns[block].data();
  const float reg = task.regs[row];
  float* x = task.to.row(row);
  formation_.weighted_sum(columns, stride, shape_.factors, x, work.gx.data());
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = 0; i <= j; ++i) a[j * stride + i] += columns[(begin + j) * stride + i];
    a[j * stride + j] += reg;
    b[j] -= work.gx[j] + reg * x[begin + j];
  }
  if (!formation_.cholesky(a, stride, width, b, delta, work.scratch.data(), nullptr)) {
    fail(ErrorKind::usage,
         "a block of {} {} (counted from 0; {} observed pairs) is not positive definite in fp32 at "
         "l {}; use a larger reg",
         task.side.of, row, task.side.length(row), reg);
  }
  std::fill(delta + width, delta + stride, 0.0F);
  for (std::int64_t k = 0; k < width; ++k) x[begin + k] += delta[k];
}

void BlockStep::run_row(const Task& task, std::int64_t row, Work& work) const {
  const std::int64_t begin = task.side.offsets[row];
  const std::int64_t length = task.side.length(row);
  const std::int64_t parts = als::cpu::part_count(length);
  const RowSpan whole = {0, begin, begin + length};
  work.predictions.resize(std::max<std::int64_t>(std::ssize(work.predictions), length));
  float* predictions = work.predictions.data();
  predict(task, whole, task.to.row(row), predictions);
  for (std::int64_t block = 0; block < shape_.count(); ++block) {
    const std::int64_t stride = shape_.stride(block);
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t from = als::cpu::part_begin(length, parts, p);
      const RowSpan part = {0, begin + from, begin + als::cpu::part_begin(length, parts, p + 1)};
      float* a = p == 0 ? work.a.data() : work.part_a.data();
      float* b = p == 0 ? work.b.data() : work.part_b.data();
      form(task, part, block, predictions + from, a, b, work);
      if (p == 0) continue;
      als::cpu::add(a, work.a.data(), stride * stride);
      als::cpu::add(b, work.b.data(), stride);
    }
    solve(task, row, block, work.a.data(), work.b.data(), work.delta.data(), work);
    if (block + 1 < shape_.count()) move(task, whole, block, work.delta.data(), predictions);
  }
}

// All threads form the parts of the rows at positions [first, last) for a block, then solve for it.
void BlockStep::run_wave(const Task& task, std::int64_t first, std::int64_t last,
                         ThreadTeam& team) {
  const als::cpu::WaveParts wave = als::cpu::cut_wave(task.side, task.plan, first, last);
  const std::vector<RowSpan>& parts = wave.parts;
  std::vector<std::int64_t> prediction_of = {0};  // of each part, its first
  for (const RowSpan& part : parts) prediction_of.push_back(prediction_of.back() + part.count());
  const std::int64_t widest = als::cpu::padded_stride(shape_.block_size);
  const std::int64_t floats = widest * widest + widest;
  systems_.resize(std::max<std::int64_t>(std::ssize(systems_), std::ssize(parts) * floats), 0.0F);
  predictions_.resize(std::max<std::int64_t>(std::ssize(predictions_), prediction_of.back()));
  deltas_.resize(std::max<std::int64_t>(std::ssize(deltas_), (last - first) * widest));
  const auto row_at = [&](std::int64_t r) { return task.plan.rows[first + r]; };
  const auto delta = [&](std::int64_t r) { return deltas_.data() + r * widest; };
  for (std::int64_t block = 0; block < shape_.count(); ++block) {
    const std::int64_t square = shape_.stride(block) * shape_.stride(block);
    const auto a = [&](std::int64_t p) { return systems_.data() + p * floats; };
    als::cpu::for_each(team, std::ssize(parts), [&](int thread, std::int64_t p) {
      float* predictions = predictions_.data() + prediction_of[p];
      if (block == 0) {
        predict(task, parts[p], task.to.row(row_at(parts[p].number)), predictions);
      } else {
        move(task, parts[p], block - 1, delta(parts[p].number), predictions);
      }
      form(task, parts[p], block, predictions, a(p), a(p) + square, *work_[thread]);
    });
    als::cpu::for_each(team, last - first, [&](int thread, std::int64_t r) {
      const std::int64_t head = wave.of_row[r];
      for (std::int64_t p = head + 1; p < wave.of_row[r + 1]; ++p) {
        als::cpu::add(a(p), a(head), square + shape_.stride(block));
      }
      solve(task, row_at(r), block, a(head), a(head) + square, delta(r), *work_[thread]);
    });
  }
}

bool BlockStep::run(const als::Side& side, const als::cpu::RowPlan& plan,
                    const AlignedVector<float>& regs, const Gram& gram,
                    const als::cpu::FactorTable& from, als::cpu::FactorTable& to, ThreadTeam& team,
                    const std::function<bool()>& stop) {
  cut_gram(gram);
  const Task task = {side, plan, regs, from.view(), to, gram_columns_};
  const auto wave = [&](std::int64_t first, std::int64_t last) {
    run_wave(task, first, last, team);
  };
  return als::cpu::run_plan(plan, team, stop, wave, [&](int thread, std::int64_t position) {
    run_row(task, plan.rows[position], *work_[thread]);
  });
}

}  // namespace mf::ials::blocks
