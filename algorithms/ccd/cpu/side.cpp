#include "algorithms/ccd/cpu/side.hpp"

namespace mf::ccd::cpu {
namespace {

constexpr std::int64_t kRowsPerChunk = 2048;

}  // namespace

Side::Side(const Settings& settings, const SideRows& rows, const AlignedVector<float>& packed,
           ThreadTeam& team)
    : factors_(settings.factors), layout_(make_layout(rows, kLayoutRule, team)) {
  const std::int64_t n = rows.rows();
  (layout_.narrow() ? narrow_.resize(layout_.size()) : wide_.resize(layout_.size()));
  residual_.resize(layout_.size());
  team.for_chunks(layout_.size(), kChunkRatings, [&](std::int64_t begin, std::int64_t end) {
    const auto local = [&](std::int64_t, std::int64_t tile, std::int64_t source) {
      return rows.others[source] - tile * layout_.tile_width;
    };
    if (layout_.narrow()) {
      layout_.fill<std::uint16_t>(begin, end, narrow_.data() + begin, 0, local);
    } else {
      layout_.fill<std::int32_t>(begin, end, wide_.data() + begin, 0, local);
    }
  });
  for (std::int64_t tile = 0; tile < layout_.tiles; ++tile) {
    std::int64_t ratings = kChunkRatings;
    for (std::int64_t t = layout_.tile_tasks[tile]; t < layout_.tile_tasks[tile + 1]; ++t) {
      if (ratings >= kChunkRatings) {
        cuts_.push_back(t);
        tiles_.push_back(static_cast<std::int32_t>(tile));
        ratings = 0;
      }
      ratings += layout_.tasks[t].units;
    }
  }
  cuts_.push_back(std::ssize(layout_.tasks));
  sums_.resize(std::ssize(layout_.tasks));
  zeros_.assign(static_cast<std::size_t>(n), 0.0F);
  old_.assign(static_cast<std::size_t>(n), 0.0F);
  shrink_.resize(n);
  vectors_.resize(n * factors_);
  team.for_chunks(n, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      shrink_[row] = settings.shrink(rows.offsets[row + 1] - rows.offsets[row]);
    }
    for (std::int64_t k = 0; k < factors_; ++k) {
      for (std::int64_t row = begin; row < end; ++row) {
        vectors_[k * n + row] = packed[row * factors_ + k];
      }
    }
  });
}

// body(task, first row of the other side in its tile)
template <class Body>
void Side::for_tasks(ThreadTeam& team, const Body& body) const {
  team.for_each(std::ssize(tiles_), 1, [&](std::int64_t cut) {
    const std::int64_t base = tiles_[cut] * layout_.tile_width;
    for (std::int64_t t = cuts_[cut]; t < cuts_[cut + 1]; ++t) body(layout_.tasks[t], base);
  });
}

Run Side::run_of(const Task& task) {
  const std::int64_t begin = task.begin;
  return {narrow_.empty() ? nullptr : narrow_.data() + begin,
          wide_.empty() ? nullptr : wide_.data() + begin, residual_.data() + begin, task.units};
}

void Side::exchange(const Kernels& kernels, int k, int held, const Other& other, ThreadTeam& team) {
  const float* own = vector(k);
  const float* own_held = vector(held);
  for_tasks(team, [&](const Task& task, std::int64_t base) {
    sums_[task.slot] = kernels.exchange(
        run_of(task),
        {other.held + base, other.old + base, other.now + base, own_held[task.row], own[task.row]});
  });
  finish(k, team);
}

void Side::solve(const Kernels& kernels, int k, const float* now, ThreadTeam& team) {
  for_tasks(team, [&](const Task& task, std::int64_t base) {
    sums_[task.slot] = kernels.sums(run_of(task), {nullptr, nullptr, now + base, 0, 0});
  });
  finish(k, team);
}

void Side::change(const Kernels& kernels, int k, float sign, const float* other, ThreadTeam& team) {
  const float* own = vector(k);
  for_tasks(team, [&](const Task& task, std::int64_t base) {
    kernels.change(run_of(task), {nullptr, other + base, nullptr, 0, sign * own[task.row]});
  });
}

void Side::finish(int k, ThreadTeam& team) {
  float* vector = vectors_.data() + k * layout_.rows();
  team.for_each(layout_.rows(), kRowsPerChunk, [&](std::int64_t row) {
    double numerator = 0;
    double denominator = shrink_[row];
    for (std::int64_t slot = layout_.slots[row]; slot < layout_.slots[row + 1]; ++slot) {
      numerator += sums_[slot].numerator;
      denominator += sums_[slot].denominator;
    }
    old_[row] = vector[row];
    vector[row] = denominator > 0 ? static_cast<float>(numerator / denominator) : 0.0F;
  });
}

void Side::pack(AlignedVector<float>& to, ThreadTeam& team) const {
  const std::int64_t n = layout_.rows();
  to.resize(n * factors_);
  team.for_chunks(n, kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = 0; k < factors_; ++k) {
      for (std::int64_t row = begin; row < end; ++row) {
        to[row * factors_ + k] = vectors_[k * n + row];
      }
    }
  });
}

}  // namespace mf::ccd::cpu
