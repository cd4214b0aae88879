// The ranks of a run: processes that mpirun or srun has started, or threads of this one for a case
// that asks for several. Rank 0 runs the spec as a single one would; the others follow its orders
// (follower.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ranks/communicator.hpp"
#include "harness/experiment/spec.hpp"
#include "harness/run/run_options.hpp"

namespace mf {

// For a case: its parameter `ranks` or `devices`, or 1.
int ranks_of(const Case& item);

// Throws Error(usage) if a spec tunes and asks for several ranks, in any way: one rank runs
// the trials of a search. Before anything is loaded.
void refuse_trials_of_ranks(const Spec& spec);

// The view of a rank: its machine, by number, and device_ids().
struct SeenDevices {
  int machine = 0;
  std::vector<std::string> ids;
};

// For each rank, by its place among its seen devices: the first device that no rank before it on
// the same machine has. Ranks that see the same devices have them in their order; a rank that its
// launcher limits to one device gets that. Empty if all are taken.
std::vector<std::optional<int>> assign_devices(const std::vector<SeenDevices>& ranks);

// Rank 0's next order to another.
struct Order {
  enum class What : std::int32_t {
    leave,
    connect,
    load,
    open,
    warm_up,
    prepare,
    epochs,
    gather,
    evaluate,
    energy,
    end
  };
  What what = What::leave;
  std::array<char, 64> case_hash = {};       // connect, load, open
  std::int64_t slices = 0;                   // load: each its share of the ratings
  std::int64_t first_epoch = 0, epochs = 0;  // evaluate: after epoch `first_epoch`
  double learning_rate = 0;
};

class RankWorld {
 public:
  // Only this process, or all that a launcher has started. Throws Error(unsupported) if there are
  // several in a build without MPI.
  RankWorld();
  // Waits for its threads to end.
  ~RankWorld();
  RankWorld(const RankWorld&) = delete;
  RankWorld& operator=(const RankWorld&) = delete;

  // The same spec on all. Throws Error(usage); on all ranks if one cannot read it.
  Spec read(const std::string& path);

  // Starts a thread for each other rank of the largest case, unless a launcher has started
  // processes. `follow` is called in each, with a world of its own, and calls this for it. Throws
  // Error(memory) if a thread could not be started; Error(usage), before anything is loaded, where
  // there are too few or too many processes, where they have another spec or version than rank 0,
  // or where their data is not at hand.
  using Follow = std::function<void(RankWorld&)>;
  void provide(const Spec& spec, const Follow& follow);

  bool leads() const { return all_.leads(); }
  int size() const { return all_.size(); }
  int rank() const { return all_.rank(); }
  Communicator& all() { return all_; }

  // Whether each rank is a process: by a launcher.
  bool launched() const { return launched_; }

  // For the first `count` ranks, how many share the CPUs of this one.
  int ranks_on_these_cpus(int count) const;
  // Machines are numbered in order of appearance.
  int machine_of(int rank) const { return places_.empty() ? 0 : places_[rank].machine; }

  // From rank 0 to a follower. Throws RankFault.
  void order(int to, const Order& order);
  Order await_order();
  // The others leave. Does nothing without others, or once the links are broken.
  void dismiss();

  // True once a rank has failed within a common operation. Then only the end of the run is left.
  bool broken() const { return broken_; }
  void set_broken() { broken_ = true; }

 private:
  struct Place {
    int machine = 0;
    std::string cpus;
  };
  explicit RankWorld(std::shared_ptr<RankLinks> links) : all_(std::move(links)) {}
  void refuse_count(const Spec& spec, int most) const;
  void start_threads(int count, const Follow& follow);
  void compare(const Spec& spec);
  void give_devices(const Spec& spec);

  Communicator all_;
  bool launched_ = false;
  bool provided_ = false;
  bool broken_ = false;
  std::vector<Place> places_;  // by rank; empty: one rank
  std::vector<std::thread> threads_;
};

// The other side of CaseRanks: a rank that does what rank 0 orders, and writes and prints nothing,
// until it is dismissed. Throws the error that ends the run: its own, or RankFault.
void follow_session(const Spec& spec, const RunOptions& options, RankWorld& world);

}  // namespace mf
