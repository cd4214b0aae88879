#include "harness/run/data_store.hpp"

#include "datasets/load.hpp"
#include "harness/results/ranges.hpp"
#include "harness/run/preflight.hpp"

namespace mf {

CaseData DataStore::get(const Case& item) {
  const auto start = Clock::now();
  const std::string dataset_key = canonical(item.resolved.at("dataset"));
  const std::string split_key = dataset_key + canonical(item.resolved.at("split"));
  if (dataset_key != dataset_key_) {
    // The old ones go first: two large sets may not fit beside each other.
    split_.reset();
    dataset_.reset();
    dataset_key_.clear();
    split_key_.clear();
    refuse_to_load(item);
    dataset_ = std::make_shared<const Dataset>(load_dataset(item.data, hardware_threads()));
    dataset_key_ = dataset_key;
  }
  if (split_key != split_key_) {
    split_.reset();
    split_key_.clear();
    split_ = std::make_shared<const Split>(make_split(*dataset_, item.split, hardware_threads()));
    split_key_ = split_key;
  }
  return {dataset_, split_, seconds_since(start)};
}

}  // namespace mf
