#include "harness/run/data/shared_ratings.hpp"

#include <optional>
#include <string>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "harness/results/meaning/ranges.hpp"

namespace mf {
namespace {

constexpr const char* kUpload = "ratings_on_device";
constexpr const char* kColumns = "columns_on_device";
constexpr const char* kCounts = "item_counts_on_device";

void note_view(const cuda::ViewCost& cost, const std::string& name, SharedLedger& ledger) {
  if (!cost.asked) return;
  if (!ledger.has(name)) {
    ledger.made({name, cost.seconds, SharedClock::prepare}, SharedScope::split);
  }
  ledger.used(name);
}

}  // namespace

struct SharedRatings::Impl {
  std::optional<cuda::DeviceRatings> ratings;
};

SharedRatings::SharedRatings() : impl_(std::make_unique<Impl>()) {}
SharedRatings::~SharedRatings() = default;

cuda::DeviceRatings* SharedRatings::lend(const Ratings& train, ThreadTeam& team,
                                         DeviceStream stream, PhaseSink* phases,
                                         SharedLedger& ledger) {
  if (!impl_->ratings) {
    const auto start = Clock::now();
    const PhaseScope phase(phases, "transfer");
    impl_->ratings.emplace(train, team, stream);
    impl_->ratings->keep();
    MF_CUDA(cudaStreamSynchronize(stream));
    for (const char* view : {kColumns, kCounts}) ledger.forget(view);  // of ones that were dropped
    ledger.made({kUpload, seconds_since(start), SharedClock::transfer}, SharedScope::split);
  }
  ledger.used(kUpload);
  impl_->ratings->begin_case();
  return &*impl_->ratings;
}

void SharedRatings::note(SharedLedger& ledger) const {
  if (!impl_->ratings) return;
  note_view(impl_->ratings->columns_cost(), kColumns, ledger);
  note_view(impl_->ratings->counts_cost(), kCounts, ledger);
}

bool SharedRatings::holds() const { return impl_->ratings.has_value(); }

void SharedRatings::drop() { impl_->ratings.reset(); }

}  // namespace mf
