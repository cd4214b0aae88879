// The elapsed and the remaining time of a run, by the cases that have ended and the epochs of the
// one that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/spec.hpp"
#include "harness/run/run_options.hpp"

namespace mf {

double seconds_of_clock();  // steady

class RunTime {
 public:
  explicit RunTime(std::function<double()> now = seconds_of_clock);

  // The cases that have no result yet, and the cases that other processes of this run have run.
  void begin_run(const std::vector<const Case*>& to_come, const RanBefore& before);
  // How many trials are to come is known, but not which.
  void begin_case(const Case& item, std::size_t index, std::size_t count);
  void end_case();

  // This epoch has ended, after `train_s` of training; 0: the initial model is there.
  void epoch(std::int64_t epoch, double train_s);

  double spent_s() const { return before_.seconds + now_() - start_; }
  // Empty before the first epoch of the first case.
  std::optional<double> left_s() const;
  // For all cases, with the part of the one that runs.
  double share() const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    std::optional<double> value() const;
  };
  std::optional<double> expected_s(const std::string& kind) const;
  std::optional<double> case_left_s() const;

  std::function<double()> now_;
  RanBefore before_;
  double start_ = 0;
  std::map<std::string, std::int64_t> to_come_;  // cases by kind: their algorithm and data set
  std::map<std::string, Mean> of_kind_;
  Mean of_all_;
  // For the case that runs.
  StopSpec stop_;
  std::string kind_;
  std::size_t index_ = 0, count_ = 0;
  double case_start_ = 0, trained_from_ = 0;
  double case_share_ = 0;
};

}  // namespace mf
