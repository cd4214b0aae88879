#include "algorithms/core/cuda/ratings/pinned_ring.hpp"

#include <algorithm>
#include <limits>

namespace mf::cuda {

void PinnedRing::grow_to(std::int64_t slots) {
  while (std::ssize(slots_) < slots) slots_.emplace_back();
}

void PinnedRing::reserve(std::int64_t bytes) {
  const std::lock_guard held(mutex_);
  grow_to(pinned_pieces(bytes));
}

PinnedRing::Upload::Upload(PinnedRing& ring, std::int64_t bytes, std::int64_t pieces)
    : ring_(ring), held_(ring.mutex_), pieces_(pieces) {
  ring_.grow_to(std::min(pieces, pinned_pieces(bytes)));
  for (Slot& slot : ring_.slots_) {
    slot.opened = slot.sent = slot.filled = 0;
  }
}

PinnedRing::Upload::~Upload() { ring_.next_ = place(pieces_) % std::max<std::int64_t>(1, slots()); }

// One thread asks the device: many would take longer than they fill. It holds the slot only for
// that, not while it waits for threads that fill the piece before.
std::byte* PinnedRing::Upload::memory(std::int64_t piece) {
  Slot& slot = this->slot(piece);
  const std::int64_t before = piece / slots();
  for (std::int64_t sent = slot.sent; sent < before; sent = slot.sent) slot.sent.wait(sent);
  if (slot.opened <= before) {
    const std::lock_guard held(slot.opening);
    if (slot.opened <= before) slot.copied.synchronize();
    slot.opened = before + 1;
  }
  return slot.memory.data();
}

bool PinnedRing::Upload::is_filled(std::int64_t piece, std::int64_t parts) {
  return ++slot(piece).filled == parts;
}

void PinnedRing::Upload::sent(std::int64_t piece, cudaStream_t stream) {
  Slot& slot = this->slot(piece);
  slot.copied.record(stream);
  slot.filled = 0;
  ++slot.sent;
  slot.sent.notify_all();
}

void PinnedRing::Upload::give_up() {
  for (Slot& slot : ring_.slots_) {
    slot.sent = std::numeric_limits<std::int64_t>::max() / 2;
    slot.sent.notify_all();
  }
}

}  // namespace mf::cuda
