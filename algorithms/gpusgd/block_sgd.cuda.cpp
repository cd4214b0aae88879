#include "algorithms/gpusgd/block_sgd.hpp"

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

#include "algorithms/core/registry.hpp"

namespace mf::gpusgd {

template <class Real>
void BlockSgd<Real>::prepare(const Ratings& train, const Model& initial, Context& context) {
  check_initial(ModelKind::plain, settings_.factors, train, initial);
  stream_ = context.stream;
  const auto ratings = cuda::ratings_on_device(train, context);
  work_ = epoch_work(settings_, rated_shape(train, context));
  DeviceArrangement made = arrange_on_device(settings_, *ratings, stream_);
  facts_ =
      facts_of(settings_, made.cut, made.counts, {train.n_users(), train.n_items(), train.nnz()});
  cuda::Uploader uploader(*context.team, stream_);
  const Arrays<Real> arrays = start(std::move(made), initial, uploader);
  // A launch a diagonal: the next one begins when all blocks of the last have ended.
  epoch_.capture(stream_, [&] {
    for (std::int32_t tag = 0; tag < settings_.blocks; ++tag) {
      launch_diagonal(settings_, arrays, tag, stream_);
    }
  });
}

template <class Real>
Arrays<Real> BlockSgd<Real>::start(DeviceArrangement made, const Model& initial,
                                   cuda::Uploader& uploader) {
  ratings_ = std::move(made.ratings);
  offsets_ = std::move(made.offsets);
  first_group_ = std::move(made.first_group);
  group_begins_ = std::move(made.group_begins);
  model_ = cuda::DeviceModel<Real>(initial, uploader);
  step_ = cuda::DeviceBuffer<sgd::Step<Real>>(1);
  rate_.reset();
  return {.factors = settings_.factors,
          .blocks = settings_.blocks,
          .stride = model_.stride(),
          .ratings = ratings_.data(),
          .offsets = offsets_.data(),
          .first_group = first_group_.data(),
          .group_begins = group_begins_.data(),
          .step = step_.data(),
          .p = model_.p(),
          .q = model_.q()};
}

template <class Real>
std::int64_t BlockSgd<Real>::run_epoch(const EpochArgs& args, Context&) {
  if (rate_ != args.learning_rate) {
    const auto step = step_at<Real>(args.learning_rate, settings_.reg, model_.shape().mean);
    cuda::copy_to_device(step_, View<const sgd::Step<Real>>(&step, 1), stream_);
    rate_ = args.learning_rate;
  }
  epoch_.launch(stream_);
  return static_cast<std::int64_t>(ratings_.size());
}

template <class Real>
FactorView BlockSgd<Real>::factors() {
  const FactorView view = model_.view(stream_);
  // The view may be read on another stream.
  if constexpr (std::is_same_v<Real, double>) MF_CUDA(cudaStreamSynchronize(stream_));
  return view;
}

template class BlockSgd<float>;
template class BlockSgd<double>;

namespace {

RegisterFactory factory(Scheme scheme) {
  return {kSchemes.of(scheme), [scheme](const Params& params) -> std::unique_ptr<Algorithm> {
            const Settings settings = read_settings(scheme, params);
            if (settings.precision == Precision::fp32) {
              return std::make_unique<BlockSgd<float>>(settings);
            }
            return std::make_unique<BlockSgd<double>>(settings);
          }};
}

const RegisterFactory kGrouped = factory(Scheme::grouped);
const RegisterFactory kTree = factory(Scheme::tree);

}  // namespace
}  // namespace mf::gpusgd
