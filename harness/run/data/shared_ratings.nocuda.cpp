#include "harness/run/data/shared_ratings.hpp"

namespace mf {

struct SharedRatings::Impl {};

SharedRatings::SharedRatings() = default;
SharedRatings::~SharedRatings() = default;

cuda::DeviceRatings* SharedRatings::lend(const Ratings&, ThreadTeam&, DeviceStream, PhaseSink*,
                                         SharedLedger&) {
  return nullptr;
}
void SharedRatings::note(SharedLedger&) const {}
bool SharedRatings::holds() const { return false; }
void SharedRatings::drop() {}

}  // namespace mf
