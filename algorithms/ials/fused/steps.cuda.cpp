#include "algorithms/ials/fused/steps.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "algorithms/als/fused/group_layout.hpp"
#include "algorithms/ials/fused/entries.hpp"
#include "algorithms/ials/fused/plan.hpp"
#include "algorithms/ials/fused/tiles.hpp"
#include "base/json/json.hpp"

namespace mf::ials {

namespace {

als::AppliedChoice applied_choice(const FusedSettings& settings, bool group) {
  const Common& common = settings.common;
  constexpr bool kDual = true;  // the diagonal is far from 0
  return {settings.normal, settings.precision, common.factors, common.cg.steps, kDual, group};
}

template <bool TwoWords, std::size_t... I>
void launch_weighted(const als::FusedRule& rule, const als::FusedSide& side, cudaStream_t stream,
                     std::index_sequence<I...>) {
  const int tiles = kernel_tiles(false, rule.factors);
  const auto launch = [&](auto count) {
    if (tiles == count) als::launch_weighted_tiles<count, TwoWords>(rule, side, stream);
  };
  (launch(std::integral_constant<int, kWeightedTileCounts[I]>()), ...);
}

// als_fused's own kernel if all weights are equal, else the weighted one.
void launch_half_step(bool uniform, als::FusedPrecision precision, const als::FusedRule& rule,
                      const als::FusedSide& side, cudaStream_t stream) {
  if (uniform) return als::launch_fused(precision, rule, side, stream);
  const auto counts = std::make_index_sequence<std::size(kWeightedTileCounts)>();
  precision == als::FusedPrecision::fp16 ? launch_weighted<false>(rule, side, stream, counts)
                                         : launch_weighted<true>(rule, side, stream, counts);
}

}  // namespace

// By the rows of als_fused: whether A is formed by its kernel of warpgroups is not known yet.
RowShards FusedSteps::shard(const FusedSettings& settings, View<const std::int64_t> offsets,
                            Communicator& ranks, ThreadTeam& team) {
  const als::AppliedChoice choice = applied_choice(settings, false);
  std::int64_t up_to = als::longest_applied(choice, als::applied_limits());
  ranks.broadcast(up_to);  // devices may differ, the cuts may not
  return shard_rows(
      offsets, [&](std::int64_t count) { return als::row_cycles(count, choice, up_to); }, ranks, 1,
      team);
}

FusedSteps::FusedSteps(const FusedSettings& settings, DevicePairs& pairs, const Model& initial,
                       Context& context)
    : FusedSteps(settings, pairs, one_shard(initial.n_users), one_shard(initial.n_items), nullptr,
                 initial, context) {}

FusedSteps::FusedSteps(const FusedSettings& settings, DevicePairs& pairs,
                       std::shared_ptr<cuda::StreamedRatings> ratings, const Model& initial,
                       Context& context)
    : FusedSteps(settings, pairs, ratings->shards(cuda::RowsOf::users),
                 ratings->shards(cuda::RowsOf::items), nullptr, initial, context) {
  streamed_ = std::move(ratings);
  alpha_ = pairs.alpha();
}

FusedSteps::FusedSteps(const FusedSettings& settings, DevicePairs& pairs, const RowShards& of_users,
                       const RowShards& of_items, cuda::DeviceCommunicator* devices,
                       const Model& initial, Context& context)
    : settings_(settings), stream_(context.stream), devices_(devices) {
  const std::int32_t factors = settings.common.factors;
  weighting_ = weighting_of(pairs.weights());
  group_ = weighting_.uniform &&
           als::group_products(als::FusedProducts::automatic, settings.precision, factors);
  cuda::Uploader uploader(*context.team, stream_);
  const cuda::RatingsOfRows items = pairs.items();
  items_ = make_side(items, of_items, pairs.alpha());
  pairs.release_items();
  const cuda::RatingsOfRows users = pairs.users();
  users_ = make_side(users, of_users, pairs.alpha());
  pairs.release_users();
  start(users_, users.offsets, cuda::RowsOf::users, initial, uploader);
  start(items_, items.offsets, cuda::RowsOf::items, initial, uploader);
  const std::int64_t most_rows = std::max(users_.rows, items_.rows);
  std::int64_t slots = 0;
  for (const DeviceSide* side : {&users_, &items_}) {
    for (const RowBatch& part : side->parts) slots = std::max<std::int64_t>(slots, part.plan.slots);
  }
  rows_ = cuda::zeros<float>(most_rows * stride(), stream_);
  scratch_ = cuda::DeviceBuffer<float>(
      slots * (group_ ? als::kGroupSlotFloats
                      : slot_floats(weighting_.uniform, settings.precision, factors)));
  next_ = cuda::DeviceBuffer<std::uint32_t>(1);
  arrived_ = cuda::zeros<std::uint32_t>(slots, stream_);
  whitening_ = Whitening(factors, stride(), most_rows, settings.common.loss.reg,
                         settings.precision == als::FusedPrecision::fp16, stream_);
  whitening_.set_devices(devices_);
  whiten(items_);  // the libraries load their kernels here, not in the first epoch
  whitening_.start(own(users_), users_.rows, rows_.data());
  if (devices_ != nullptr) gather();  // rows without pairs are zero on rank 0, too
}

FusedSteps::DeviceSide FusedSteps::make_side(const cuda::RatingsOfRows& pairs,
                                             const RowShards& shards, double alpha) const {
  const als::AppliedChoice choice = applied_choice(settings_, group_);
  const als::AppliedLimits limits = als::applied_limits();
  const int rank = devices_ != nullptr ? devices_->rank() : 0;
  DeviceSide made;
  made.shards = shards;
  made.all_rows = shards.own(shards.ranks() - 1).end;
  made.first_row = shards.own(rank).begin;
  made.first_held = rank == 0 ? 0 : made.first_row;
  made.rows = pairs.rows;
  made.pairs = pairs.nnz;
  for (int number = 0; number < shards.parts_of_rank(); ++number) {
    const RowRange rows = shards.part(rank, number);
    const std::int64_t first = rows.begin - made.first_row;
    made.parts.push_back({first, plan_side(pairs.offsets + first, rows.size(),
                                           als::longest_part(choice.factors, settings_.split_rows),
                                           als::longest_applied(choice, limits),
                                           als::applied_capacities(limits, choice), stream_)});
  }
  if (pairs.ratings == nullptr) return made;
  made.entries = cuda::DeviceBuffer<als::FusedEntry>(pairs.nnz);
  make_entries(pairs, alpha, weighting_, made.entries.data(), stream_);
  return made;
}

void FusedSteps::start(DeviceSide& side, const std::int64_t* offsets, cuda::RowsOf which,
                       const Model& initial, cuda::Uploader& uploader) const {
  const bool leads = devices_ == nullptr || devices_->rank() == 0;
  const RowRange held = {side.first_held, leads ? side.all_rows : side.first_row + side.rows};
  side.factors = cuda::initial_rows<float>(initial, which, held, stride(), uploader);
  // From the start, so that the first Gram matrix is without them.
  cuda::zero_empty_rows(offsets, side.rows, own(side), stride(), stream_);
  const std::int64_t words = side.all_rows * als::fused_stride(settings_.common.factors);
  side.high = cuda::DeviceBuffer<__half>(words);
  if (settings_.precision == als::FusedPrecision::fp16x2) {
    side.low = cuda::DeviceBuffer<__half>(words);
  }
}

// Of the rows that are solved here, from the `first`.
als::NarrowRows FusedSteps::narrow_from(DeviceSide& side, std::int64_t first) const {
  const std::int64_t begin = (side.first_row + first) * als::fused_stride(settings_.common.factors);
  als::NarrowRows rows = side.narrow();
  rows.high += begin;
  if (rows.low != nullptr) rows.low += begin;
  return rows;
}

float FusedSteps::shrink(const DeviceSide& from) const {
  const double scale = white_scale(from.all_rows);
  return static_cast<float>(scale * scale / weighting_.k);
}

als::AppliedRule FusedSteps::applied_rule(const DeviceSide& from) const {
  als::AppliedRule rule;
  rule.factors = settings_.common.factors;
  rule.reg = shrink(from);
  rule.steps = settings_.common.cg.steps;
  rule.narrow = false;  // `whiten` writes them
  rule.equal_weights = weighting_.uniform;
  rule.beside = static_cast<float>(weighting_.beside());
  return rule;
}

als::FusedRule FusedSteps::rule(const DeviceSide& from) const {
  als::FusedRule rule;
  rule.factors = settings_.common.factors;
  rule.reg = shrink(from);
  rule.steps = settings_.common.cg.steps;
  rule.group = group_;
  const std::uint32_t beside = als::fused_entry(0, static_cast<float>(weighting_.beside())).rating;
  rule.beside = (beside & 0xffffU) * 0x10001U;
  return rule;
}

void FusedSteps::whiten(DeviceSide& from) {
  whitening_.factorize(own(from), from.rows, from.all_rows, weighting_.unit);
  whitening_.whiten(own(from), from.rows, rows_.data());
  als::narrow(rows_.data(), stride(), 1, narrow_from(from, 0), from.rows, settings_.common.factors,
              stream_);
  if (devices_ == nullptr) return;
  const std::int64_t row_bytes = 2 * als::fused_stride(settings_.common.factors);
  for (auto* words : {&from.high, &from.low}) {
    if (words->empty()) continue;
    devices_->all_gather(words->data(), row_bytes, from.shards, 0, stream_);
  }
  devices_->pace(stream_);
}

void FusedSteps::gather() {
  gather(users_);
  gather(items_);
}

void FusedSteps::gather(DeviceSide& side) {
  devices_->gather(side.factors.data(), side.first_held,
                   stride() * static_cast<std::int64_t>(sizeof(float)), side.shards, stream_);
}

// The entries of a piece take the place of its ratings. Tasks number the entries of all pieces.
void FusedSteps::update(DeviceSide& to, DeviceSide& from) {
  whitening_.start(own(to), to.rows, rows_.data());
  if (streamed_ == nullptr) {
    for (const RowBatch& part : to.parts) solve(to, from, part, to.entries.data());
  } else {
    const auto which = &to == &users_ ? cuda::RowsOf::users : cuda::RowsOf::items;
    streamed_->for_pieces(which, stream_, [&](const cuda::StreamedRatings::Piece& piece) {
      auto* const entries = reinterpret_cast<als::FusedEntry*>(piece.memory) - piece.rows.first;
      make_entries(piece.rows, alpha_, weighting_, entries, stream_);
      solve(to, from, to.parts[piece.number], entries);
    });
  }
  whitening_.finish(rows_.data(), to.rows, own(to));
}

void FusedSteps::solve(DeviceSide& to, DeviceSide& from, const RowBatch& part,
                       const als::FusedEntry* entries) {
  als::FusedSide side;
  side.tasks = part.plan.tasks.data();
  side.n_tasks = part.plan.formed;
  side.entries = entries;
  side.from = from.narrow();
  side.to = narrow_from(to, part.first_row);  // of no use; `whiten` writes them again
  side.rows = rows_.data() + part.first_row * stride();
  side.rows_stride = stride();
  side.next = next_.data();
  side.scratch = scratch_.data();
  side.arrived = arrived_.data();
  launch_half_step(weighting_.uniform, settings_.precision, rule(from), side, stream_);
  als::launch_applied(applied_rule(from), side, part.plan.applied, stream_);
}

std::int64_t FusedSteps::DeviceSide::sum(std::int64_t (*of)(const RowBatch&)) const {
  std::int64_t sum = 0;
  for (const RowBatch& part : parts) sum += of(part);
  return sum;
}

Json FusedSteps::facts() const {
  const auto tasks = [](const RowBatch& part) { return std::ssize(part.plan.tasks); };
  const auto applied = [](const RowBatch& part) {
    return std::ssize(part.plan.tasks) - part.plan.formed;
  };
  const auto slots = [](const RowBatch& part) -> std::int64_t { return part.plan.slots; };
  Json facts = {{"equal_weights", weighting_.uniform},
                {"user_tasks", users_.sum(tasks)},
                {"user_tasks_applied", users_.sum(applied)},
                {"user_parts_of_split_rows", users_.sum(slots)},
                {"item_tasks", items_.sum(tasks)},
                {"item_tasks_applied", items_.sum(applied)},
                {"item_parts_of_split_rows", items_.sum(slots)}};
  if (streamed_ != nullptr) facts.update(streamed_->facts());
  if (devices_ == nullptr) return facts;
  facts["own_users"] = users_.rows;
  facts["own_items"] = items_.rows;
  facts["own_ratings_by_user"] = users_.pairs;
  facts["own_ratings_by_item"] = items_.pairs;
  return facts;
}

}  // namespace mf::ials
