// The contract of an algorithm that trains in another process, by foreign code (algorithms/peer).
// Kernels do not need it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/core/algorithm.hpp"

namespace mf::peer {
class TrainingFiles;
}

namespace mf {

// The memory of the process.
struct ProcessNeed {
  // Peak up to the first evaluated point, with its mapped input files; empty: unknown.
  std::optional<double> bytes;
  std::string unknown;     // the part that `bytes` leaves out, or why it is unknown
  double limit_bytes = 0;  // allowed by the case; 0: all memory
  // Kept from each earlier point by a library that starts anew for each evaluated point.
  double of_further_point = 0;
  std::optional<double> bytes_of(std::int64_t points) const {
    if (!bytes) return std::nullopt;
    return *bytes + of_further_point * static_cast<double>(points > 1 ? points - 1 : 0);
  }
};

struct ForeignInfo {
  // An epoch costs as much as all before it: run_epochs() is called once for each evaluation.
  bool repeats_epochs = false;
  // A program that evaluates itself and leaves no model: only it is given the test part.
  bool takes_test = false;
  bool usual = false;            // of its library, if a spec names no algorithm
  std::string hardware = "cpu";  // or "cuda", "cpu or cuda"
  std::function<ProcessNeed(const Params&, const ProblemShape&)> process;
};

// The harness lends this to it for one case, beside the context.
struct ForeignLoan {
  std::string log_file;           // where its process is to print; empty: nowhere
  const Ratings* test = nullptr;  // what the case is judged by, for takes_test. Outlives it
  // The training part as files, for all cases whose processes train on it, in the keeping of a
  // process of that Python; empty: it writes its own.
  std::function<std::shared_ptr<const peer::TrainingFiles>(const std::string& python, PhaseSink*)>
      training_files;
  // Takes what finish() would have said, where prepare() fails. May be empty.
  std::function<void(const Json&)> account;
};

// Such an algorithm is this, too.
class Foreign {
 public:
  virtual ~Foreign() = default;

  // Seconds of all training so far by that process's own clock: its messages and files are on no
  // training clock.
  virtual double own_train_s() const = 0;
  virtual double cpu_s() const = 0;  // that its processes have worked
  // For a program that leaves no model: its own RMSE of the test part after the last epoch, perhaps
  // not finite. It is the only evaluation.
  virtual std::optional<double> reported_rmse() const = 0;
  // Ends the process. Returns facts known only then, for the result's footer; null: none.
  virtual Json finish() = 0;
};

// Thrown if a case is over, but neither by an error nor out of memory.
class CaseOver : public Error {
 public:
  enum class Why {
    timeout,   // the process did not answer in time
    diverged,  // the model is not finite
    skipped,   // prepare() found out that this machine cannot run it
  };
  CaseOver(Why why, const std::string& message)
      : Error(ErrorKind::unsupported, message), why_(why) {}
  Why why() const { return why_; }

 private:
  Why why_;
};

}  // namespace mf
