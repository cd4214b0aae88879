#include "harness/evaluate/device_quality.hpp"

#include <algorithm>

#ifndef MF_HAVE_CUDA
#include "base/error.hpp"
#endif

namespace mf {

double device_quality_bytes(const QualityShape& shape) {
  const auto real = [](std::int64_t x) { return static_cast<double>(x); };
  const double f = real(shape.factors);
  double bytes = 0;
  if (shape.objective) {
    constexpr double kTriple = 12;
    constexpr double kSums = 2 << 20;
    bytes += kTriple * real(shape.train) + 8 * real(shape.n_users + shape.n_items) + kSums +
             8 * (2 * f * f + real(kGramBlock) * f);
  }
  if (shape.ranking) {
    const double row = 4 * real(shape.n_items);
    const double tile = std::max(row, std::min(real(kScoreBytes), row * real(shape.n_users)));
    const double users = 4 * (f + 1) * real(shape.n_users);  // folded in, or of a tile
    const double items = 4 * (f + 1) * real(shape.n_items);  // with the items' own scores
    bytes += tile + 2 * users + items + 4 * real(shape.train + shape.held_out) +
             48 * real(shape.n_users);
  }
  return bytes;
}

#ifndef MF_HAVE_CUDA
namespace {

[[noreturn]] void refuse() {
  fail(ErrorKind::unsupported,
       "the factors are in device memory, and this build has no CUDA to evaluate them there");
}

}  // namespace

struct DeviceObjective::Impl {};
DeviceObjective::DeviceObjective(const ImplicitObjective&, DeviceStream) { refuse(); }
DeviceObjective::~DeviceObjective() = default;
double DeviceObjective::evaluate(const FactorView&, DeviceStream) { refuse(); }

struct DeviceRanking::Impl {};
DeviceRanking::DeviceRanking(const RankedUsers&, View<const std::int32_t>, View<const float>,
                             DeviceStream) {
  refuse();
}
DeviceRanking::~DeviceRanking() = default;
RankedItems DeviceRanking::rank(const DeviceScores&, DeviceStream, AlignedVector<std::int32_t>*) {
  refuse();
}
RankedItems DeviceRanking::select(View<const float>, std::int32_t, DeviceStream,
                                  AlignedVector<std::int32_t>*) {
  refuse();
}
#endif

}  // namespace mf
