#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "base/json/json.hpp"

#include <algorithm>
#include <utility>

namespace mf::als {

DeviceSteps::DeviceSteps(const AlsSettings& settings, cuda::DeviceRatings& ratings,
                         const DeviceResidual& center, const Model& initial, Context& context,
                         bool cg_through_l1)
    : DeviceSteps(settings, split_sides(ratings, center, context.stream), initial, context,
                  cg_through_l1) {}

DeviceSteps::DeviceSteps(const AlsSettings& settings, cuda::RankRatings& ratings,
                         const DeviceResidual& center, const Model& initial, Context& context)
    : DeviceSteps(settings, split_sides(ratings, center, context.stream), initial, context) {
  devices_ = &ratings.devices();
  users_.shards = ratings.user_shards();
  items_.shards = ratings.item_shards();
  exchange(Which::users);  // rows without ratings are zero on all
  exchange(Which::items);
}

DeviceSteps::DeviceSteps(const AlsSettings& settings, SplitSides sides, const Model& initial,
                         Context& context, bool cg_through_l1)
    : settings_(settings), stream_(context.stream) {
  cuda::Uploader uploader(*context.team, stream_);
  start(initial, uploader);
  plan(sides, cg_through_l1);
  for (const Which which : {Which::users, Which::items}) {
    SplitSide& from = which == Which::users ? sides.users : sides.items;
    side(which).others = std::move(from.others);
    side(which).values = std::move(from.values);
    side(which).first_row = from.first_row;
    // Rows without ratings are zero from the start, and stay it.
    cuda::zero_empty_rows(from.offsets, from.rows, factors(which) + from.first_row * stride(),
                          stride(), stream_);
  }
}

void DeviceSteps::start(const Model& initial, cuda::Uploader& uploader) {
  users_.factors = cuda::initial_rows<float>(initial, cuda::RowsOf::users, stride(), uploader);
  items_.factors = cuda::initial_rows<float>(initial, cuda::RowsOf::items, stride(), uploader);
}

void DeviceSteps::plan(const SplitSides& sides, bool cg_through_l1) {
  const auto order = [&](const SplitSide& of) {
    return order_rows(of.offsets, of.rows, settings_.split_rows, stream_);
  };
  RowOrder users = order(sides.users);
  RowOrder items = order(sides.items);
  const auto nnz = static_cast<double>(sides.users.values.size());
  const Capacity room = room_for(users, items, nnz);
  const PlanRule rule = {room.rows, room.parts, settings_.split_rows};
  users_.plan = make_side_plan(sides.users.offsets, std::move(users), rule, stream_);
  items_.plan = make_side_plan(sides.items.offsets, std::move(items), rule, stream_);
  const std::int64_t most = std::max(users_.plan.most_rows, items_.plan.most_rows);
  systems_ = SystemBuffers(settings_, settings_.a_storage, most);
  parts_ = PartBuffers(settings_, users_.plan, items_.plan);
  solver_ = make_solver(settings_, systems_, most, cg_through_l1, stream_);
}

Capacity DeviceSteps::room_for(const RowOrder& users, const RowOrder& items, double nnz) const {
  const std::int32_t f = settings_.common.factors;
  const double vector = static_cast<double>(stride()) * sizeof(float);
  const auto rows = static_cast<double>(users.rows.size() + items.rows.size());
  return choose_capacity(
      std::max(users.rated, items.rated), std::max(users.parts, items.parts), settings_.batch_rows,
      system_bytes(static_cast<double>(a_bytes(settings_.a_storage, f)), vector),
      static_cast<double>(a_bytes(AStorage::fp32, f)),
      system_budget(static_cast<double>(cuda::available_bytes()), nnz, rows, vector));
}

void DeviceSteps::form(Which which, const RowBatch& batch, HermitianPart part) {
  HermitianArgs args =
      side(which).hermitian(settings_, batch, side(other_of(which)).factors.data());
  args.a = systems_.a.data();
  args.scale = systems_.scale.data();
  args.parts = parts_.a.data();
  args.weights = base_ != nullptr ? side(which).values.data() : nullptr;
  args.base = base_;
  launch_hermitian(args, settings_.load, stream_, part);
}

void DeviceSteps::bias(Which which, const RowBatch& batch) {
  BiasArgs args = side(which).bias(settings_, batch, side(other_of(which)).factors.data());
  args.b = systems_.b.data();
  args.parts = parts_.b.data();
  args.weights = base_ != nullptr;
  launch_bias(args, stream_);
}

void DeviceSteps::solve(Which which, const RowBatch& batch) {
  DeviceSide& now = side(which);
  const Systems all =
      systems_.of(settings_, batch.rows.size(), now.plan.order.data() + batch.rows.begin,
                  now.factors.data() + now.first_row * stride());
  solver_->solve(all, stream_);
}

void DeviceSteps::put_biases(Which which) {
  DeviceSide& now = side(which);
  biases_->put_biases(which == Which::users, factors(which), factors(other_of(which)), stride(),
                      stream_, [&](const float* old_bias, const float* bias) {
                        change_bias(now.others.data(), now.values.data(), std::ssize(now.values),
                                    old_bias, bias, stream_);
                      });
}

bool DeviceSteps::half_step(Which which, Context& context) {
  if (biases_ != nullptr) put_biases(which);
  bool done = true;
  for (const RowBatch& batch : side(which).plan.batches) {
    const bool single = devices_ == nullptr;
    if (single && context.stop_requested && context.stop_requested()) {
      done = false;
      break;
    }
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
  if (devices_ != nullptr) {
    const PhaseScope phase(context.phases, "exchange");
    exchange(which);
  }
  if (biases_ != nullptr) {
    biases_->take_biases(which == Which::users, factors(which), stride(), stream_);
  }
  return done;
}

// Waits: batches may be more launches than the device's queue takes (DeviceCommunicator::pace).
void DeviceSteps::exchange(Which which) {
  DeviceSide& now = side(which);
  const std::int64_t row_bytes = stride() * static_cast<std::int64_t>(sizeof(float));
  constexpr int kWhole = 0;  // a rank's rows are one part
  devices_->all_gather(now.factors.data(), row_bytes, now.shards, kWhole, stream_);
  devices_->wait(stream_);
}

Json DeviceSteps::facts() const {
  Json facts = {{"x", users_.facts()}, {"theta", items_.facts()}};
  if (devices_ == nullptr) return facts;
  const int rank = devices_->rank();
  facts["own_users"] = users_.shards.own(rank).size();
  facts["own_items"] = items_.shards.own(rank).size();
  facts["own_ratings_by_user"] = users_.values.size();
  facts["own_ratings_by_item"] = items_.values.size();
  return facts;
}

}  // namespace mf::als
