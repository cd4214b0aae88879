#include "algorithms/gpusgd/block_sgd.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "algorithms/core/registry.hpp"

namespace mf::gpusgd {
namespace {

using cuda::DeviceBuffer;

template <class T>
void upload_as_is(cuda::Staging& staging, DeviceBuffer<T>& to, const AlignedVector<T>& from,
                  ThreadTeam& team, cudaStream_t stream) {
  to = DeviceBuffer<T>(from.size());
  staging.upload(to, team, stream, [&](std::int64_t begin, std::int64_t end, T* out) {
    std::copy(from.begin() + begin, from.begin() + end, out);
  });
}

// Rows of `stride` elements, zero beyond `width`, from packed rows of `width`.
template <class Real>
void upload_rows(cuda::Staging& staging, DeviceBuffer<Real>& to, const AlignedVector<float>& from,
                 std::int64_t width, std::int64_t stride, ThreadTeam& team, cudaStream_t stream) {
  const auto rows = static_cast<std::int64_t>(from.size()) / width;
  to = DeviceBuffer<Real>(static_cast<std::size_t>(rows * stride));
  staging.upload(to, team, stream, [&](std::int64_t begin, std::int64_t end, Real* out) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % stride;
      const std::int64_t at = i / stride * width + column;
      *out++ = column < width ? static_cast<Real>(from[static_cast<std::size_t>(at)]) : Real{0};
    }
  });
}

// The fp32 numbers that a view shows: the factors themselves, or a rounded copy of fp64.
const float* shown(const DeviceBuffer<float>& own, DeviceBuffer<float>&, cudaStream_t) {
  return own.data();
}

const float* shown(const DeviceBuffer<double>& own, DeviceBuffer<float>& copy,
                   cudaStream_t stream) {
  if (copy.size() != own.size()) copy = DeviceBuffer<float>(own.size());
  launch_narrow(own.data(), copy.data(), static_cast<std::int64_t>(own.size()), stream);
  return copy.data();
}

Json facts_of(const Cut& cut, const BlockCounts& blocks, const LaneCounts& lanes) {
  const auto share = [](std::int64_t part, std::int64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
  };
  return {{"blocks", blocks.all},
          {"block_users", cut.rows},
          {"block_items", cut.columns},
          {"blank_blocks", blocks.blank},
          {"padding_blocks", blocks.padding},
          {"lane_steps", lanes.lane_steps},
          {"idle_lane_steps", lanes.idle},
          {"idle_lane_share", share(lanes.idle, lanes.lane_steps)},
          {"serial_steps", lanes.serial_steps}};
}

}  // namespace

template <class Real>
void BlockSgd<Real>::prepare(const Ratings& train, const Model& initial, Context& context) {
  check_initial(settings_.model, settings_.factors, train, initial);
  stream_ = static_cast<cudaStream_t>(context.stream);
  n_users_ = train.n_users();
  n_items_ = train.n_items();
  nnz_ = train.nnz();
  mean_ = settings_.biased() ? initial.mean : 0;
  work_ = epoch_work(settings_, train);

  ThreadTeam& team = *context.team;
  const bool grouped = scheme_ == Scheme::grouped;
  const Cut cut = grouped ? square_cut(n_users_, n_items_, settings_.blocks)
                          : rectangular_cut(n_users_, n_items_, settings_.blocks);
  Partition partition = make_partition(train, cut, team);
  Groups groups;
  if (grouped) groups = group_blocks(partition, team);
  if (settings_.order == Order::shuffled) shuffle_blocks(partition, context.seed, team);
  facts_ = facts_of(
      cut, count_blocks(partition, n_users_, n_items_, team),
      grouped ? count_grouped_lanes(partition, groups, settings_.threads_per_block, team)
              : count_tree_lanes(partition, settings_.factors, settings_.threads_per_block, team));
  {
    const PhaseScope phase(context.phases, "transfer");
    const auto rows = static_cast<std::size_t>(std::max(n_users_, n_items_));
    const auto row =
        static_cast<std::size_t>(row_stride(settings_.factors, sizeof(Real))) * sizeof(Real);
    cuda::Staging staging(std::max(partition.ratings.size() * sizeof(Rating), rows * row));
    upload_tables(partition, groups, staging, team);
    upload_model(initial, staging, team);
  }
  capture_epoch();
}

template <class Real>
void BlockSgd<Real>::upload_tables(const Partition& partition, const Groups& groups,
                                   cuda::Staging& staging, ThreadTeam& team) {
  upload_as_is(staging, ratings_, partition.ratings, team, stream_);
  if (scheme_ == Scheme::grouped) {
    upload_as_is(staging, first_group_, groups.first, team, stream_);
    upload_as_is(staging, group_begins_, groups.begins, team, stream_);
  } else {
    upload_as_is(staging, offsets_, partition.offsets, team, stream_);
  }
}

template <class Real>
void BlockSgd<Real>::upload_model(const Model& initial, cuda::Staging& staging, ThreadTeam& team) {
  const std::int64_t stride = row_stride(settings_.factors, sizeof(Real));
  upload_rows(staging, p_, initial.p, settings_.factors, stride, team, stream_);
  upload_rows(staging, q_, initial.q, settings_.factors, stride, team, stream_);
  if (settings_.biased()) {
    upload_rows(staging, user_bias_, initial.user_bias, 1, 1, team, stream_);
    upload_rows(staging, item_bias_, initial.item_bias, 1, 1, team, stream_);
  }
  hyper_ = DeviceBuffer<Hyper<Real>>(1);
  rate_.reset();
}

// A launch a diagonal: the next one begins when all blocks of the last have ended.
template <class Real>
void BlockSgd<Real>::capture_epoch() {
  epoch_.capture(stream_, [&] {
    for (std::int32_t tag = 0; tag < settings_.blocks; ++tag) {
      launch_diagonal(scheme_, settings_.biased(), settings_.threads_per_block, arrays(), tag,
                      stream_);
    }
  });
}

template <class Real>
Arrays<Real> BlockSgd<Real>::arrays() {
  Arrays<Real> a;
  a.factors = settings_.factors;
  a.blocks = settings_.blocks;
  a.stride = row_stride(settings_.factors, sizeof(Real));
  a.ratings = ratings_.data();
  a.offsets = offsets_.data();
  a.first_group = first_group_.data();
  a.group_begins = group_begins_.data();
  a.hyper = hyper_.data();
  a.p = p_.data();
  a.q = q_.data();
  a.user_bias = user_bias_.data();
  a.item_bias = item_bias_.data();
  return a;
}

template <class Real>
std::int64_t BlockSgd<Real>::run_epoch(const EpochArgs& args, Context&) {
  if (rate_ != args.learning_rate) {
    const auto hyper = make_hyper<Real>(args.learning_rate, mean_, settings_.reg);
    cuda::copy_to_device(hyper_, View<const Hyper<Real>>(&hyper, 1), stream_);
    rate_ = args.learning_rate;
  }
  epoch_.launch(stream_);
  return nnz_;
}

template <class Real>
FactorView BlockSgd<Real>::factors() {
  FactorView view;
  view.location = Location::device;
  view.n_users = n_users_;
  view.n_items = n_items_;
  view.factors = settings_.factors;
  view.p = shown(p_, p_view_, stream_);
  view.q = shown(q_, q_view_, stream_);
  view.p_stride = view.q_stride = row_stride(settings_.factors, sizeof(Real));
  if (settings_.biased()) {
    view.user_bias = shown(user_bias_, user_bias_view_, stream_);
    view.item_bias = shown(item_bias_, item_bias_view_, stream_);
    view.mean = mean_;
  }
  // The view may be read on another stream.
  if constexpr (std::is_same_v<Real, double>) MF_CUDA(cudaStreamSynchronize(stream_));
  return view;
}

template class BlockSgd<float>;
template class BlockSgd<double>;

namespace {

AlgorithmFactory factory(Scheme scheme) {
  return [scheme](const Params& params) -> std::unique_ptr<Algorithm> {
    const Settings settings = read_settings(scheme, params);
    if (settings.precision == Precision::fp64) {
      return std::make_unique<BlockSgd<double>>(scheme, settings);
    }
    return std::make_unique<BlockSgd<float>>(scheme, settings);
  };
}

const RegisterFactory kGrouped(scheme_name(Scheme::grouped), factory(Scheme::grouped));
const RegisterFactory kTree(scheme_name(Scheme::tree), factory(Scheme::tree));

}  // namespace
}  // namespace mf::gpusgd
