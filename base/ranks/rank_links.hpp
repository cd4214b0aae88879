// Threads or processes that compute together are ranks 0, 1, 2, ... of a run. A backend moves bytes
// between two of them and tells all others if one has failed. base/ranks/communicator.hpp builds
// the collective operations on it.
//
// One thread a rank uses its links.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace mf {

struct Outgoing {
  int to;
  const void* data;
  std::int64_t bytes;
};

struct Incoming {
  int from;
  void* data;
  std::int64_t bytes;
};

// The failure of a rank, as it reported it or as the others found out.
struct Fault {
  int rank = 0;
  ErrorKind kind = ErrorKind::io;
  std::string message;  // without the rank
};

// "rank 2: the host's memory did not suffice". After one nothing more can be moved: some of the
// ranks are in the middle of it.
class RankFault : public Error {
 public:
  explicit RankFault(Fault fault);
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

// Seconds that a rank waits for another within an operation before it takes it for lost:
// MFBENCH_RANK_PATIENCE, else 1800. 0: for ever.
double rank_patience_s();

// A backend calls this many times a second while nothing has moved for `waited_s`. Throws RankFault
// of the first of `others`, whom this rank waits for, after `patience_s` (0: never), or if the
// WaitScope of this thread ends the wait. The scope is not asked in the first seconds: healthy
// ranks wait that long for each other within an epoch.
void end_long_wait(std::vector<int> others, double waited_s, double patience_s);

// A fault in the form sent between ranks.
std::string to_note(const Fault& fault);
Fault from_note(const std::string& note);

class RankLinks {
 public:
  virtual ~RankLinks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // All of these transfers at once, one or more; returns when `sends` may be overwritten and
  // `receives` are there. At most one to and one from each rank, none with itself; the length a
  // rank expects must be the length sent. Throws RankFault when another rank has failed, is gone,
  // or as end_long_wait() says; "mpi" sees that something moves once 64 MiB, or all of a shorter
  // transfer, have.
  virtual void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                        double patience_s) = 0;

  // Tells all others that this rank has failed, or that another has: before this one ends because
  // of that, or it would be taken for the first. Does not wait for them.
  virtual void announce(const Fault& fault) noexcept = 0;

  // The fault of another rank, if there is word of one. Quick: to be polled within an epoch.
  virtual std::optional<Fault> heard() = 0;

  // After a fault: ends the others if the backend can.
  virtual void end_others(int /*exit_code*/) noexcept {}

  // An object that the first `count` ranks built on the links and use again while the links live:
  // null at first.
  std::shared_ptr<void>& kept(int count) { return kept_[count]; }

 private:
  std::map<int, std::shared_ptr<void>> kept_;
};

}  // namespace mf
