#include "harness/run/prepared.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/core/prepare.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "harness/device/download_model.hpp"
#include "harness/evaluate/model_io.hpp"

namespace mf {
namespace {

// On a device all may be done without them.
ThreadTeam::Start start_of_threads(const DeviceClock* device) {
  return device != nullptr ? ThreadTeam::Start::first_run : ThreadTeam::Start::now;
}

// Throws Error(data) if the saved model does not fit, or was trained on ratings that `train` lacks,
// among which may be those of the test part. Returns its folder and the hash of P and Q.
Json start_from_saved(Model& start, const Case& item, const Ratings& train) {
  const std::string& folder = item.init.model;
  SavedModel saved = load_model(folder);
  const Model& from = saved.model;
  if (from.factors != start.factors || from.kind != start.kind) {
    fail(ErrorKind::data,
         "{}: found a {} model of {} factors, expected a {} one of {} for {}; set \"model\" and "
         "\"factors\" to those of the saved one, or save another (ALS has biases by \"center\")",
         folder, kModelKinds.of(from.kind), from.factors, kModelKinds.of(start.kind), start.factors,
         item.algorithm);
  }
  const auto same = [](const ModelIds& its, View<const std::int32_t> ids, const IdNames& names) {
    return std::ranges::equal(its.ids, ids) &&
           std::ranges::equal(its.names.offsets(), names.offsets()) &&
           std::ranges::equal(its.names.bytes(), names.bytes());
  };
  if (!same(saved.users, train.user_ids(), train.user_names()) ||
      !same(saved.items, train.item_ids(), train.item_names())) {
    fail(ErrorKind::data,
         "{}: found {} users and {} items, expected the {} and {} of {}, with the same ids; save a "
         "model of the same data set",
         folder, from.n_users, from.n_items, train.n_users(), train.n_items(), item.data.label());
  }
  const View<const std::int32_t> seen = saved.seen_items;
  for (std::int64_t u = 0; u < from.n_users; ++u) {
    const auto own = train.items().part(train.user_offsets()[u], train.user_offsets()[u + 1]);
    const auto had = seen.part(saved.seen_offsets[u], saved.seen_offsets[u + 1]);
    if (std::ranges::includes(own, had)) continue;
    fail(ErrorKind::data,
         "{}: was trained on {} ratings of user {}, not all of them in the training part here; "
         "expected a model of the same split and seed",
         folder, had.size(), saved.users.name(u));
  }
  const std::uint64_t of_p = hash64(View<const float>(from.p).bytes());
  const std::uint64_t of_both = hash64(View<const float>(from.q).bytes(), of_p);
  start = std::move(saved.model);
  return {{"model", folder}, {"hash", hash64_text(of_both)}};
}

}  // namespace

int threads_of(const Case& item, int ranks_on_these_cpus) {
  if (!item.params.has("threads")) {
    const AlgorithmInfo& info = find_algorithm(item.algorithm);
    const bool all = info.hardware == Hardware::cuda || info.method == Method::closed_form;
    return all ? std::max(1, hardware_threads() / ranks_on_these_cpus) : 1;
  }
  const auto threads = static_cast<int>(item.params.integer("threads"));
  return threads == 0 ? std::max(1, hardware_threads() / ranks_on_these_cpus) : threads;
}

PreparedCase::PreparedCase(const Case& item, const Ratings& train, const RatingFacts& facts,
                           Lent lent)
    : device_(lent.device),
      team_(threads_of(item, lent.ranks_on_these_cpus), start_of_threads(lent.device)),
      rank_loan_(lent.ranks),
      foreign_loan_(std::move(lent.foreign)) {
  context_.team = &team_;
  context_.seed = item.seed;
  context_.phases = lent.phases;
  context_.stream = device_ != nullptr ? device_->stream() : nullptr;
  context_.rated_rows = facts.rating_users + facts.rated_items;
  context_.first_learning_rate = item.schedule.learning_rate;
  context_.level = {facts.mean, facts.deviation};
  context_.stop_requested = std::move(lent.stop_requested);
  if (rank_loan_.group != nullptr) context_.ranks = &rank_loan_;
  if (const auto& foreign = find_algorithm(item.algorithm).foreign) {
    if (!foreign->takes_test) foreign_loan_.test = nullptr;
    context_.foreign = &foreign_loan_;
  }
  Model initial = start_of(item.params, train, context_.level, item.init);
  if (!item.init.model.empty()) {
    const PhaseScope prepare(lent.phases, "prepare");
    const PhaseScope phase(lent.phases, "initial_factors");
    start_ = start_from_saved(initial, item, train);
  }
  if (lent.ratings) context_.ratings = lent.ratings(team_);
  algorithm_ = prepare_algorithm(item.algorithm, item.params, train, initial, context_,
                                 [this] { synchronize(); });
  rank_loan_.slice = nullptr;  // which is freed after it
  on_ranks_ = dynamic_cast<OnRanks*>(algorithm_.get());
  foreign_ = dynamic_cast<Foreign*>(algorithm_.get());
}

void PreparedCase::synchronize() const {
  if (device_ != nullptr) device_->synchronize();
}

FactorView PreparedCase::host_factors(Model& copy) {
  const FactorView view = factors();
  if (view.location == Location::host) return view;
  copy = download_model(view, context_.stream);
  return copy.view();
}

TrainingClock::OwnClock PreparedCase::own_clock() const {
  if (foreign_ == nullptr) return {};
  return [this] { return foreign_->own_train_s(); };
}

void PreparedCase::gather_factors() {
  if (on_ranks_ != nullptr) on_ranks_->gather_factors(context_);
}

Json PreparedCase::exchanged() const {
  return on_ranks_ != nullptr ? on_ranks_->exchanged() : Json();
}

FactorView PreparedCase::factors() {
  synchronize();
  return algorithm_->factors();
}

}  // namespace mf
