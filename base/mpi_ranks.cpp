#include "base/mpi_ranks.hpp"

#include <cstdlib>

#ifdef MF_HAVE_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <vector>

#include "base/clock.hpp"
#endif

namespace mf {
namespace {

int number_in(const char* variable, int fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}

bool has(const char* variable) { return std::getenv(variable) != nullptr; }

}  // namespace

int launched_count() {
  if (has("OMPI_COMM_WORLD_SIZE")) return number_in("OMPI_COMM_WORLD_SIZE", 1);
  if (has("PMI_SIZE")) return number_in("PMI_SIZE", 1);
  if (has("PMIX_RANK")) return number_in("SLURM_STEP_NUM_TASKS", 1);
  return 1;
}

int launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (has(variable)) return number_in(variable, 0);
  }
  return 0;
}

#ifndef MF_HAVE_MPI

std::string mpi_version() { return ""; }

std::shared_ptr<RankLinks> join_mpi_ranks() {
  fail(ErrorKind::unsupported,
       "started as one of {} processes, and this build has no MPI (./dev deps mpi, rebuild); "
       "without mpirun or srun, mfbench starts the ranks of one machine by itself",
       launched_count());
}

#else

namespace {

constexpr std::int64_t kPieceBytes = 1 << 30;  // MPI counts in int
constexpr double kAbortSeconds = 8;

class MpiLinks : public RankLinks {
 public:
  MpiLinks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &data_);
    MPI_Comm_dup(MPI_COMM_WORLD, &notes_);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
  }
  MpiLinks(const MpiLinks&) = delete;
  MpiLinks& operator=(const MpiLinks&) = delete;

  // After a fault there are transfers that never end, for which MPI_Finalize would wait: rank 0
  // aborts.
  ~MpiLinks() override {
    if (!broken_) {
      MPI_Finalize();
      return;
    }
    const auto start = Clock::now();
    while (rank_ != 0 && seconds_since(start) < kAbortSeconds) ::usleep(10000);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return "mpi"; }

  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                double patience_s) override {
    std::vector<MPI_Request> requests;
    std::vector<std::int64_t> expected;  // bytes; -1: of a send
    for (const Incoming& one : receives) {
      pieces(one.bytes, [&](std::int64_t begin, int count) {
        requests.emplace_back();
        expected.push_back(count);
        MPI_Irecv(static_cast<std::byte*>(one.data) + begin, count, MPI_BYTE, one.from, 0, data_,
                  &requests.back());
      });
    }
    for (const Outgoing& one : sends) {
      pieces(one.bytes, [&](std::int64_t begin, int count) {
        requests.emplace_back();
        expected.push_back(-1);
        MPI_Isend(static_cast<const std::byte*>(one.data) + begin, count, MPI_BYTE, one.to, 0,
                  data_, &requests.back());
      });
    }
    std::vector<MPI_Status> statuses(requests.size());
    wait(requests, statuses, patience_s, receives.empty() ? sends.front().to : receives[0].from);
    for (std::size_t k = 0; k < requests.size(); ++k) {
      if (expected[k] < 0) continue;
      int count = 0;
      MPI_Get_count(&statuses[k], MPI_BYTE, &count);
      if (count == expected[k]) continue;
      broken_ = true;
      throw std::logic_error(
          fmt::format("rank {} sent {} bytes, expected {}: the ranks are not in step",
                      statuses[k].MPI_SOURCE, count, expected[k]));
    }
  }

  void announce(const Fault& fault) noexcept override {
    broken_ = true;
    const std::string text = to_note(fault);
    std::vector<MPI_Request> requests(size_, MPI_REQUEST_NULL);
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      said_.push_back(text);
      MPI_Isend(said_.back().data(), static_cast<int>(text.size()), MPI_BYTE, other, 0, notes_,
                &requests[other]);
    }
    int all = 0;
    for (const auto start = Clock::now(); all == 0 && seconds_since(start) < 1; ::usleep(100)) {
      MPI_Testall(size_, requests.data(), &all, MPI_STATUSES_IGNORE);
    }
  }

  std::optional<Fault> heard() override {
    if (fault_) return fault_;
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, notes_, &there, &status);
    if (there == 0) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::string text(count, '\0');
    MPI_Recv(text.data(), count, MPI_BYTE, status.MPI_SOURCE, 0, notes_, MPI_STATUS_IGNORE);
    broken_ = true;
    fault_ = from_note(text);
    return fault_;
  }

  void end_others(int exit_code) noexcept override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  template <class Body>
  static void pieces(std::int64_t bytes, const Body& body) {
    for (std::int64_t begin = 0; begin < bytes; begin += kPieceBytes) {
      body(begin, static_cast<int>(std::min(kPieceBytes, bytes - begin)));
    }
  }

  // Without spinning for long: a rank that waits leaves its CPU to those that compute.
  void wait(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
            double patience_s, int other) {
    const auto start = Clock::now();
    for (int turn = 0;; ++turn) {
      int all = 0;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, statuses.data());
      if (all != 0) return;
      std::optional<Fault> fault = heard();
      if (!fault && patience_s > 0 && seconds_since(start) > patience_s) {
        fault = Fault{
            other, ErrorKind::io,
            fmt::format("was waited for {:.0f} s; MFBENCH_RANK_PATIENCE waits longer", patience_s)};
      }
      if (fault) {
        broken_ = true;
        give_up(requests);
        throw RankFault(*fault);
      }
      if (turn < 200) {
        ::sched_yield();
      } else {
        ::usleep(turn < 2000 ? 50 : 1000);
      }
    }
  }

  // Nothing more is to be written to memory that is about to go.
  static void give_up(std::vector<MPI_Request>& requests) {
    for (MPI_Request& one : requests) {
      if (one == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&one);
      MPI_Request_free(&one);
    }
  }

  MPI_Comm data_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool broken_ = false;
  std::optional<Fault> fault_;   // the first that was heard of
  std::list<std::string> said_;  // on their way
};

}  // namespace

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

std::shared_ptr<RankLinks> join_mpi_ranks() { return std::make_shared<MpiLinks>(); }

#endif

}  // namespace mf
