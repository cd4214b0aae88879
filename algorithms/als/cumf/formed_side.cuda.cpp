#include "algorithms/als/cumf/formed_side.hpp"

#include <algorithm>

namespace mf::als {

std::int64_t factor_stride(const AlsSettings& settings) {
  return row_stride(settings.common.factors, sizeof(float));
}

HermitianArgs FormedSide::hermitian(const AlsSettings& settings, const RowBatch& batch,
                                    const float* theta) const {
  HermitianArgs args;
  args.factors = settings.common.factors;
  args.reg = static_cast<float>(settings.common.reg);
  args.reg_power = static_cast<float>(settings.common.reg_power);
  args.theta = theta;
  args.stride = factor_stride(settings);
  args.others = others.data();
  args.tasks = plan.tasks.data() + batch.tasks.begin;
  args.n_tasks = batch.tasks.size();
  args.splits = plan.splits.data() + batch.splits.begin;
  args.n_splits = batch.splits.size();
  args.storage = settings.a_storage;
  return args;
}

BiasArgs FormedSide::bias(const AlsSettings& settings, const RowBatch& batch,
                          const float* theta) const {
  BiasArgs args;
  args.factors = settings.common.factors;
  args.theta = theta;
  args.stride = factor_stride(settings);
  args.others = others.data();
  args.values = values.data();
  args.tasks = plan.bias_tasks.data() + batch.bias_tasks.begin;
  args.n_tasks = batch.bias_tasks.size();
  args.splits = plan.bias_splits.data() + batch.bias_splits.begin;
  args.n_splits = batch.bias_splits.size();
  return args;
}

Json FormedSide::facts() const {
  std::int64_t most = 0;
  for (const RowBatch& batch : plan.batches) most = std::max(most, batch.rows.size());
  return {{"batches", plan.batches.size()},
          {"batch_rows", most},
          {"split_rows", plan.splits.size()},
          {"thread_blocks", plan.tasks.size()}};
}

SystemBuffers::SystemBuffers(const AlsSettings& settings, AStorage as, std::int64_t rows)
    : storage(as),
      a(rows * a_bytes(as, settings.common.factors)),
      b(rows * factor_stride(settings)) {
  if (as == AStorage::fp16) scale = cuda::DeviceBuffer<float>(rows);
}

Systems SystemBuffers::of(const AlsSettings& settings, std::int64_t count, const std::int32_t* rows,
                          float* x) {
  Systems all;
  all.factors = settings.common.factors;
  all.count = count;
  all.rows = rows;
  all.storage = storage;
  all.a = a.data();
  all.scale = scale.data();
  all.b = b.data();
  all.x = x;
  return all;
}

PartBuffers::PartBuffers(const AlsSettings& settings, const SidePlan& users, const SidePlan& items)
    : a(std::max(users.most_parts, items.most_parts) *
        a_values(AStorage::fp32, settings.common.factors)),
      b(std::max(users.most_bias_parts, items.most_bias_parts) * factor_stride(settings)) {}

std::unique_ptr<BatchSolver> make_solver(const AlsSettings& settings, SystemBuffers& buffers,
                                         std::int64_t most, bool cg_through_l1,
                                         cudaStream_t stream) {
  const std::int32_t f = settings.common.factors;
  auto* a = reinterpret_cast<float*>(buffers.a.data());
  switch (settings.solver) {
    case Solver::lu:
      return make_lu_solver(f, most, a, buffers.b.data(), stream);
    case Solver::cholesky:
      return make_cholesky_solver(f, most, a, buffers.b.data(), stream);
    case Solver::cg:
      break;
  }
  return make_cg_solver(settings.common.cg, cg_through_l1);
}

}  // namespace mf::als
