// Data shared by the cases of a run: the last data set and split with the facts of the training
// part, and its packed form once a device needs it. Neighbours in a spec mostly share these.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "algorithms/peer/files.hpp"
#include "harness/evaluate/quality.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/results/files/case_data.hpp"
#include "harness/run/data/shared_ledger.hpp"
#include "harness/run/data/shared_ratings.hpp"

namespace mf {

class DataStore {
 public:
  // Ratings are held once: as soon as they are cut, the whole data set goes, but where `keep_whole`
  // says that a later case cuts it in another way. The ledger has what was made and used.
  CaseData get(const Case& item, bool keep_whole = false);

  // The share of this rank, which belongs only to the case and is not kept. All ranks together
  // (harness/run/ranks/rank_load.hpp).
  CaseData get_slice(const Case& item, Communicator& ranks, int ranks_on_these_cpus);

  // Packs the training part of a case for a device, as the phase "pack", unless an earlier case has
  // packed it.
  void pack(CaseData& data, int threads, PhaseSink* phases);

  // Has the cache file made from which the ranks read their shares, if there should be one.
  void make_cache(const Case& item);

  // The next case makes all of it anew.
  void clear() { drop_dataset(); }

  bool holds_whole() const { return dataset_ != nullptr; }

  SharedLedger& ledger() { return ledger_; }

  // The training ratings of the split at hand.
  SharedRatings& on_device() { return on_device_; }

  // Ranks for the trials of one study on the split at hand; the first makes it.
  std::shared_ptr<QualityEvaluator>& of_study() { return of_study_; }

  // The training part of the split at hand as files for other processes, written for the first case
  // that asks, and again where a process has written to them. Throws Error(io).
  std::shared_ptr<const peer::TrainingFiles> training_files(const std::string& python,
                                                            PhaseSink* phases);
  bool holds_training_files() const { return training_files_ != nullptr; }
  // For the memory; 0 if they lie on a disk.
  double training_files_bytes() const;
  void drop_training_files() { training_files_.reset(); }

 private:
  void load(const Case& item, const std::string& key, bool to_cut);
  void cut(const Case& item, bool keep_whole);
  void find_facts();
  void observe();
  void make_users();
  void drop_split();
  void drop_dataset();

  std::string dataset_key_;  // of info_, and of dataset_ if it is there
  std::string split_key_;
  std::shared_ptr<const Dataset> dataset_;  // null once it has been cut
  std::shared_ptr<const DatasetInfo> info_;
  std::shared_ptr<const Split> split_;
  // Pairs that left it for implicit feedback; empty before a case of it asked.
  std::optional<std::int64_t> unobserved_;
  std::shared_ptr<const RatingFacts> facts_;
  SharedRatings on_device_;
  std::shared_ptr<const peer::TrainingFiles> training_files_;
  std::shared_ptr<QualityEvaluator> of_study_;
  std::string study_;  // whose it is
  SharedLedger ledger_;
  bool from_cache_ = false;   // whether the data set was cached
  LoadSeconds load_seconds_;  // of the last get()
  double split_s_ = 0;
};

}  // namespace mf
