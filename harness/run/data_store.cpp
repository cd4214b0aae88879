#include "harness/run/data_store.hpp"

#include "datasets/load.hpp"
#include "harness/results/ranges.hpp"

namespace mf {
namespace {

SharedCost lent(const char* name, double seconds) { return {name, seconds, SharedClock::load}; }

}  // namespace

CaseData DataStore::get(const Case& item, bool keep_whole) {
  const std::string dataset_key = canonical(item.resolved.at("dataset"));
  const std::string split_key = dataset_key + canonical(item.resolved.at("split"));
  CaseData data;
  if (split_key == split_key_) {
    data.shared = {lent("ratings", ratings_s_), lent("split", split_s_), lent("facts", facts_s_)};
  } else {
    // The old ones go first: two large sets may not fit beside each other.
    split_.reset();
    facts_.reset();
    split_key_.clear();
    load(item, dataset_key, data.shared);
    cut(item);
    split_key_ = split_key;
  }
  if (!keep_whole) dataset_.reset();
  data.info = info_;
  data.split = split_;
  data.facts = facts_;
  return data;
}

void DataStore::load(const Case& item, const std::string& key, SharedCosts& shared) {
  if (dataset_ && dataset_key_ == key) {
    shared = {lent("ratings", ratings_s_)};
    return;
  }
  dataset_.reset();
  info_.reset();
  const auto start = Clock::now();
  dataset_ = std::make_shared<const Dataset>(load_dataset(item.data, hardware_threads()));
  info_ = std::make_shared<const DatasetInfo>(dataset_->info);
  dataset_key_ = key;
  ratings_s_ = seconds_since(start);
}

void DataStore::cut(const Case& item) {
  auto start = Clock::now();
  split_ = std::make_shared<const Split>(make_split(*dataset_, item.split, hardware_threads()));
  split_s_ = seconds_since(start);
  start = Clock::now();
  facts_ = std::make_shared<const RatingFacts>(facts_of(split_->train, hardware_threads()));
  facts_s_ = seconds_since(start);
}

void DataStore::clear() {
  split_.reset();
  facts_.reset();
  dataset_.reset();
  info_.reset();
  dataset_key_.clear();
  split_key_.clear();
}

SharedCosts DataStore::note_start(double seconds) {
  if (first_start_s_) return {{"first_case", *first_start_s_, SharedClock::start}};
  first_start_s_ = seconds;
  return {};
}

}  // namespace mf
