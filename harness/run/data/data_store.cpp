#include "harness/run/data/data_store.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/json/json_values.hpp"
#include "base/threads.hpp"
#include "datasets/load.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"
#include "datasets/split/observed.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/ranks/rank_load.hpp"

namespace mf {
namespace {

constexpr const char* kRatings = "ratings";
constexpr const char* kSplit = "split";
constexpr const char* kFacts = "facts";
constexpr const char* kUsersColumn = "users";
constexpr const char* kPackedForm = "packed";

// Other holders of the split keep it unchanged.
std::shared_ptr<const Split> with_packed_training(const Split& split, int threads) {
  ThreadTeam team(threads);
  auto packed = std::make_shared<Split>(split);
  packed->train.keep_packed(team);
  return packed;
}

}  // namespace

CaseData DataStore::get(const Case& item, bool keep_whole) {
  const std::string dataset_key = canonical(item.resolved.at("dataset"));
  if (std::exchange(study_, text_at(item.trial, {"study"}).value_or("")) != study_)
    of_study_.reset();
  load_seconds_ = {};
  split_s_ = 0;
  const std::string split_key = dataset_key + canonical(item.resolved.at("split"));
  const bool implicit = is_implicit(item);
  if (split_key != split_key_ || (!implicit && unobserved_.value_or(0) > 0)) {
    // The old ones go first: two large sets may not fit beside each other.
    drop_split();
    const bool at_hand = dataset_ && dataset_key == dataset_key_;
    if (!at_hand) load(item, dataset_key, !keep_whole);
    try {
      cut(item, keep_whole);
    } catch (const Error& error) {
      if (at_hand || keep_whole || error.kind() != ErrorKind::data) throw;
      // A cache file may be damaged: to read it whole says so and builds it again.
      load(item, dataset_key, false);
      cut(item, keep_whole);
    }
    split_key_ = split_key;
  }
  if (implicit && !unobserved_) observe();
  for (const char* name : {kRatings, kSplit, kFacts}) ledger_.used(name);
  if (users_column(item) == UsersColumn::made) make_users();
  if (!keep_whole) dataset_.reset();
  CaseData data;
  data.info = info_;
  data.split = split_;
  data.facts = facts_;
  data.sizes = sizes_of(*split_);
  data.unobserved = implicit ? unobserved_.value_or(0) : 0;
  data.load_parts = load_seconds_;
  data.split_s = split_s_;
  data.from_cache = from_cache_;
  return data;
}

CaseData DataStore::get_slice(const Case& item, Communicator& ranks, int ranks_on_these_cpus) {
  drop_dataset();
  const int threads = std::max(1, hardware_threads() / ranks_on_these_cpus);
  CaseData data = load_slice(item, ranks, threads);
  data.from_cache = from_cache_;
  return data;
}

// So that the ranks find it: they would each make it.
void DataStore::make_cache(const Case& item) {
  from_cache_ = fresh_cache(item.data).has_value();
  if (!is_cacheable(item.data) || from_cache_) return;
  drop_dataset();
  refuse_to_load(item);
  load_dataset(item.data, hardware_threads());
}

void DataStore::load(const Case& item, const std::string& key, bool to_cut) {
  drop_dataset();
  refuse_to_load(item);
  from_cache_ = fresh_cache(item.data).has_value();
  const auto start = Clock::now();
  Communicator self;
  const auto columns = to_cut ? ReadColumns::when_cut : ReadColumns::now;
  DatasetSlice loaded = load_dataset_slice(item.data, self, hardware_threads(), columns);
  dataset_ = std::make_shared<const Dataset>(std::move(loaded.slice.data));
  load_seconds_ = dataset_->load;
  info_ = std::make_shared<const DatasetInfo>(dataset_->info);
  dataset_key_ = key;
  ledger_.made({kRatings, seconds_since(start), SharedClock::load}, SharedScope::dataset);
}

void DataStore::cut(const Case& item, bool keep_whole) {
  const auto start = Clock::now();
  Dataset whole = *dataset_;
  if (!keep_whole) dataset_.reset();
  split_ = std::make_shared<const Split>(
      keep_whole ? make_split(whole, item.split, hardware_threads(), users_column(item))
                 : make_split_consuming(std::move(whole), item.split, hardware_threads(),
                                        users_column(item)));
  split_s_ = seconds_since(start);
  ledger_.made({kSplit, seconds_since(start), SharedClock::load}, SharedScope::split);
  find_facts();
}

void DataStore::find_facts() {
  const auto start = Clock::now();
  facts_ = std::make_shared<const RatingFacts>(facts_of(split_->train, hardware_threads()));
  ledger_.made({kFacts, seconds_since(start), SharedClock::load}, SharedScope::split);
}

// For this case and for later ones of implicit feedback.
void DataStore::observe() {
  const auto start = Clock::now();
  ThreadTeam team(useful_threads(hardware_threads(), sizes_of(*split_).all()));
  auto observed = std::make_shared<Split>(*split_);
  unobserved_ = keep_observed(*observed, info_->name, team);
  if (*unobserved_ > 0) {
    of_study_.reset();
    on_device_.drop();
    drop_training_files();
    split_ = std::move(observed);
    find_facts();
  }
  split_s_ += seconds_since(start);
}

// If earlier cases had no use for them; for later ones, too.
void DataStore::make_users() {
  if (!split_->train.has_users()) {
    const auto start = Clock::now();
    split_->train.users();
    split_s_ += seconds_since(start);
    ledger_.made({kUsersColumn, seconds_since(start), SharedClock::load}, SharedScope::split);
  }
  if (ledger_.has(kUsersColumn)) ledger_.used(kUsersColumn);
}

// Keeps it for later cases, unless it is the share of a rank.
void DataStore::pack(CaseData& data, int threads, PhaseSink* phases) {
  const bool shared = data.split == split_;
  if (data.split->train.packed() == nullptr) {
    const PhaseScope phase(phases, kPackPhase);
    const auto start = Clock::now();
    data.split = with_packed_training(*data.split, std::max(1, threads));
    if (shared) {
      split_ = data.split;
      ledger_.made({kPackedForm, seconds_since(start), SharedClock::prepare}, SharedScope::split);
    }
  }
  if (shared) ledger_.used(kPackedForm);
}

std::shared_ptr<const peer::TrainingFiles> DataStore::training_files(const std::string& python,
                                                                     PhaseSink* phases) {
  if (training_files_ && !training_files_->untouched()) drop_training_files();
  if (!training_files_)
    training_files_ = std::make_shared<const peer::TrainingFiles>(python, split_->train, phases);
  return training_files_;
}

double DataStore::training_files_bytes() const {
  if (!training_files_ || !training_files_->in_memory()) return 0;
  return static_cast<double>(training_files_->bytes());
}

void DataStore::drop_split() {
  of_study_.reset();
  on_device_.drop();
  drop_training_files();
  split_.reset();
  unobserved_.reset();
  facts_.reset();
  split_key_.clear();
  ledger_.drop(SharedScope::split);
}

void DataStore::drop_dataset() {
  drop_split();
  dataset_.reset();
  info_.reset();
  dataset_key_.clear();
  ledger_.drop(SharedScope::dataset);
}

}  // namespace mf
