// Mini-batch SGD. With the values before the batch, e = r - p_u . q_i, and a batch B,
//   p_u += sum over the ratings of u in B  rate (e q_i - reg p_u)
//   q_i += sum over the ratings of i in B  rate (e p_u - reg q_i)
// Mapping: a warp a rating, lanes over factors. One kernel adds up the gradients of a batch, a
// second one moves the sums to the rows. An update computes 10 f + 2 operations; README.md counts
// its bytes.
#include "algorithms/core/cuda/device_model.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/core/random.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf {
namespace {

constexpr int kThreads = 256;

// One side: its rows, and for each the sum of a batch, zero between batches.
struct Rows {
  float* values;
  float* sums;
  std::int64_t stride;
};

struct Batch {
  const Rating* ratings;
  Permutation order;  // of this epoch
  std::int64_t first, count;
};

// The rating of this warp, or none.
__device__ const Rating* own_rating(const Batch& batch) {
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  return warp < batch.count ? batch.ratings + batch.order(batch.first + warp) : nullptr;
}

__global__ void sum_gradients(Rows p, Rows q, std::int32_t f, Batch batch, sgd::Step<float> step) {
  const Rating* rating = own_rating(batch);
  if (rating == nullptr) return;  // the whole warp
  const std::int64_t user = rating->user * p.stride;
  const std::int64_t item = rating->item * q.stride;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float dot = 0;
  for (int k = lane; k < f; k += 32) dot = fmaf(p.values[user + k], q.values[item + k], dot);
  dot = cuda::sum_over_lanes<32>(dot);
  const float gain = step.rate * sgd::rating_error<false>(step, rating->value, 0.0F, 0.0F, dot);
  for (int k = lane; k < f; k += 32) {
    const float p_old = p.values[user + k];
    const float q_old = q.values[item + k];
    atomicAdd(p.sums + user + k, sgd::gradient(p_old, q_old, gain, step.shrink_p));
    atomicAdd(q.sums + item + k, sgd::gradient(q_old, p_old, gain, step.shrink_q));
  }
}

// A row may have several ratings in the batch: the warp that takes its sum is the one that writes.
__device__ void apply_sum(float* value, float* sum) {
  const float change = atomicExch(sum, 0.0F);
  if (change != 0.0F) *value += change;
}

__global__ void apply_gradients(Rows p, Rows q, std::int32_t f, Batch batch) {
  const Rating* rating = own_rating(batch);
  if (rating == nullptr) return;
  const std::int64_t user = rating->user * p.stride;
  const std::int64_t item = rating->item * q.stride;
  for (int k = static_cast<int>(threadIdx.x) % 32; k < f; k += 32) {
    apply_sum(p.values + user + k, p.sums + user + k);
    apply_sum(q.values + item + k, q.sums + item + k);
  }
}

class MinibatchSgd : public Algorithm {
 public:
  explicit MinibatchSgd(const Params& params)
      : factors_(static_cast<std::int32_t>(params.integer("factors"))),
        batch_(params.integer("batch")),
        reg_(read_regularizers(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    check_initial(ModelKind::plain, factors_, train, initial);
    work_ = pass_work(rated_shape(train, context), factors_, ModelKind::plain, sizeof(Rating),
                      4.0 * factors_);
    seed_ = context.seed;
    stream_ = context.stream;
    const PhaseScope phase(context.phases, "transfer");
    cuda::Uploader uploader(*context.team, stream_);
    ratings_ = uploader.ratings(train);
    model_ = cuda::DeviceModel<float>(initial, uploader);
    p_sums_ = cuda::zeros<float>(initial.n_users * model_.stride(), stream_);
    q_sums_ = cuda::zeros<float>(initial.n_items * model_.stride(), stream_);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    const auto nnz = static_cast<std::int64_t>(ratings_.size());
    const auto step = step_at(args.learning_rate, reg_, 0);
    const Rows p = {model_.p(), p_sums_.data(), model_.stride()};
    const Rows q = {model_.q(), q_sums_.data(), model_.stride()};
    Batch batch = {ratings_.data(), epoch_order(nnz, seed_, args.epoch), 0, 0};
    for (; batch.first < nnz; batch.first += batch_) {
      batch.count = std::min(batch_, nnz - batch.first);
      const unsigned blocks = cuda::blocks_for(batch.count, kThreads / 32);
      sum_gradients<<<blocks, kThreads, 0, stream_>>>(p, q, factors_, batch, step);
      apply_gradients<<<blocks, kThreads, 0, stream_>>>(p, q, factors_, batch);
      MF_CUDA_LAUNCHED("minibatch_sgd");
    }
    return nnz;
  }

  FactorView factors() override { return model_.view(stream_); }
  Work work_per_epoch() const override { return work_; }

 private:
  std::int32_t factors_;
  std::int64_t batch_;
  Regularizers reg_;
  Work work_;
  std::uint64_t seed_ = 0;
  DeviceStream stream_ = nullptr;
  cuda::DeviceBuffer<Rating> ratings_;
  cuda::DeviceBuffer<float> p_sums_, q_sums_;
  cuda::DeviceModel<float> model_;
};

const RegisterFactory registered("minibatch_sgd", [](const Params& params) {
  return std::make_unique<MinibatchSgd>(params);
});

}  // namespace
}  // namespace mf
