// The errors of a model, of which each rank of a case evaluates its blocks of the test part.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/evaluate/evaluator.hpp"
#include "harness/results/case_data.hpp"

namespace mf {

struct ShareToEvaluate {
  const Evaluator& evaluator;
  const CaseData& data;  // RankData::all_evaluate
  FactorView factors;    // whole, on the host
  ThreadTeam& team;
  Communicator& ranks;
};

struct SharedErrors {
  Accuracy test, validation;
  std::optional<Accuracy> mean;  // of predicting it on the test part: at epoch 0 alone
};

// All ranks together; the numbers of one process, on all.
inline SharedErrors evaluate_shares(const ShareToEvaluate& share, std::int64_t epoch) {
  const Split& split = *share.data.split;
  const SharedPart test = {split.test, share.data.test_parts, share.ranks};
  const SharedPart validation = {split.validation, share.data.validation_parts, share.ranks};
  SharedErrors errors;
  if (epoch == 0) errors.mean = share.evaluator.evaluate_mean(test, share.team);
  errors.test = share.evaluator.evaluate(share.factors, test, share.team);
  errors.validation = share.evaluator.evaluate(share.factors, validation, share.team);
  return errors;
}

}  // namespace mf
