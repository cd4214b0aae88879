#include "algorithms/sgd_tiled/ring.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::sgd_tiled {
namespace {

// As measured on an H200 (NOTES.md), f = 128 in fp16: one worker, all that the second-level
// cache lets through, and the rate of the shortest rows.
constexpr double kUpdatesOfWorker = 3.0e6;  // a second
constexpr double kCacheBytes = 4.6e12;      // a second, read and written
constexpr double kMostUpdates = 12e9;       // a second
// Estimates, of a machine whose GPUs are linked by NVLink.
constexpr double kLaunch = 20e-6;           // and the end of the longest chunks, seconds
constexpr double kExchangeLatency = 20e-6;  // seconds
constexpr double kExchangeBytes = 150e9;    // a second from one rank to the next
constexpr double kWorthHalves = .95;
constexpr double kRoundWait =
    100e-6;  // for the slowest rank, as measured: once more each round, seconds
constexpr double kMostForLaps = .02;
// A bound on the steps of an item's writers together, with a margin below sums that diverge
// (NOTES.md), and how many times the writers of one device a ring may have within it.
constexpr double kShortSteps = .2;
constexpr double kMostWriters = 2;

double pass_s(double updates, double row_bytes, double workers) {
  const double rate = std::min(
      {workers * kUpdatesOfWorker, kCacheBytes / (2 * std::max(1.0, row_bytes)), kMostUpdates});
  return kLaunch + updates / rate;
}

}  // namespace

std::int64_t one_device_workers(const ProblemShape& shape, Writes writes) {
  if (writes == Writes::store) return lock_free_workers(shape);
  return lock_free_workers({shape.n_users, shape.n_users, shape.nnz});
}

std::int64_t ring_workers(const RingShape& shape, int halves) {
  if (shape.of_spec > 0) return shape.of_spec;
  return std::max<std::int64_t>(1, shape.workers / (std::int64_t{shape.ranks} * halves));
}

// An item of n ratings is held by n * held groups at a time: the share of its ratings among the
// ratings in hand, times all groups.
std::int64_t ring_thin_above(std::int64_t above, const RingGroups& groups, std::int64_t nnz,
                             double step) {
  if (above == 0 || nnz == 0) return above;
  const auto most = static_cast<double>(above);
  const double one = static_cast<double>(groups.one_device) / static_cast<double>(nnz);
  const double held = static_cast<double>(groups.rank) * static_cast<double>(groups.parts) /
                      static_cast<double>(nnz);
  const double as_one = std::max(1.0, most * one);
  const double short_of = step > 0 ? kShortSteps / (step * as_one) : 1;
  const double writers = as_one * std::clamp(short_of, 1.0, kMostWriters);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(most, writers / held)));
}

double ring_step(ModelKind kind, double rate, const RatingLevel& level) {
  return rate *
         (kind == ModelKind::biased ? level.deviation : std::hypot(level.mean, level.deviation));
}

double ring_round_s(const RingShape& shape, int halves) {
  const double ranks = shape.ranks;
  const double updates = static_cast<double>(shape.nnz) / (ranks * ranks * halves);
  const double bytes = static_cast<double>(shape.items) * shape.row_bytes / (ranks * halves);
  const auto workers = static_cast<double>(ring_workers(shape, halves));
  const double pass = pass_s(updates, shape.row_bytes, workers);
  const double exchange = kExchangeLatency + bytes / kExchangeBytes;
  return halves == 1 ? pass + exchange : halves * std::max(pass, exchange);
}

int ring_halves(const RingShape& shape) {
  return ring_round_s(shape, 2) < kWorthHalves * ring_round_s(shape, 1) ? 2 : 1;
}

int ring_laps(const RingShape& shape, int halves) {
  const double most = kMostForLaps * ring_round_s(shape, halves);
  int laps = kMostLaps;
  while (laps > 1 && (laps - 1) * halves * kRoundWait > most) laps /= 2;
  return laps;
}

}  // namespace mf::sgd_tiled
