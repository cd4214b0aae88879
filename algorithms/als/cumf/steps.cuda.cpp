#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <utility>

namespace mf::als {
namespace {

// Of the free memory, what is left to others: the evaluator, libraries, the driver.
constexpr double kReserve = 0.1;
constexpr double kLeastReserve = 1 << 30;

std::int64_t rated_rows(View<const std::int64_t> offsets) {
  std::int64_t rows = 0;
  for (std::int64_t row = 0; row + 1 < offsets.size(); ++row) {
    rows += offsets[row] < offsets[row + 1];
  }
  return rows;
}

AlignedVector<std::int64_t> host_offsets(const cuda::RatingsOfRows& rows, cudaStream_t stream) {
  AlignedVector<std::int64_t> offsets(rows.rows + 1);
  cuda::download(View<std::int64_t>(offsets), rows.offsets, stream);
  return offsets;
}

}  // namespace

DeviceSteps::DeviceSteps(const AlsSettings& settings, cuda::DeviceRatings& ratings,
                         const DeviceResidual& center, const Model& initial, Context& context,
                         bool cg_through_l1)
    : settings_(settings), stream_(context.stream) {
  const cuda::RatingsOfRows columns = ratings.columns(stream_);
  const auto item_offsets = host_offsets(columns, stream_);
  make_side(Which::items, columns, center);
  ratings.release_columns();
  const auto user_offsets = host_offsets(ratings.rows(), stream_);
  make_side(Which::users, ratings.rows(), center);
  ratings.release_rows();
  cuda::Uploader uploader(*context.team, stream_);
  start(initial, uploader);
  plan(user_offsets, item_offsets, context, cg_through_l1);
}

DeviceSteps::DeviceSteps(const AlsSettings& settings, const Side (&host)[2], const Model& initial,
                         Context& context, bool cg_through_l1)
    : settings_(settings), stream_(context.stream) {
  {
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    for (const Which which : {Which::users, Which::items}) {
      const Side& from = host[which == Which::users ? 0 : 1];
      side(which).others = uploader.array(from.others);
      side(which).values = uploader.array(from.values);
    }
    start(initial, uploader);
  }
  plan(host[0].offsets, host[1].offsets, context, cg_through_l1);
}

void DeviceSteps::make_side(Which which, const cuda::RatingsOfRows& rows,
                            const DeviceResidual& center) {
  DeviceSide& to = side(which);
  SplitSide made = split_side(rows, which == Which::users, center, stream_);
  to.others = std::move(made.others);
  to.values = std::move(made.values);
}

void DeviceSteps::start(const Model& initial, cuda::Uploader& uploader) {
  users_.factors = cuda::initial_rows<float>(initial, cuda::RowsOf::users, stride(), uploader);
  items_.factors = cuda::initial_rows<float>(initial, cuda::RowsOf::items, stride(), uploader);
}

void DeviceSteps::plan(Offsets users, Offsets items, Context& context, bool cg_through_l1) {
  const std::int32_t f = settings_.common.factors;
  const Capacity room = room_for(users, items);
  const PlanRule rule = {room.rows, room.parts, settings_.split_rows};
  const SidePlan plans[] = {make_side_plan(users, rule), make_side_plan(items, rule)};
  {
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    upload_plan(users_, plans[0], uploader);
    upload_plan(items_, plans[1], uploader);
  }
  make_systems(plans[0], plans[1]);
  const std::int64_t most = std::max(plans[0].most_rows, plans[1].most_rows);
  auto* a = reinterpret_cast<float*>(a_.data());
  switch (settings_.solver) {
    case Solver::lu:
      solver_ = make_lu_solver(f, most, a, b_.data(), stream_);
      break;
    case Solver::cholesky:
      solver_ = make_cholesky_solver(f, most, a, b_.data(), stream_);
      break;
    case Solver::cg:
      solver_ = make_cg_solver(settings_.common.cg, cg_through_l1);
      break;
  }
}

Capacity DeviceSteps::room_for(Offsets users, Offsets items) const {
  const std::int32_t f = settings_.common.factors;
  const std::int64_t rows = std::max(rated_rows(users), rated_rows(items));
  const std::int64_t parts =
      std::max(all_parts(users, settings_.split_rows), all_parts(items, settings_.split_rows));
  const double vector = static_cast<double>(stride()) * sizeof(float);
  // b, its parts (about one a row where rows are short, more where they are long), pointers.
  const double row_bytes = static_cast<double>(a_bytes(settings_.a_storage, f)) + 2 * vector + 32;
  const auto free = static_cast<double>(cuda::available_bytes());
  // Parts of b and the plan, which are taken later.
  const double later = static_cast<double>(users.back()) / kBiasSplit * (vector + 64) +
                       static_cast<double>(users.size() + items.size()) * 64;
  const double budget = free - later - std::max(kLeastReserve, kReserve * free);
  return choose_capacity(rows, parts, settings_.batch_rows, row_bytes,
                         static_cast<double>(a_bytes(AStorage::fp32, f)), std::max(budget, 0.0));
}

void DeviceSteps::upload_plan(DeviceSide& to, const SidePlan& plan, cuda::Uploader& uploader) {
  to.order = uploader.array(View<const std::int32_t>(plan.order));
  to.tasks = uploader.array(View<const RowTask>(plan.tasks));
  to.splits = uploader.array(View<const SplitRow>(plan.splits));
  to.bias_tasks = uploader.array(View<const RowTask>(plan.bias_tasks));
  to.bias_splits = uploader.array(View<const SplitRow>(plan.bias_splits));
  to.batches = plan.batches;
  // Rows without ratings are zero from the start, and stay it.
  const auto empty = uploader.array(View<const std::int32_t>(plan.empty));
  launch_zero_rows(to.factors.data(), stride(), empty.data(),
                   static_cast<std::int64_t>(empty.size()), stream_);
  MF_CUDA(cudaStreamSynchronize(stream_));  // `empty` ends here
}

void DeviceSteps::make_systems(const SidePlan& users, const SidePlan& items) {
  const std::int32_t f = settings_.common.factors;
  const std::int64_t rows = std::max(users.most_rows, items.most_rows);
  const std::int64_t parts = std::max(users.most_parts, items.most_parts);
  const std::int64_t bias_parts = std::max(users.most_bias_parts, items.most_bias_parts);
  a_ = cuda::DeviceBuffer<std::byte>(rows * a_bytes(settings_.a_storage, f));
  if (settings_.a_storage == AStorage::fp16) scale_ = cuda::DeviceBuffer<float>(rows);
  parts_ = cuda::DeviceBuffer<float>(parts * a_values(AStorage::fp32, f));
  b_ = cuda::DeviceBuffer<float>(rows * stride());
  bias_parts_ = cuda::DeviceBuffer<float>(bias_parts * stride());
}

void DeviceSteps::form(Which which, const RowBatch& batch, HermitianPart part) {
  const DeviceSide& now = side(which);
  HermitianArgs args;
  args.factors = settings_.common.factors;
  args.reg = static_cast<float>(settings_.common.reg);
  args.theta = other(which).factors.data();
  args.stride = stride();
  args.others = now.others.data();
  args.tasks = now.tasks.data() + batch.tasks.begin;
  args.n_tasks = batch.tasks.size();
  args.splits = now.splits.data() + batch.splits.begin;
  args.n_splits = batch.splits.size();
  args.storage = settings_.a_storage;
  args.a = a_.data();
  args.scale = scale_.data();
  args.parts = parts_.data();
  args.weights = base_ != nullptr ? now.values.data() : nullptr;
  args.base = base_;
  launch_hermitian(args, settings_.load, stream_, part);
}

void DeviceSteps::bias(Which which, const RowBatch& batch) {
  const DeviceSide& now = side(which);
  BiasArgs args;
  args.factors = settings_.common.factors;
  args.theta = other(which).factors.data();
  args.stride = stride();
  args.others = now.others.data();
  args.values = now.values.data();
  args.tasks = now.bias_tasks.data() + batch.bias_tasks.begin;
  args.n_tasks = batch.bias_tasks.size();
  args.splits = now.bias_splits.data() + batch.bias_splits.begin;
  args.n_splits = batch.bias_splits.size();
  args.b = b_.data();
  args.parts = bias_parts_.data();
  args.weights = base_ != nullptr;
  launch_bias(args, stream_);
}

Systems DeviceSteps::systems(Which which, const RowBatch& batch) {
  Systems all;
  all.factors = settings_.common.factors;
  all.count = batch.rows.size();
  all.rows = side(which).order.data() + batch.rows.begin;
  all.storage = settings_.a_storage;
  all.a = a_.data();
  all.scale = scale_.data();
  all.b = b_.data();
  all.x = side(which).factors.data();
  return all;
}

void DeviceSteps::solve(Which which, const RowBatch& batch) {
  solver_->solve(systems(which, batch), stream_);
}

bool DeviceSteps::half_step(Which which, Context& context) {
  for (const RowBatch& batch : side(which).batches) {
    if (context.stop_requested && context.stop_requested()) return false;
    {
      const PhaseScope phase(context.phases, "hermitian");
      form(which, batch);
    }
    {
      const PhaseScope phase(context.phases, "bias");
      bias(which, batch);
    }
    const PhaseScope phase(context.phases, "solve");
    solve(which, batch);
  }
  return true;
}

Json DeviceSteps::facts() const {
  const auto of = [](const DeviceSide& side) {
    std::int64_t most = 0;
    for (const RowBatch& batch : side.batches) most = std::max(most, batch.rows.size());
    return Json{{"batches", side.batches.size()},
                {"batch_rows", most},
                {"split_rows", side.splits.size()},
                {"thread_blocks", side.tasks.size()}};
  };
  return {{"x", of(users_)}, {"theta", of(items_)}};
}

}  // namespace mf::als
