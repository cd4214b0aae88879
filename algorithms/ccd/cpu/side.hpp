// One side of R on the CPU: its residuals in its own order, and its factors, a vector for each.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/ccd/cpu/kernel.hpp"
#include "algorithms/ccd/layout.hpp"
#include "algorithms/ccd/settings.hpp"

namespace mf::ccd::cpu {

// Three vectors of a tile take 384 KiB of the second-level cache.
inline constexpr LayoutRule kLayoutRule = {32768, 1, 8192};
// Ratings of a thread's turn.
inline constexpr std::int64_t kChunkRatings = 1 << 15;

// The vectors of the other side that a pass gathers from.
struct Other {
  const float* held;
  const float* old;
  const float* now;
};

class Side {
 public:
  // value(row, source) is the entry of R for a rating of `rows`; `packed` has the factors, a row of
  // them after another.
  template <class Value>
  Side(const Settings& settings, const SideRows& rows, const AlignedVector<float>& packed,
       ThreadTeam& team, Value&& value)
      : Side(settings, rows, packed, team) {
    team.for_chunks(layout_.size(), kChunkRatings, [&](std::int64_t begin, std::int64_t end) {
      layout_.fill(
          begin, end, residual_.data() + begin, 0.0F,
          [&](std::int64_t row, std::int64_t, std::int64_t source) { return value(row, source); });
    });
    layout_.from = {};
  }

  // R += u_k v_k^T - u_held v_held^T (held kNone: subtracts nothing), then as solve.
  void exchange(const Kernels& kernels, int k, int held, const Other& other, ThreadTeam& team);
  // Vector k = sums of R v / (lambda + sums of v^2); a row with neither is 0. The previous vector
  // is old() until the next one is solved.
  void solve(const Kernels& kernels, int k, const float* now, ThreadTeam& team);
  // R += sign u_k v_k^T
  void change(const Kernels& kernels, int k, float sign, const float* other, ThreadTeam& team);

  // Of factor k, or zeros for kNone; a number for each row.
  const float* vector(int k) const {
    return k == kNone ? zeros_.data() : vectors_.data() + k * layout_.rows();
  }
  const float* old() const { return old_.data(); }
  // Rows of `factors` numbers one after another.
  void pack(AlignedVector<float>& to, ThreadTeam& team) const;

  const Layout& layout() const { return layout_; }
  // Residual of the layout's rating `at`.
  float residual(std::int64_t at) const { return residual_[at]; }

 private:
  Side(const Settings& settings, const SideRows& rows, const AlignedVector<float>& packed,
       ThreadTeam& team);
  template <class Body>
  void for_tasks(ThreadTeam& team, const Body& body) const;
  Run run_of(const Task& task);
  void finish(int k, ThreadTeam& team);

  int factors_;
  Layout layout_;
  std::vector<std::int64_t> cuts_;       // of the tasks: a thread's turns
  std::vector<std::int32_t> tiles_;      // of each cut
  AlignedVector<std::uint16_t> narrow_;  // one of the two is empty
  AlignedVector<std::int32_t> wide_;
  AlignedVector<float> residual_;
  AlignedVector<float> vectors_, zeros_, old_, shrink_;
  AlignedVector<Sums> sums_;  // by slot
};

}  // namespace mf::ccd::cpu
