#include "algorithms/sgd_cpu/block_scheduler.hpp"

#include <numeric>
#include <utility>

namespace mf::sgd_cpu {
namespace {

// Draws before looking at every pending block. Either way the pick is uniform among the free ones.
constexpr int kDraws = 16;

// One of the offered blocks, each with the same probability: the k-th takes the place of the chosen
// one with probability 1 / k.
struct UniformChoice {
  std::optional<std::int32_t> chosen;
  std::uint64_t offers = 0;
  void offer(std::int32_t block, Rng& rng) {
    if (rng.below(++offers) == 0) chosen = block;
  }
};

}  // namespace

BlockScheduler::BlockScheduler(View<const GridCell> blocks, std::int32_t user_stripes,
                               std::int32_t item_stripes, BlockOrder order)
    : blocks_(blocks.begin(), blocks.end()),
      stripe_starts_(user_stripes + 1),
      order_(order),
      user_busy_(user_stripes),
      item_busy_(item_stripes),
      place_(blocks.size(), -1) {
  for (const GridCell cell : blocks_) ++stripe_starts_[cell.user_stripe + 1];
  std::partial_sum(stripe_starts_.begin(), stripe_starts_.end(), stripe_starts_.begin());
}

void BlockScheduler::start_epoch(Rng rng) {
  const std::lock_guard lock(mutex_);
  rng_ = rng;
  stopped_ = false;
  pending_.resize(blocks_.size());
  std::iota(pending_.begin(), pending_.end(), 0);
  std::iota(place_.begin(), place_.end(), 0);
}

std::optional<std::int32_t> BlockScheduler::try_take() {
  const std::lock_guard lock(mutex_);
  return pick();
}

std::optional<std::int32_t> BlockScheduler::take() {
  for (;;) {
    std::uint32_t seen = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || pending_.empty()) return std::nullopt;
      if (const auto block = pick()) return block;
      seen = releases_.load(std::memory_order_relaxed);  // changes only under the lock
    }
    releases_.wait(seen);
  }
}

void BlockScheduler::give_back(std::int32_t block) {
  {
    const std::lock_guard lock(mutex_);
    release(block);
  }
  releases_.notify_all();
}

std::optional<std::int32_t> BlockScheduler::swap(std::int32_t block) {
  std::optional<std::int32_t> next;
  {
    const std::lock_guard lock(mutex_);
    release(block);
    if (order_ == BlockOrder::local && !stopped_) {
      next = pick_in_stripe(blocks_[block].user_stripe);
    }
    if (!next) next = pick();
  }
  releases_.notify_all();
  return next ? next : take();
}

void BlockScheduler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ++releases_;
  }
  releases_.notify_all();
}

std::optional<std::int32_t> BlockScheduler::pick() {
  if (stopped_ || pending_.empty()) return std::nullopt;
  return order_ == BlockOrder::first ? pick_first() : pick_anywhere();
}

std::optional<std::int32_t> BlockScheduler::pick_first() {
  for (std::int32_t block = 0; block < std::ssize(blocks_); ++block) {
    if (place_[block] >= 0 && is_free(block)) return take_pending(block);
  }
  return std::nullopt;
}

std::optional<std::int32_t> BlockScheduler::pick_in_stripe(std::int32_t user_stripe) {
  UniformChoice choice;
  for (std::int32_t b = stripe_starts_[user_stripe]; b < stripe_starts_[user_stripe + 1]; ++b) {
    if (place_[b] >= 0 && is_free(b)) choice.offer(b, rng_);
  }
  if (!choice.chosen) return std::nullopt;
  return take_pending(*choice.chosen);
}

std::optional<std::int32_t> BlockScheduler::pick_anywhere() {
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::int32_t block = pending_[rng_.below(pending_.size())];
    if (is_free(block)) return take_pending(block);
  }
  UniformChoice choice;
  for (const std::int32_t block : pending_) {
    if (is_free(block)) choice.offer(block, rng_);
  }
  if (!choice.chosen) return std::nullopt;
  return take_pending(*choice.chosen);
}

bool BlockScheduler::is_free(std::int32_t block) const {
  const GridCell cell = blocks_[block];
  return !user_busy_[cell.user_stripe] && !item_busy_[cell.item_stripe];
}

std::int32_t BlockScheduler::take_pending(std::int32_t block) {
  const std::int32_t place = std::exchange(place_[block], -1);
  const std::int32_t moved = pending_.back();
  pending_.pop_back();
  if (moved != block) {
    pending_[place] = moved;
    place_[moved] = place;
  }
  set_busy(block, true);
  return block;
}

void BlockScheduler::release(std::int32_t block) {
  set_busy(block, false);
  ++releases_;
}

void BlockScheduler::set_busy(std::int32_t block, bool busy) {
  const GridCell cell = blocks_[block];
  user_busy_[cell.user_stripe] = busy;
  item_busy_[cell.item_stripe] = busy;
}

}  // namespace mf::sgd_cpu
