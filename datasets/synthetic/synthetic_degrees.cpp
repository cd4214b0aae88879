#include "datasets/synthetic/synthetic_degrees.hpp"
#include "base/portable_math.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace mf::synthetic {
namespace {

constexpr std::int64_t kChunk = 1 << 14;

class Degrees {
 public:
  Degrees(const Profile& profile, const Shape& shape, const UserStreams& streams, ThreadTeam& team)
      : shape_(shape),
        min_(std::min(profile.min_user_degree, shape.nnz / shape.n_users)),
        weights_(shape.n_users),
        team_(team) {
    team.for_chunks(shape.n_users, kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t u = begin; u < end; ++u)
        weights_[u] = static_cast<float>(weight_at(profile.activity, streams.stream(u).uniform()));
    });
  }

  // min + c w_u, at most n_items. The fraction is rounded by a per-user dither, so that the sum
  // moves smoothly with c.
  std::int64_t degree(std::int64_t user, double c) const {
    const double dither =
        static_cast<double>(mix64(static_cast<std::uint64_t>(user) + 1) >> 11) * 0x1.0p-53;
    const double extra = std::floor(c * static_cast<double>(weights_[user]) + dither);
    const auto room = static_cast<double>(shape_.n_items - min_);
    return min_ + static_cast<std::int64_t>(std::min(extra, room));
  }

  std::int64_t sum(double c) {
    std::atomic<std::int64_t> total{0};  // integers: the order of the additions is free
    team_.for_chunks(shape_.n_users, kChunk, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t part = 0;
      for (std::int64_t u = begin; u < end; ++u) part += degree(u, c);
      total += part;
    });
    return total;
  }

  // The largest c found whose sum does not pass nnz; c = 0 never does.
  double scale() {
    double high = 1;
    while (sum(high) <= shape_.nnz && high < 0x1.0p200) high *= 2;
    double low = 0;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      const std::int64_t total = sum(middle);
      (total <= shape_.nnz ? low : high) = middle;
      if (total == shape_.nnz) break;
    }
    return low;
  }

 private:
  const Shape& shape_;
  std::int64_t min_;
  AlignedVector<float> weights_;
  ThreadTeam& team_;
};

// Gives the remainder of scaling, a few ratings, one each to the first users with room.
void add_missing(AlignedVector<std::int64_t>& degrees, std::int64_t missing, std::int64_t n_items) {
  while (missing > 0) {
    for (std::size_t u = 0; u + 1 < degrees.size() && missing > 0; ++u) {
      if (degrees[u] == n_items) continue;
      ++degrees[u];
      --missing;
    }
  }
}

}  // namespace

double weight_at(const TailLaw& law, double place) {
  const double h = portable::normal_quantile(0.5 + 0.5 * std::clamp(place, 1e-12, 1 - 1e-12));
  return portable::exp(law.power * portable::log(h) + law.tail * h * h);
}

AlignedVector<std::int64_t> draw_user_offsets(const Profile& profile, const Shape& shape,
                                              const UserStreams& streams, ThreadTeam& team) {
  Degrees degrees(profile, shape, streams, team);
  const double c = degrees.scale();
  AlignedVector<std::int64_t> offsets(shape.n_users + 1);
  team.for_chunks(shape.n_users, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = begin; u < end; ++u) offsets[u] = degrees.degree(u, c);
  });
  add_missing(offsets, shape.nnz - degrees.sum(c), shape.n_items);
  std::int64_t next = 0;
  for (std::int64_t u = 0; u < shape.n_users; ++u) next += std::exchange(offsets[u], next);
  offsets[shape.n_users] = next;
  return offsets;
}

}  // namespace mf::synthetic
