// Keeps the last data set and split: neighbours in a spec mostly share them.
#pragma once

#include <memory>
#include <string>

#include "harness/results/case_data.hpp"
#include "harness/spec/spec.hpp"

namespace mf {

class DataStore {
 public:
  CaseData get(const Case& item);

 private:
  std::string dataset_key_;
  std::string split_key_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<const Split> split_;
};

}  // namespace mf
