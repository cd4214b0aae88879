// svdpp: a warp, which is a thread block, a user. Rows lie on kLanes lanes, as few as hold them;
// the 32 / kLanes groups of lanes share the sum of y_j and, once a user, the changes of the y_j.
// Between these every group has p_u and z_u in registers and goes through the ratings. Their rows
// of Q are loaded kAhead early: a user rates an item once, so they are as new as later loads.
//
// Users race for the rows of Q and Y. Changes to both are added atomically: a popular item is in
// most histories, so a plain store would lose the changes of all users at work but one. With one
// worker an epoch equals one of svdpp_cpu up to rounding. A rating takes 18 f + 13 FLOPs, reads 12
// f bytes of Q and Y and adds to 8 f, in the second-level cache.
#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/row_shape.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/core/random.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/svdpp/svdpp.hpp"

namespace mf::svdpp {
namespace {

constexpr unsigned kAll = 0xffffffffU;

struct Arrays {
  cuda::RatingsOfRows users;
  std::int32_t factors;
  float* shown;    // rows p_u + z_u
  unsigned* next;  // the first turn of the epoch that no warp has taken
  float *y, *p, *q, *user_bias = nullptr, *item_bias = nullptr;
};

template <int kCount, class Body>
__device__ __forceinline__ void each(const Body& body) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) body(k);
}

// Trains on the ratings of the user, or else only writes p_u + z_u.
template <class Shape, bool kTrains>
__device__ void visit(const Arrays& a, const Step& step, std::int64_t user) {
  using Share = cuda::RowShare<float, Shape::kLanes, Shape::kWords>;
  constexpr int kValues = Share::kValues, kGroups = 32 / Shape::kLanes;
  constexpr int kAhead = kValues <= 4 ? 4 : 2;
  const RowRating* ratings = a.users.ratings + a.users.offsets[user];
  const std::int64_t count = a.users.offsets[user + 1] - a.users.offsets[user];
  const int lane = static_cast<int>(threadIdx.x), words = Share::words(a.factors);
  const int member = lane % Shape::kLanes, group = lane / Shape::kLanes;
  const float share = 1 / sqrtf(fmaxf(1, static_cast<float>(count)));
  cuda::Rounder exact{0, false};
  Share row, rows[kAhead];
  float p[kValues], z[kValues] = {}, before[kValues], x[kValues], changed[kValues];

#pragma unroll 4
  for (std::int64_t j = group; j < count; j += kGroups) {
    row.load(a.y, ratings[j].other, member, words);
    row.unpack(x);
    each<kValues>([&](int k) { z[k] += x[k]; });
  }
  each<kValues>([&](int k) {
#pragma unroll
    for (int to = Shape::kLanes; to < 32; to *= 2) z[k] += __shfl_xor_sync(kAll, z[k], to);
    before[k] = z[k] *= share;
  });
  row.load(a.p, user, member, words);
  row.unpack(p);
  if constexpr (!kTrains) {
    each<kValues>([&](int k) { p[k] += z[k]; });
    if (group == 0) Share::store(a.shown, user, member, words, p, exact);
    return;
  }

  RowRating rating[kAhead];
  float bias[kAhead], user_bias = a.user_bias[user];
  const auto fetch = [&](int i, std::int64_t at) {
    if (at >= count) return;
    rating[i] = ratings[at];
    bias[i] = __ldcg(a.item_bias + rating[i].other);
    rows[i].load(a.q, rating[i].other, member, words);
  };
  const auto update = [&](int i) {
    float dot = 0;
    rows[i].unpack(x);
    each<kValues>([&](int k) { dot = fmaf(x[k], p[k] + z[k], dot); });
    dot = cuda::sum_over_lanes<Shape::kLanes>(dot);
    const float gain =
        step.rate * sgd::rating_error<true>(step, rating[i].value, user_bias, bias[i], dot);
    each<kValues>([&](int k) {
      changed[k] = sgd::stepped(x[k], p[k] + z[k], gain, step.shrink_q);
      p[k] = sgd::stepped(p[k], x[k], gain, step.shrink_p);
      z[k] = sgd::stepped(z[k], x[k], gain, step.shrink_y);
    });
    user_bias = sgd::stepped(user_bias, 1.0F, gain, step.shrink_user_bias);
    if (group == 0) rows[i].add_change(a.q, rating[i].other, member, words, changed, exact);
    const float change = sgd::gradient(bias[i], 1.0F, gain, step.shrink_item_bias);
    if (lane == 0) atomicAdd(a.item_bias + rating[i].other, change);
  };
  each<kAhead>([&](int i) { fetch(i, i); });
#pragma unroll 1
  for (std::int64_t first = 0; first < count; first += kAhead) {
    each<kAhead>([&](int i) {
      if (first + i < count) update(i);
      fetch(i, first + i + kAhead);
    });
  }
  if (group == 0) Share::store(a.p, user, member, words, p, exact);
  if (lane == 0) a.user_bias[user] = user_bias;

  const float kept = powf(1 - step.shrink_y, static_cast<float>(count));
  for (std::int64_t j = group; j < count; j += kGroups) {
    row.load(a.y, ratings[j].other, member, words);
    row.unpack(x);
    each<kValues>([&](int k) { x[k] = kept * x[k] + share * (z[k] - kept * before[k]); });
    row.add_change(a.y, ratings[j].other, member, words, x, exact);
  }
  __syncwarp();  // other lanes load these rows for the next user
}

template <class Shape, bool kTrains>
__global__ void __launch_bounds__(32)
    kernel(const Arrays a, const Step step, const Permutation order) {
  while (true) {
    const unsigned taken = threadIdx.x == 0 ? atomicAdd(a.next, 1U) : 0;
    const unsigned turn = __shfl_sync(kAll, taken, 0);
    if (turn >= a.users.rows) return;
    visit<Shape, kTrains>(a, step, order(turn));
  }
}

class Svdpp : public Algorithm {
 public:
  explicit Svdpp(const Params& params)
      : params_(params),
        f_(static_cast<std::int32_t>(params.integer("factors"))),
        workers_(params.integer("workers")) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::biased, f_, train, initial);
    stream_ = context.stream;
    ratings_ = cuda::ratings_on_device(train, context);
    work_ = epoch_work(f_, train.nnz(), ratings_->rating_users(stream_),
                       ratings_->rated_items(stream_));
    if (workers_ == 0) workers_ = default_workers({train.n_users(), train.n_items(), train.nnz()});
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    model_ = cuda::DeviceModel<float>(initial, uploader);
    y_ =
        cuda::initial_rows<float>(first_y(initial), cuda::RowsOf::items, model_.stride(), uploader);
    shown_ = cuda::DeviceBuffer<float>(train.n_users() * model_.stride());
    next_ = cuda::DeviceBuffer<unsigned>(1);
    launch<true>({}, {}, {}, 1);  // without users: loads the kernel
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    if (context.stop_requested && context.stop_requested()) return 0;
    const cuda::RatingsOfRows users = ratings_->rows();
    launch<true>(users, step_of(params_, args.learning_rate, model_.shape().mean),
                 epoch_order(users.rows, context.seed, args.epoch), workers_);
    return users.nnz;
  }

  // Y has moved since a user's turn: z is summed anew.
  FactorView factors() override {
    const cuda::RatingsOfRows users = ratings_->rows();
    launch<false>(users, {}, epoch_order(users.rows, 0, 0), users.rows);
    FactorView view = model_.view(stream_);
    view.p = shown_.data();
    return view;
  }

  Work work_per_epoch() const override { return work_; }

 private:
  template <bool kTrains>
  void launch(const cuda::RatingsOfRows& users, const Step& step, const Permutation& order,
              std::int64_t workers) {
    Arrays a = {users, f_, shown_.data(), next_.data(), y_.data(), model_.p(), model_.q()};
    a.user_bias = model_.user_bias(), a.item_bias = model_.item_bias();
    MF_CUDA(cudaMemsetAsync(next_.data(), 0, next_.bytes(), stream_));
    const std::int64_t words = row_stride(f_, sizeof(float)) / 4;
    cuda::with_group_row<float, kMaxFactorsDevice>(words, [&](auto shape) {
      constexpr auto* kKernel = kernel<decltype(shape), kTrains>;
      static const std::int64_t resident = cuda::resident_blocks(kKernel, 32);
      kKernel<<<cuda::blocks_for(workers, 1, resident), 32, 0, stream_>>>(a, step, order);
    });
    MF_CUDA_LAUNCHED("svdpp");
  }

  Params params_;
  std::int32_t f_;
  std::int64_t workers_;
  Work work_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<cuda::DeviceRatings> ratings_;
  cuda::DeviceModel<float> model_;
  cuda::DeviceBuffer<float> y_, shown_;
  cuda::DeviceBuffer<unsigned> next_;
};

const RegisterFactory kSvdpp("svdpp",
                             [](const Params& params) { return std::make_unique<Svdpp>(params); });

}  // namespace
}  // namespace mf::svdpp
