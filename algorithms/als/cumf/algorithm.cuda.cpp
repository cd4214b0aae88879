// cuMF_ALS: ALS with weighted lambda on a GPU. Minimizes
//   sum (r - x_u . theta_v)^2 + lambda (sum n_u^e |x_u|^2 + sum n_v^e |theta_v|^2)
// by turns: get_hermitian and get_bias form A_u and b_u of a batch of rows, solve solves them.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/als/cumf/formed_side.hpp"
#include "algorithms/als/cumf/reduce_plan.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ranks/on_devices.hpp"
#include "algorithms/core/rank_train.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "base/json/json.hpp"

namespace mf::als {
namespace {

// Both half-steps over several devices as in cuMF_ALS: each holds its own rows of the other side,
// forms its ratings' terms of A_u and b_u of all rows, batch after batch, and gets the others'
// terms of its own rows; it adds the parts and solves (reduce_plan.hpp). No factors travel.
class ReducedSteps : public HalfSteps {
 public:
  // user_offsets: of all users over the ratings of all ranks. The devices must outlive it. All
  // ranks together.
  ReducedSteps(const AlsSettings& settings, View<const std::int64_t> user_offsets,
               cuda::RankRatings& ratings, const DeviceResidual& center, const Model& initial,
               Context& context)
      : settings_(settings), stream_(context.stream), devices_(&ratings.devices()) {
    users_.shards = ratings.user_shards();
    items_.shards = ratings.item_shards();
    ReducedSides sides = reduced_sides(ratings, initial.n_users, center, stream_);
    cuda::Uploader uploader(*context.team, stream_);
    start(users_, Which::users, user_offsets, initial, uploader);
    start(items_, Which::items, ratings.item_offsets(), initial, uploader);
    make_plans(user_offsets, ratings.item_offsets(), sides);
    make_buffers();
    MF_CUDA(cudaStreamSynchronize(stream_));  // the offsets end
  }

  // Phases "hermitian", "bias", "exchange" (the parts of A and b), "solve" (also their sum).
  bool half_step(Which which, Context& context) override {
    Side& now = side(which);
    for (std::int64_t batch = 0; batch < now.reduce.batches(); ++batch) {
      {
        const PhaseScope phase(context.phases, "hermitian");
        form(which, now.plan.batches[batch]);
      }
      {
        const PhaseScope phase(context.phases, "bias");
        bias(which, now.plan.batches[batch]);
      }
      {
        const PhaseScope phase(context.phases, "exchange");
        exchange(now, batch);
      }
      const PhaseScope phase(context.phases, "solve");
      add_and_solve(now, batch);
      devices_->pace(stream_);
    }
    devices_->wait(stream_);
    return true;
  }

  void gather() override {
    const std::int64_t row_bytes = stride() * static_cast<std::int64_t>(sizeof(float));
    for (Side* side : {&users_, &items_}) {
      devices_->gather(side->factors.data(), side->held.begin, row_bytes, side->shards, stream_);
    }
  }

  float* factors(Which which) override { return side(which).factors.data(); }
  std::int64_t stride() const override { return factor_stride(settings_); }

  Json facts() const override {
    return {{"x", users_.facts()},
            {"theta", items_.facts()},
            {"own_users", own(users_).size()},
            {"own_items", own(items_).size()},
            {"own_ratings_by_user", items_.values.size()},
            {"own_ratings_by_item", users_.values.size()}};
  }

 private:
  struct Side : FormedSide {  // all rows, with the ratings of this rank's share of the other side
    ReducePlan reduce;
    RowShards shards;
    RowRange held;  // rows of `factors`: its own, of rank 0 all
    cuda::DeviceBuffer<float> factors;
    // Its own rows that have ratings, batch after batch: their sums of K parts each, and their
    // numbers among its own.
    cuda::DeviceBuffer<SplitRow> sums;
    cuda::DeviceBuffer<std::int32_t> solved;
    std::vector<std::int64_t> first_solved;  // of a batch
  };
  Side& side(Which which) { return which == Which::users ? users_ : items_; }
  RowRange own(const Side& side) const { return side.shards.own(devices_->rank()); }
  // For this rank's rows, in its factors.
  float* own_factors(Side& side) const {
    return side.factors.data() + (own(side).begin - side.held.begin) * stride();
  }

  // Rows without ratings are zero from the start, and stay it.
  void start(Side& side, Which which, View<const std::int64_t> offsets, const Model& initial,
             cuda::Uploader& uploader) {
    const std::int64_t rows = offsets.size() - 1;
    side.held = devices_->rank() == 0 ? RowRange{0, rows} : own(side);
    const auto of = which == Which::users ? cuda::RowsOf::users : cuda::RowsOf::items;
    side.factors = cuda::initial_rows<float>(initial, of, side.held, stride(), uploader);
    const auto held = cuda::upload(offsets.part(side.held.begin, side.held.end + 1), stream_);
    cuda::zero_empty_rows(held.data(), side.held.size(), side.factors.data(), stride(), stream_);
    MF_CUDA(cudaStreamSynchronize(stream_));
  }

  void make_plans(View<const std::int64_t> user_offsets, View<const std::int64_t> item_offsets,
                  ReducedSides& ratings) {
    for (const auto& [side, from] :
         {std::pair{&users_, &ratings.sides.users}, std::pair{&items_, &ratings.sides.items}}) {
      side->others = std::move(from->others);
      side->values = std::move(from->values);
    }
    const ReduceRule rule = rule_for(user_offsets, item_offsets);
    make_plan(users_, user_offsets, ratings.user_offsets.data(), rule);
    make_plan(items_, item_offsets, ratings.item_offsets.data(), rule);
  }

  // All share the batches: the device with the least room sets them.
  ReduceRule rule_for(View<const std::int64_t> user_offsets,
                      View<const std::int64_t> item_offsets) const {
    const std::int32_t f = settings_.common.factors;
    const std::int64_t rows = std::max(user_offsets.size(), item_offsets.size()) - 1;
    const std::int64_t parts = std::max(parts_of_all(user_offsets, settings_.split_rows),
                                        parts_of_all(item_offsets, settings_.split_rows));
    const double vector = static_cast<double>(stride()) * sizeof(float);
    const auto nnz = static_cast<double>(std::max(users_.values.size(), items_.values.size()));
    const auto all_rows = static_cast<double>(user_offsets.size() + item_offsets.size());
    const double budget =
        system_budget(static_cast<double>(cuda::available_bytes()), nnz, all_rows, vector);
    const Capacity room =
        reduce_capacity(rows, parts, settings_.batch_rows, devices_->size(), f,
                        static_cast<double>(a_bytes(settings_.a_storage, f)), budget);
    Communicator& ranks = devices_->host();
    return {ranks.all_min(room.rows), ranks.all_min(room.parts), settings_.split_rows};
  }

  void make_plan(Side& side, View<const std::int64_t> offsets, const std::int64_t* own_offsets,
                 const ReduceRule& rule) {
    side.reduce = plan_reduce(offsets, side.shards, rule);
    side.plan = make_side_plan(own_offsets,
                               cuda::upload(View<const std::int32_t>(side.reduce.rows), stream_),
                               side.reduce.batch_begins(), rule.split_rows, stream_);
    std::vector<SplitRow> sums;
    std::vector<std::int32_t> solved;
    for (std::int64_t batch = 0; batch < side.reduce.batches(); ++batch) {
      const Range range = side.reduce.of_rank(batch, devices_->rank());
      side.first_solved.push_back(std::ssize(sums));
      for (std::int64_t at = range.begin; at < range.end; ++at) {
        const std::int64_t row = side.reduce.rows[at];
        const auto slot = static_cast<std::int32_t>(at - range.begin);
        sums.push_back({offsets[row + 1] - offsets[row], slot, slot, devices_->size()});
        solved.push_back(static_cast<std::int32_t>(row - own(side).begin));
      }
    }
    side.sums = cuda::upload(View<const SplitRow>(sums), stream_);
    side.solved = cuda::upload(View<const std::int32_t>(solved), stream_);
  }

  void make_buffers() {
    const auto most = [&](std::int64_t (*of)(const ReducePlan&, int)) {
      return std::max(of(users_.reduce, devices_->rank()), of(items_.reduce, devices_->rank()));
    };
    const std::int64_t all = most([](const ReducePlan& plan, int) { return plan.most_rows(); });
    const std::int64_t own =
        most([](const ReducePlan& plan, int rank) { return plan.most_rows_of(rank); });
    formed_ = SystemBuffers(settings_, AStorage::fp32, all);
    received_ = SystemBuffers(settings_, AStorage::fp32, own * devices_->size());
    systems_ = SystemBuffers(settings_, settings_.a_storage, own);
    parts_ = PartBuffers(settings_, users_.plan, items_.plan);
    solver_ = make_solver(settings_, systems_, own, false, stream_);
  }

  // A part has no lambda: the sum gets it.
  void form(Which which, const RowBatch& batch) {
    HermitianArgs args =
        side(which).hermitian(settings_, batch, own_factors(side(other_of(which))));
    args.reg = 0;
    args.storage = formed_.storage;
    args.a = formed_.a.data();
    args.parts = parts_.a.data();
    launch_hermitian(args, settings_.load, stream_);
  }

  void bias(Which which, const RowBatch& batch) {
    BiasArgs args = side(which).bias(settings_, batch, own_factors(side(other_of(which))));
    args.b = formed_.b.data();
    args.parts = parts_.b.data();
    launch_bias(args, stream_);
  }

  void exchange(Side& side, std::int64_t batch) {
    exchange(side, batch, formed_.a.data(), received_.a.data(),
             a_bytes(AStorage::fp32, settings_.common.factors));
    exchange(side, batch, formed_.b.data(), received_.b.data(), stride());
  }

  // `values` of a row. Received in the order of ranks, its own among them.
  template <class T>
  void exchange(Side& side, std::int64_t batch, const T* formed, T* received, std::int64_t values) {
    const int rank = devices_->rank();
    const std::int64_t first = side.reduce.of_batch(batch).begin;
    const std::int64_t own = side.reduce.of_rank(batch, rank).size();
    const auto bytes = [&](std::int64_t rows) {
      return rows * values * static_cast<std::int64_t>(sizeof(T));
    };
    std::vector<cuda::DevicePiece> sends, receives;
    for (int other = 0; other < devices_->size(); ++other) {
      const Range theirs = side.reduce.of_rank(batch, other);
      T* const from = const_cast<T*>(formed) + (theirs.begin - first) * values;
      T* const to = received + other * own * values;
      if (other != rank) {
        sends.push_back({other, from, bytes(theirs.size())});
        receives.push_back({other, to, bytes(own)});
      } else if (own > 0) {
        MF_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes(own)),
                                cudaMemcpyDeviceToDevice, stream_));
      }
    }
    devices_->exchange(sends, receives, stream_);
  }

  void add_and_solve(Side& side, std::int64_t batch) {
    const Range own = side.reduce.of_rank(batch, devices_->rank());
    if (own.size() == 0) return;
    HermitianArgs a;
    a.factors = settings_.common.factors;
    a.reg = static_cast<float>(settings_.common.reg);
    a.reg_power = static_cast<float>(settings_.common.reg_power);
    a.splits = side.sums.data() + side.first_solved[batch];
    a.n_splits = own.size();
    a.storage = settings_.a_storage;
    a.a = systems_.a.data();
    a.scale = systems_.scale.data();
    a.parts = reinterpret_cast<float*>(received_.a.data());
    a.part_step = own.size();
    launch_add_parts(a, stream_);
    BiasArgs b;
    b.factors = settings_.common.factors;
    b.stride = stride();
    b.splits = a.splits;
    b.n_splits = own.size();
    b.b = systems_.b.data();
    b.parts = received_.b.data();
    b.part_step = own.size();
    launch_add_parts(b, stream_);
    solver_->solve(systems_.of(settings_, own.size(), side.solved.data() + side.first_solved[batch],
                               own_factors(side)),
                   stream_);
  }

  AlsSettings settings_;
  cudaStream_t stream_;
  cuda::DeviceCommunicator* devices_;
  Side users_, items_;
  SystemBuffers formed_, received_;  // parts of a batch; each rank's parts of this rank's rows
  SystemBuffers systems_;            // to be solved
  PartBuffers parts_;
  std::unique_ptr<BatchSolver> solver_;
};

class Als : public cuda::OnDevices<> {
 public:
  explicit Als(const AlsSettings& settings) : settings_(settings) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    const Common& common = settings_.common;
    check_initial(ModelKind::plain, common.model_factors(), train, initial);
    nnz_ = all_ratings(train, context);
    if (context.ranks != nullptr) return prepare_share(train, initial, context);
    const cudaStream_t stream = context.stream;
    const auto ratings = cuda::ratings_on_device(train, context);
    center_ = DeviceCenter(initial, common.center, row_reg_of(common), *ratings, stream);
    steps_ =
        std::make_unique<DeviceSteps>(settings_, *ratings, center_.residual(), initial, context);
    if (common.solves_biases()) steps_->solve_biases(center_);
    work_ = iteration_work(common, settings_.solver, nnz_, rated_shape(train, context).rows);
  }

  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    const bool users_first = settings_.common.first == FirstSide::users;
    if (!steps_->half_step(users_first ? Which::users : Which::items, context)) return 0;
    if (!steps_->half_step(users_first ? Which::items : Which::users, context)) return nnz_;
    return 2 * nnz_;
  }

  FactorView factors() override {
    return center_.view(steps_->factors(Which::users), steps_->factors(Which::items),
                        steps_->stride());
  }

  Work work_per_epoch() const override { return work_; }
  Json facts() const override { return steps_->facts(); }

 private:
  void prepare_share(const Ratings& train, const Model& initial, Context& context) {
    const Common& common = settings_.common;
    auto& devices = cuda::DeviceCommunicator::of(*context.ranks->group);
    const auto shard = [&](View<const std::int64_t> offsets) {
      const RowCost cost = ratings_and(row_cost(common, settings_.solver));
      return shard_rows(offsets, cost, *context.ranks->group, 1, *context.team);
    };
    prepare_on(devices, context, [&] {
      cuda::RankRatings ratings(train, context, shard, shard, devices);
      center_ = DeviceCenter(initial, common.center, row_reg_of(common), ratings, context.stream);
      steps_ = steps_of_rank(train, ratings, initial, context);
      if (common.solves_biases()) steps_->solve_biases(center_);
    });
    work_ = iteration_work(common, settings_.solver, nnz_, rated_shape(train, context).rows);
  }

  std::unique_ptr<HalfSteps> steps_of_rank(const Ratings& train, cuda::RankRatings& ratings,
                                           const Model& initial, Context& context) const {
    const DeviceResidual residual = center_.residual();
    if (settings_.exchange == Exchange::gather) {
      return std::make_unique<DeviceSteps>(settings_, ratings, residual, initial, context);
    }
    return std::make_unique<ReducedSteps>(settings_, all_user_offsets(train, context), ratings,
                                          residual, initial, context);
  }

  void gather(cudaStream_t /*stream*/) override { steps_->gather(); }

  AlsSettings settings_;
  std::int64_t nnz_ = 0;
  Work work_;
  DeviceCenter center_;
  std::unique_ptr<HalfSteps> steps_;
};

const RegisterFactory kAls("als", [](const Params& params) {
  return std::make_unique<Als>(read_als_settings(params));
});

}  // namespace
}  // namespace mf::als
