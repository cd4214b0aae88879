#include "algorithms/als/fused/steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/als/fused/entries.hpp"
#include "algorithms/core/cuda/ratings/cut_rows.hpp"
#include "algorithms/core/ranks/exchange_parts.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf::als {
namespace {

std::int64_t words_of(const FusedSettings& settings) {
  return settings.precision == FusedPrecision::fp16 ? 1 : 2;
}

// For this total of ratings.
AppliedChoice applied_choice(const FusedSettings& settings, bool group, std::int64_t ratings) {
  const Common& common = settings.common;
  return {normal_of(settings, ratings),
          settings.precision,
          common.factors,
          common.cg.steps,
          common.reg >= kLeastDualReg,
          group};
}

float largest_of_all(float own, cuda::DeviceCommunicator* devices) {
  if (devices == nullptr) return own;
  std::vector<float> of_rank(devices->size(), 0.0F);
  of_rank[devices->rank()] = own;
  PartOffsets one_each;
  for (int rank = 0; rank <= devices->size(); ++rank) one_each.push_back(rank);
  devices->host().all_gather(std::span(of_rank), one_each);
  return *std::max_element(of_rank.begin(), of_rank.end());
}

// Multiprocessor cycles a second of an H200, at 1.8 GHz. The same on all ranks, for any devices,
// since the cuts must not differ.
constexpr double kDeviceCycles = kMultiprocessors * 1.8e9;

cuda::DeviceCommunicator* devices_of(cuda::DeviceRatings&) { return nullptr; }
cuda::DeviceCommunicator* devices_of(cuda::StreamedRatings&) { return nullptr; }
cuda::DeviceCommunicator* devices_of(cuda::RankRatings& ratings) { return &ratings.devices(); }

RowShards user_shards(cuda::DeviceRatings& ratings) { return one_shard(ratings.n_users()); }
RowShards item_shards(cuda::DeviceRatings& ratings) { return one_shard(ratings.n_items()); }
RowShards user_shards(cuda::StreamedRatings& ratings) {
  return ratings.shards(cuda::RowsOf::users);
}
RowShards item_shards(cuda::StreamedRatings& ratings) {
  return ratings.shards(cuda::RowsOf::items);
}
RowShards user_shards(cuda::RankRatings& ratings) { return ratings.user_shards(); }
RowShards item_shards(cuda::RankRatings& ratings) { return ratings.item_shards(); }

template <class RatingsOnDevice>
float largest_of_users(RatingsOnDevice& ratings, const DeviceResidual& center,
                       cudaStream_t stream) {
  return largest_rating(ratings.rows(), true, center, stream);
}
float largest_of_users(cuda::StreamedRatings& ratings, const DeviceResidual& center,
                       cudaStream_t stream) {
  float largest = 0;
  ratings.for_pieces(cuda::RowsOf::users, stream, [&](const cuda::StreamedRatings::Piece& piece) {
    largest = std::max(largest,
                       largest_rating(piece.rows, true, center.from(piece.first_row, 0), stream));
  });
  return largest;
}

}  // namespace

FusedSteps::FusedSteps(const FusedSettings& settings,
                       std::shared_ptr<cuda::StreamedRatings> ratings, const DeviceResidual& center,
                       const Model& initial, Context& context)
    : settings_(settings), streamed_(std::move(ratings)), center_(center) {
  make(*streamed_, center, initial, context);
}

FusedSteps::FusedSteps(const FusedSettings& settings, cuda::DeviceRatings& ratings,
                       const DeviceResidual& center, const Model& initial, Context& context)
    : settings_(settings) {
  make(ratings, center, initial, context);
}

FusedSteps::FusedSteps(const FusedSettings& settings, cuda::RankRatings& ratings,
                       const DeviceResidual& center, const Model& initial, Context& context)
    : settings_(settings) {
  make(ratings, center, initial, context);
}

RowShards FusedSteps::shard(const FusedSettings& settings, View<const std::int64_t> offsets,
                            Communicator& ranks, ThreadTeam& team) {
  // As rank 0's device has it: others may differ, the cuts may not.
  struct {
    std::int64_t applied_up_to;
    bool group;
  } rule{};
  rule.group = group_products(settings.products, settings.precision, settings.common.factors);
  const std::int64_t ratings = offsets[offsets.size() - 1] - offsets[0];
  rule.applied_up_to =
      longest_applied(applied_choice(settings, rule.group, ratings), applied_limits());
  ranks.broadcast(rule);
  const AppliedChoice choice = applied_choice(settings, rule.group, ratings);
  const std::int64_t words = words_of(settings);
  const Common& common = settings.common;
  const double row_bytes = static_cast<double>(2 * words * fused_stride(common.factors));
  const auto cycles = [&](std::int64_t count) {
    return row_cycles(count, choice, rule.applied_up_to);
  };
  const auto parts = [&](double cycles_of_all) {
    return parts_to_exchange({ranks.size(), cycles_of_all / (ranks.size() * kDeviceCycles),
                              static_cast<double>(offsets.size() - 1) * row_bytes});
  };
  return shard_rows(offsets, cycles, ranks, parts, team);
}

template <class RatingsOnDevice>
void FusedSteps::make(RatingsOnDevice& ratings, const DeviceResidual& center, const Model& initial,
                      Context& context) {
  const cudaStream_t stream = context.stream;
  devices_ = devices_of(ratings);
  if (devices_ != nullptr) events_.emplace();
  ratings_ = ratings.nnz();
  users_.shards = user_shards(ratings);
  items_.shards = item_shards(ratings);
  const DeviceResidual of_users = center.from(own(users_).begin, 0);
  const DeviceResidual of_items = center.from(0, own(items_).begin);
  set_rule(largest_of_all(largest_of_users(ratings, of_users, stream), devices_));
  const cuda::RatingsOfRows columns = ratings.columns(stream);
  {
    const PhaseScope phase(context.phases, "sides");
    make_side(items_, columns, cuda::RowsOf::items, of_items, stream);
    ratings.release_columns();
    make_side(users_, ratings.rows(), cuda::RowsOf::users, of_users, stream);
    ratings.release_rows();
  }
  cuda::Uploader uploader(*context.team, stream);
  start(users_, cuda::RowsOf::users, initial, uploader);
  start(items_, cuda::RowsOf::items, initial, uploader);
  std::int64_t slots = 0;
  for (const DeviceSide* side : {&users_, &items_}) {
    for (const RowBatch& part : side->parts) slots = std::max<std::int64_t>(slots, part.slots);
  }
  scratch_ = cuda::DeviceBuffer<float>(slots * fused_slot_floats(settings_.precision, rule_));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::zeros<std::uint32_t>(slots, stream);
}

void FusedSteps::set_rule(float largest) {
  if (!std::isfinite(largest)) {
    fail(ErrorKind::data,
         "als_fused: found a rating that is not a finite number after what `center` removes; "
         "expected finite ratings; remove it, or scale the ratings");
  }
  const Common& common = settings_.common;
  rule_.factors = common.factors;
  rule_.steps = common.cg.steps;
  rule_.group = group_products(settings_.products, settings_.precision, common.factors);
  scale_ = scale_for(largest);
  rule_.reg = static_cast<float>(common.reg * rating_scale(scale_));
  rule_.reg_power = static_cast<float>(common.reg_power);
  rule_.tolerance = static_cast<float>(common.cg.tolerance * residual_scale(scale_));
  rule_.down = static_cast<float>(factor_scale(scale_));
  rule_.up = 1 / rule_.down;
}

void FusedSteps::make_side(DeviceSide& side, const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                           const DeviceResidual& center, cudaStream_t stream) const {
  const std::int64_t first = own(side).begin;
  const AppliedChoice choice = applied_choice(settings_, rule_.group, ratings_);
  const AppliedLimits limits = applied_limits();
  const std::int64_t applied_up_to = longest_applied(choice, limits);
  const AppliedCapacities most = applied_capacities(limits, choice);
  const std::int64_t longest = std::min(longest_part(rule_.factors, settings_.split_rows),
                                        std::max(part_of_few(settings_, ratings_), applied_up_to));
  for (int number = 0; number < side.shards.parts_of_rank(); ++number) {
    RowBatch part;
    part.rows = side.shards.part(rank(), number);
    cuda::DeviceParts cut = cuda::cut_rows(rows.offsets + (part.rows.begin - first),
                                           part.rows.size(), longest, stream, applied_up_to);
    part.slots = cut.slots;
    part.tasks = std::move(cut.parts);
    part.applied =
        find_applied(part.tasks.data(), std::ssize(part.tasks), applied_up_to, most, stream);
    side.parts.push_back(std::move(part));
  }
  side.own_ratings = rows.nnz;
  if (rows.ratings == nullptr) return;
  side.entries = cuda::DeviceBuffer<FusedEntry>(rows.nnz);
  make_entries(rows, which == cuda::RowsOf::users, center, static_cast<float>(rating_scale(scale_)),
               side.entries.data(), stream);
}

// The rank that solves a row starts from it, and all read the first rows of the side that is solved
// last. Rank 0 has the others' rows after gather().
void FusedSteps::start(DeviceSide& side, cuda::RowsOf which, const Model& initial,
                       cuda::Uploader& uploader) const {
  const std::int64_t rows = which == cuda::RowsOf::users ? initial.n_users : initial.n_items;
  const cudaStream_t stream = uploader.stream();
  side.held = rank() == 0 ? RowRange{0, rows} : own(side);
  const std::int64_t words = rows * fused_stride(rule_.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == FusedPrecision::fp16x2) side.low = cuda::DeviceBuffer<__half>(words);
  const bool solved_first =
      (which == cuda::RowsOf::users) == (settings_.common.first == FirstSide::users);
  if (solved_first && own(side).size() < rows) {
    side.factors = cuda::DeviceBuffer<float>(side.held.size() * stride());
    float* const own_rows = side.factors.data() + (own(side).begin - side.held.begin) * stride();
    cuda::make_initial_rows(initial, which, own(side), stride(), uploader, own_rows);
    for (auto* words_of_all : {&side.high, &side.low}) {
      if (words_of_all->empty()) continue;
      MF_CUDA(cudaMemsetAsync(words_of_all->data(), 0, words_of_all->bytes(), stream));
    }
    return;
  }
  auto all = cuda::initial_rows<float>(initial, which, stride(), uploader);
  narrow(all.data(), stride(), rule_.down, side.narrow(), rows, rule_.factors, stream);
  if (side.held.size() == rows) {
    side.factors = std::move(all);
    return;
  }
  side.factors = cuda::DeviceBuffer<float>(side.held.size() * stride());
  if (side.factors.empty()) return;
  MF_CUDA(cudaMemcpyAsync(side.factors.data(), all.data() + side.held.begin * stride(),
                          side.factors.bytes(), cudaMemcpyDeviceToDevice, stream));
}

FusedSide FusedSteps::arguments(DeviceSide& to, RowBatch& part, DeviceSide& from) {
  const std::int64_t narrow_begin = part.rows.begin * fused_stride(rule_.factors);
  FusedSide side;
  side.tasks = part.tasks.data();
  side.n_tasks = std::ssize(part.tasks);
  side.entries = to.entries.data();
  side.from = from.narrow();
  side.to = to.narrow();
  side.to.high += narrow_begin;
  if (side.to.low != nullptr) side.to.low += narrow_begin;
  side.rows = to.factors.data() + (part.rows.begin - to.held.begin) * stride();
  side.rows_stride = stride();
  side.next = next_.data();
  side.scratch = scratch_.data();
  side.arrived = arrived_.data();
  return side;
}

// The packed words of the other side's rows get the ones, too.
void FusedSteps::put_biases(DeviceSide& to, DeviceSide& from, cudaStream_t stream) {
  biases_->put_biases(&to == &users_, to.factors.data(), from.factors.data(), stride(), stream,
                      [&](const float* old_bias, const float* bias) {
                        change_bias(to.entries.data(), to.own_ratings,
                                    static_cast<float>(rating_scale(scale_)), old_bias, bias,
                                    stream);
                      });
  narrow(from.factors.data(), stride(), rule_.down, from.narrow(), from.held.size(), rule_.factors,
         stream);
}

void FusedSteps::update(DeviceSide& to, DeviceSide& from, cudaStream_t stream) {
  if (streamed_ != nullptr) return update_in_pieces(to, from, stream);
  if (biases_ != nullptr) put_biases(to, from, stream);
  for (int number = 0; number < to.shards.parts_of_rank(); ++number) {
    RowBatch& part = to.parts[number];
    solve(arguments(to, part, from), part, stream);
    if (devices_ != nullptr) exchange(to, number, stream);
  }
  if (biases_ == nullptr) return;
  biases_->take_biases(&to == &users_, to.factors.data(), stride(), stream);
}

// The entries of a piece take the place of its ratings. Tasks number the entries of all pieces.
void FusedSteps::update_in_pieces(DeviceSide& to, DeviceSide& from, cudaStream_t stream) {
  const bool of_users = &to == &users_;
  const auto which = of_users ? cuda::RowsOf::users : cuda::RowsOf::items;
  streamed_->for_pieces(which, stream, [&](const cuda::StreamedRatings::Piece& piece) {
    const DeviceResidual center =
        of_users ? center_.from(piece.first_row, 0) : center_.from(0, piece.first_row);
    FusedEntry* const entries = reinterpret_cast<FusedEntry*>(piece.memory) - piece.rows.first;
    make_entries(piece.rows, of_users, center, static_cast<float>(rating_scale(scale_)), entries,
                 stream);
    RowBatch& part = to.parts[piece.number];
    FusedSide side = arguments(to, part, from);
    side.entries = entries;
    solve(side, part, stream);
  });
}

// Over ranks the applied rows go first: their thread blocks end soon, so that the exchange of the
// part before finds room among them. Thread blocks of formed rows hold every multiprocessor until
// all are done.
void FusedSteps::solve(const FusedSide& side, const RowBatch& part, cudaStream_t stream) const {
  FusedSide formed = side;
  formed.n_tasks = part.applied.formed;
  AppliedRule applied;
  applied.factors = rule_.factors;
  applied.reg = rule_.reg;
  applied.reg_power = rule_.reg_power;
  applied.steps = rule_.steps;
  applied.tolerance = rule_.tolerance;
  applied.down = rule_.down;
  applied.up = rule_.up;
  applied.equal_weights = true;
  if (devices_ == nullptr) launch_fused(settings_.precision, rule_, formed, stream);
  launch_applied(applied, side, part.applied.plan, stream);
  if (devices_ != nullptr) launch_fused(settings_.precision, rule_, formed, stream);
}

// On the stream of the devices, beside the next part; which begins when the exchange may: were it
// there first, the exchange would wait for room.
void FusedSteps::exchange(DeviceSide& side, int part, cudaStream_t stream) {
  const cudaStream_t beside = devices_->stream();
  events_->solved.record(stream);
  MF_CUDA(cudaStreamWaitEvent(beside, events_->solved.get(), 0));
  events_->begun.record(beside);
  const std::int64_t row_bytes = 2 * fused_stride(rule_.factors);
  for (auto* words : {&side.high, &side.low}) {
    if (words->empty()) continue;
    devices_->all_gather(words->data(), row_bytes, side.shards, part, beside);
  }
  MF_CUDA(cudaStreamWaitEvent(stream, events_->begun.get(), 0));
}

void FusedSteps::join(cudaStream_t stream) {
  if (devices_ == nullptr) return;
  events_->done.record(devices_->stream());
  MF_CUDA(cudaStreamWaitEvent(stream, events_->done.get(), 0));
  devices_->pace(stream);
}

void FusedSteps::gather(cudaStream_t stream) {
  gather(users_, stream);
  gather(items_, stream);
}

void FusedSteps::gather(DeviceSide& side, cudaStream_t stream) {
  devices_->gather(side.factors.data(), side.held.begin,
                   stride() * static_cast<std::int64_t>(sizeof(float)), side.shards, stream);
}

std::int64_t FusedSteps::DeviceSide::sum(std::int64_t (*of)(const RowBatch&)) const {
  std::int64_t sum = 0;
  for (const RowBatch& part : parts) sum += of(part);
  return sum;
}

Json FusedSteps::facts() const {
  const auto tasks = [](const RowBatch& part) { return std::ssize(part.tasks); };
  const auto applied = [](const RowBatch& part) {
    return std::ssize(part.tasks) - part.applied.formed;
  };
  const auto slots = [](const RowBatch& part) -> std::int64_t { return part.slots; };
  Json facts = {{"user_tasks", users_.sum(tasks)},
                {"user_tasks_applied", users_.sum(applied)},
                {"user_parts_of_split_rows", users_.sum(slots)},
                {"item_tasks", items_.sum(tasks)},
                {"item_tasks_applied", items_.sum(applied)},
                {"item_parts_of_split_rows", items_.sum(slots)},
                {"products", rule_.group ? "group" : "warp"},
                {"rating_scale", rating_scale(scale_)}};
  if (streamed_ != nullptr) facts.update(streamed_->facts());
  if (devices_ == nullptr) return facts;
  facts["own_users"] = own(users_).size();
  facts["own_items"] = own(items_).size();
  facts["own_ratings_by_user"] = users_.own_ratings;
  facts["own_ratings_by_item"] = items_.own_ratings;
  facts["user_exchange_parts"] = users_.shards.parts_of_rank();
  facts["item_exchange_parts"] = items_.shards.parts_of_rank();
  return facts;
}

}  // namespace mf::als
