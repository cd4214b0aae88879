#include "harness/run/case/case_setup.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/feedback.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"
#include "harness/run/case/warm_up.hpp"
#include "harness/run/ranks/rank_load.hpp"

namespace mf {

namespace {

[[noreturn]] void fail_negative(const Ratings& part, std::int64_t at, const std::string& name) {
  const Rating pair = part[at];
  fail(ErrorKind::data,
       "{}: the value of user {} and item {} is {}; implicit feedback takes values of 0 (not "
       "observed) and above, of all parts of a split; \"implicit\": {{\"min_rating\": ...}} beside "
       "the data set keeps those from there on",
       name, part.user_text(pair.user), part.item_text(pair.item), pair.value);
}

// How many of the training part say not observed. Throws Error(data) for values that implicit
// feedback cannot have, in whatever part the split has put them.
std::int64_t zeros_of_implicit(const CaseData& data) {
  const Split& split = *data.split;
  ThreadTeam team(useful_threads(hardware_threads(), data.sizes.all()));
  std::int64_t zeros = 0;
  for (const Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in}) {
    const Signs signs = signs_of(part->values(), team);
    if (signs.first_negative >= 0) fail_negative(*part, signs.first_negative, data.info->name);
    if (part == &split.train) zeros = signs.zeros;
  }
  if (zeros < split.train.nnz()) return zeros;
  fail(ErrorKind::data,
       "{}: all {} values of the training part are 0, which implicit feedback takes for not "
       "observed; say with `columns` which column has the value, or set format to \"pairs\" where "
       "every line is an observed pair",
       data.info->name, zeros);
}

}  // namespace

void CaseSetup::load() {
  const PhaseScope range(&ranges_, kLoadRange);
  const std::string whole = why_whole(item_, task_.model_folder.has_value());
  if (ranks_.count() > 1 && whole.empty()) {
    store_.make_cache(item_);
    ranks_.load_slices([&](Communicator& ranks) {
      data_ = store_.get_slice(item_, ranks, ranks_.on_these_cpus());
    });
  } else {
    ranks_.load([&] { data_ = store_.get(item_, task_.keep_ratings); },
                source_of_data(item_) == DataFrom::cache);
    data_.ranks.why = whole;
  }
  evaluation_.set_data(data_);
  const Ratings& train = data_.split->train;
  shape_ = {train.n_users(), train.n_items(), data_.sizes.train};
}

std::optional<Refusal> CaseSetup::open_or_refuse(CaseMeasures& measures) {
  if (const auto why = why_not_evaluated(item_, evaluation_.sizes()))
    fail(ErrorKind::data, "{}", *why);
  if (is_implicit(item_)) zeros_ = zeros_of_implicit(data_);
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
  if (DeviceClock* const device = device_.get())
    ranks_.warm_up([&] { warm_up(item_, *device, ranks_.group()); });
  return std::nullopt;
}

std::optional<Refusal> CaseSetup::open(CaseMeasures& measures) {
  if (const auto why = device_.why_not_opened(item_, shape_.nnz / ranks_.count()))
    return Refusal{Status::skipped, *why};
  const PartSizes sizes = evaluation_.sizes();
  const std::int64_t others = sizes.all() - sizes.train;
  std::int64_t expected_bytes = 0;
  measures.planned_host_bytes = host_need(item_, store_.host_data()).peak();
  if (DeviceClock* const device = device_.get()) {
    SharedRatings& left = store_.on_device();
    const bool wanted = ranks_.count() == 1 && (task_.keep_on_device || left.holds());
    const DevicePlace place = share_device(item_, shape_, others, wanted, left, *device);
    shares_ratings_ = place.keeps_ratings;
    measures.planned_device_bytes = device_bytes(item_, shape_, others, place);
    expected_bytes = bytes_to_come(place, *device);
  }
  auto refusal = refuse(item_, shape_, others, device_.get(), store_.training_files_bytes());
  if (!refusal && device_.get() != nullptr) device_.get()->expect_memory(expected_bytes);
  return refusal;
}

// On the device, beside the ratings that stay there from the case before. For what takes as much as
// there is, the least.
std::int64_t CaseSetup::bytes_to_come(const DevicePlace& place, DeviceClock& device) const {
  const PartSizes sizes = evaluation_.sizes();
  const DevicePlace least = {place.keeps_ratings, place.has_columns, std::nullopt};
  const double held = place.free_bytes.value_or(0) - static_cast<double>(device.free_bytes());
  return static_cast<std::int64_t>(device_bytes(item_, shape_, sizes.all() - sizes.train, least) -
                                   held);
}

void CaseSetup::prepare(const std::function<bool()>& stop_requested, HostWatch& watch,
                        CaseMeasures& measures) {
  PreparedCase::Lent lent{device_.get(), &ranges_, stop_requested};
  lent.ranks = {ranks_.group(), data_.slice.get()};
  lent.ranks_on_these_cpus = ranks_.on_these_cpus();
  lent.foreign = foreign_loan(measures);
  lent.zeros = zeros_;
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
  evaluation_.prepare(prepared_->team(), device_.stream());
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
    loan.training_files = [this] { return store_.training_files(); };
  }
  return loan;
}

std::vector<std::string> CaseSetup::warnings() const {
  std::vector<std::string> all = evaluation_.warnings_before();
  if (zeros_ > 0) {
    all.push_back(fmt::format(
        "{} of {} training values are 0, which implicit feedback takes for not observed; nnz_train "
        "and passes count them: \"implicit\": {{\"min_rating\": 1e-9, \"value\": \"rating\"}} "
        "beside the data set drops them",
        zeros_, shape_.nnz));
  }
  return all;
}

double CaseSetup::foreign_cpu_s() const {
  return prepared_ && prepared_->foreign() != nullptr ? prepared_->foreign()->cpu_s() : 0;
}

void CaseSetup::report(CaseMeasures& measures) {
  measures.load_parts = data_.load_parts;
  measures.split_s = data_.split_s;
  measures.pack_s = data_.pack_s;
  evaluation_.report(measures);
  device_.report(measures);
  if (!prepared_) return;
  measures.exchanged = prepared_->exchanged();
  if (prepared_->foreign() != nullptr) measures.peer = prepared_->foreign()->finish();
}

}  // namespace mf
