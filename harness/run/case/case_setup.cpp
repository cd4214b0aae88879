#include "harness/run/case/case_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/ranks/rank_load.hpp"

namespace mf {

void CaseSetup::load() {
  const PhaseScope range(&ranges_, kLoadRange);
  const std::string whole = why_whole(item_, task_.model_folder.has_value());
  if (ranks_.count() > 1 && whole.empty()) {
    store_.make_cache(item_);
    ranks_.load_slices([&](Communicator& ranks) {
      data_ = store_.get_slice(item_, ranks, ranks_.on_these_cpus());
    });
  } else {
    ranks_.load([&] { data_ = store_.get(item_, task_.keep_ratings); }, is_cached(item_));
    data_.ranks.why = whole;
  }
  evaluation_.set_data(data_);
  const Ratings& train = data_.split->train;
  shape_ = {train.n_users(), train.n_items(), data_.sizes.train};
}

std::optional<Refusal> CaseSetup::open_or_refuse(CaseMeasures& measures) {
  if (const auto why = evaluation_.why_not()) fail(ErrorKind::data, "{}", *why);
  const bool fits = !refuse(item_, case_sizes(), nullptr, 0, store_.training_files_bytes());
  if (device_.is_starting() && fits) {
    const PhaseScope range(&ranges_, kPrepareRange);
    pack();
  }
  const PhaseScope range(&ranges_, kStartRange);
  if (!is_built(item_.algorithm)) return Refusal{Status::skipped, *why_no_implementation(item_)};
  std::optional<Refusal> refusal;
  try {
    ranks_.open([&] {
      refusal = open(measures);
      // The others leave the case.
      if (refusal) fail(ErrorKind::unsupported, "{}", refusal->reason);
    });
  } catch (const Error&) {
    if (!refusal) throw;
    return refusal;
  }
  if (device_.get() != nullptr)
    ranks_.warm_up(ranges_, [&] { device_.warm_up(item_, ranks_.group()); });
  return std::nullopt;
}

CaseSizes CaseSetup::case_sizes() const {
  const PartSizes parts = evaluation_.sizes();
  const bool whole = data_.slice == nullptr || data_.ranks.read_whole;
  return {shape_, parts.all() - parts.train, data_.load_parts.read > 0, store_.holds_whole(),
          whole ? 1 : ranks_.count()};
}

std::optional<Refusal> CaseSetup::open(CaseMeasures& measures) {
  if (const auto why = device_.why_not_opened(item_, shape_.nnz / ranks_.count()))
    return Refusal{Status::skipped, *why};
  const CaseSizes sizes = case_sizes();
  measures.planned_host_bytes = host_bytes(item_, sizes);
  const double free = device_.get() != nullptr ? make_room(sizes, measures) : 0;
  auto refusal = refuse(item_, sizes, device_.get(), free, store_.training_files_bytes());
  if (!refusal && device_.get() != nullptr)
    device_.get()->expect_memory(bytes_to_reserve(item_, sizes, free));
  return refusal;
}

// Ratings that an earlier case has left on the device stay, or those of this case do, if they are
// wanted and not in its way; else they go. Returns what is free then.
double CaseSetup::make_room(const CaseSizes& sizes, CaseMeasures& measures) {
  DeviceClock& device = *device_.get();
  SharedRatings& left = store_.on_device();
  auto free = static_cast<double>(device.free_bytes());
  const double held = left.holds() ? device_ratings_bytes(shape_) : 0;
  shares_ratings_ = ranks_.count() == 1 && (task_.keep_on_device || left.holds()) &&
                    leaves_room_for_ratings(item_, sizes, free + held);
  if (!shares_ratings_ && left.holds()) {
    left.drop();
    free = static_cast<double>(device.free_bytes());
  }
  measures.planned_device_bytes =
      device_bytes(item_, sizes, free) + (shares_ratings_ ? device_ratings_bytes(shape_) : 0);
  return free;
}

void CaseSetup::pack() {
  if (uploads_ratings(item_))
    store_.pack(data_, hardware_threads() / ranks_.on_these_cpus(), &ranges_);
}

void CaseSetup::prepare(const std::function<bool()>& stop_requested, HostWatch& watch,
                        CaseMeasures& measures) {
  PreparedCase::Lent lent{device_.get(), &ranges_, stop_requested};
  lent.ranks = {ranks_.group(), data_.slice.get()};
  lent.ranks_on_these_cpus = ranks_.on_these_cpus();
  lent.foreign = foreign_loan(measures);
  if (shares_ratings_) {
    lent.ratings = [this](ThreadTeam& team) {
      return store_.on_device().lend(data_.split->train, team, device_.stream(), &ranges_,
                                     store_.ledger());
    };
  }
  watch.begin();
  {
    const PhaseScope range(&ranges_, kPrepareRange);
    ranks_.prepare([&] {
      pack();
      prepared_ =
          std::make_unique<PreparedCase>(item_, data_.split->train, *data_.facts, std::move(lent));
    });
  }
  if (data_.slice) {
    drop_training(data_);
    evaluation_.set_data(data_);
  }
  store_.on_device().note(store_.ledger());
  measures.prepare_host_load = watch.end(ranks_.prepare_use(), prepared_->team());
  const PhaseScope range(&ranges_, kEvaluatorRange);
  evaluation_.prepare(prepared_->team(), device_.stream(), &store_.of_study());
}

ForeignLoan CaseSetup::foreign_loan(CaseMeasures& measures) {
  ForeignLoan loan;
  loan.log_file = std::filesystem::path(task_.result_file).replace_extension(".stderr").string();
  loan.test = &evaluation_.test();
  loan.account = [&measures](const Json& account) { measures.peer = account; };
  // Files that are not needed any more go before they are in the way.
  if (!has_own_process(item_)) {
    if (!task_.keep_training_files) store_.drop_training_files();
  } else if (task_.keep_training_files || store_.holds_training_files()) {
    loan.training_files = [this](const std::string& python, PhaseSink* phases) {
      return store_.training_files(python, phases);
    };
  }
  return loan;
}

std::vector<std::string> CaseSetup::warnings() const {
  std::vector<std::string> all = evaluation_.warnings_before();
  if (data_.split) std::ranges::copy(data_.split->warnings, std::back_inserter(all));
  if (data_.unobserved > 0) {
    all.push_back(fmt::format(
        "{} of {} values are 0, which implicit feedback takes for not observed: these pairs are in "
        "no part, and no size counts them",
        data_.unobserved, data_.unobserved + data_.sizes.all()));
  }
  return all;
}

double CaseSetup::foreign_cpu_s() const {
  return prepared_ && prepared_->foreign() != nullptr ? prepared_->foreign()->cpu_s() : 0;
}

void CaseSetup::report(CaseMeasures& measures) {
  measures.load_parts = data_.load_parts;
  measures.split_s = data_.split_s;
  if (data_.split) measures.from_cache = data_.from_cache;
  evaluation_.report(measures);
  device_.report(measures);
  if (!prepared_) return;
  measures.exchanged = prepared_->exchanged();
  if (prepared_->foreign() != nullptr) measures.peer = prepared_->foreign()->finish();
}

}  // namespace mf
