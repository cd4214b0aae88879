// What the cases of a run have in common: the last data set and split, since neighbours in a spec
// mostly share them, with the facts of its training part.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/results/case_data.hpp"
#include "harness/spec/spec.hpp"

namespace mf {

class DataStore {
 public:
  // With what was lent in `shared`. Ratings are held once: as soon as they are cut, the whole data
  // set goes, but where `keep_whole` says that a later case cuts it in another way.
  CaseData get(const Case& item, bool keep_whole = false);

  // The next case makes all of it anew.
  void clear();

  bool holds_whole() const { return dataset_ != nullptr; }

  // To be told by each case what its start took. Returns what the first of the run had paid for the
  // others: context of the device, facts about the machine. Nothing for the first itself.
  SharedCosts note_start(double seconds);

 private:
  void load(const Case& item, const std::string& key, SharedCosts& shared);
  void cut(const Case& item);

  std::string dataset_key_;  // of info_, and of dataset_ where it is there
  std::string split_key_;
  std::shared_ptr<const Dataset> dataset_;  // null once it has been cut
  std::shared_ptr<const DatasetInfo> info_;
  std::shared_ptr<const Split> split_;
  std::shared_ptr<const RatingFacts> facts_;
  double ratings_s_ = 0, split_s_ = 0, facts_s_ = 0;  // what they took
  std::optional<double> first_start_s_;
};

}  // namespace mf
