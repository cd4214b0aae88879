// Which block of the grid a free thread works on (Chin, Zhuang, Juan and Lin, 2015): a random one
// of the least-updated blocks that share no stripe with a running block. Every block is due once an
// epoch, so the least-updated are those still pending in this epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/json/names.hpp"
#include "base/rng.hpp"
#include "base/view.hpp"

namespace mf::sgd_cpu {

struct GridCell {
  std::int32_t user_stripe;
  std::int32_t item_stripe;
};

enum class BlockOrder {
  random,  // uniform among the pending free blocks
  local,   // uniform among the blocks of the thread's last user stripe; without one, as random
  first,   // the first pending free block of the list: one fixed order, for comparison
};
inline constexpr Names kBlockOrders{std::to_array<Named<BlockOrder>>(
    {{"random", BlockOrder::random}, {"local", BlockOrder::local}, {"first", BlockOrder::first}})};

class BlockScheduler {
 public:
  // The blocks that have ratings, by user stripe.
  BlockScheduler(View<const GridCell> blocks, std::int32_t user_stripes, std::int32_t item_stripes,
                 BlockOrder order);

  // All blocks are pending again. No thread may hold one.
  void start_epoch(Rng rng);

  // A block for the calling thread, which owns its two stripes until it gives it back. Waits while
  // every pending block shares a stripe with a running one; empty when none is pending or after
  // stop().
  std::optional<std::int32_t> take();
  std::optional<std::int32_t> try_take();  // does not wait
  void give_back(std::int32_t block);

  // As give_back and take, in one step.
  std::optional<std::int32_t> swap(std::int32_t block);

  void stop();

 private:
  std::optional<std::int32_t> pick();
  std::optional<std::int32_t> pick_in_stripe(std::int32_t user_stripe);
  std::optional<std::int32_t> pick_anywhere();
  std::optional<std::int32_t> pick_first();
  bool is_free(std::int32_t block) const;
  std::int32_t take_pending(std::int32_t block);
  void release(std::int32_t block);
  void set_busy(std::int32_t block, bool busy);

  std::vector<GridCell> blocks_;
  std::vector<std::int32_t> stripe_starts_;  // first block of each user stripe, and the end
  BlockOrder order_;
  std::vector<char> user_busy_, item_busy_;
  std::vector<std::int32_t> pending_;  // in any order
  std::vector<std::int32_t> place_;    // of each block in pending_, -1 when it is not
  Rng rng_{0};
  bool stopped_ = false;
  std::mutex mutex_;
  std::atomic<std::uint32_t> releases_{0};  // waiting threads wait on this
};

}  // namespace mf::sgd_cpu
