#include "algorithms/core/cuda/ratings/pinned_ring.hpp"

namespace mf::cuda {
namespace {

constexpr std::int64_t kUnit = 256;  // what is taken begins on such an address

}  // namespace

PinnedRing& PinnedRing::of_process() {
  static auto* ring = new PinnedRing;  // never freed: CUDA may have ended before static objects do
  return *ring;
}

PinnedRing::Piece PinnedRing::make_piece() {
  Piece piece;
  piece.memory = PinnedBuffer<std::byte>(kPinnedPieceBytes);
  return piece;
}

void PinnedRing::reserve(std::int64_t bytes) {
  const auto held = lock();
  const std::int64_t wanted = pinned_pieces(bytes);
  while (std::ssize(pieces_) < wanted) pieces_.push_back(make_piece());
}

// The next one, if its copy has ended; else a new one; else that of the next is waited for.
void PinnedRing::next_piece() {
  filled_ = 0;
  if (pieces_.empty()) {
    pieces_.push_back(make_piece());
    now_ = 0;
    return;
  }
  const std::size_t next = (now_ + 1) % pieces_.size();
  if (std::ssize(pieces_) < kPinnedPieces && !pieces_[next].copied.has_happened()) {
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(now_) + 1, make_piece());
    ++now_;
    return;
  }
  now_ = next;
  pieces_[now_].copied.synchronize();
}

std::byte* PinnedRing::take(std::int64_t bytes) {
  if (pieces_.empty() || filled_ + bytes > kPinnedPieceBytes) next_piece();
  std::byte* taken = pieces_[now_].memory.data() + filled_;
  filled_ += (bytes + kUnit - 1) / kUnit * kUnit;
  return taken;
}

void PinnedRing::sent(cudaStream_t stream) {
  Piece& piece = pieces_[now_];
  // One event a piece: that of another stream must have happened before it is recorded again.
  if (piece.stream != stream) piece.copied.synchronize();
  piece.stream = stream;
  piece.copied.record(stream);
}

}  // namespace mf::cuda
