#include "base/ranks/mpi_ranks.hpp"

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
#include "base/log.hpp"
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

// MPI counts in int and only reports that a message has ended: long messages go in pieces, so that
// progress of a slow one shows.
constexpr std::int64_t kPieceBytes = 64 << 20;
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
    if (!broken_ && all_leave()) {
      MPI_Finalize();
      return;
    }
    const auto start = Clock::now();
    while (rank_ != 0 && seconds_since(start) < kAbortSeconds) ::usleep(10000);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                double patience_s) override {
    std::vector<MPI_Request> requests;
    std::vector<Piece> under_way;
    for (const Incoming& one : receives) {
      pieces(one.bytes, [&](std::int64_t begin, int count) {
        requests.emplace_back();
        under_way.push_back({one.from, count});
        MPI_Irecv(static_cast<std::byte*>(one.data) + begin, count, MPI_BYTE, one.from, 0, data_,
                  &requests.back());
      });
    }
    for (const Outgoing& one : sends) {
      pieces(one.bytes, [&](std::int64_t begin, int count) {
        requests.emplace_back();
        under_way.push_back({one.to, Piece::kSent});
        MPI_Isend(static_cast<const std::byte*>(one.data) + begin, count, MPI_BYTE, one.to, 0,
                  data_, &requests.back());
      });
    }
    wait(requests, under_way, patience_s);
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
  // MPI_Finalize waits for all, and no signal ends that.
  bool all_leave() noexcept {
    try {
      std::vector<int> others;
      for (int other = 0; other < size_; ++other) {
        if (other != rank_) others.push_back(other);
      }
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(notes_, &request);
      const auto start = Clock::now();
      for (int all = 0; all == 0; ::usleep(1000)) {
        MPI_Test(&request, &all, MPI_STATUS_IGNORE);
        if (all == 0 && heard()) return false;
        if (all == 0) end_long_wait(others, seconds_since(start), rank_patience_s());
      }
      return true;
    } catch (const std::exception& error) {
      warn("{}; the processes are ended", error.what());
      return false;
    }
  }

  template <class Body>
  static void pieces(std::int64_t bytes, const Body& body) {
    for (std::int64_t begin = 0; begin < bytes; begin += kPieceBytes) {
      body(begin, static_cast<int>(std::min(kPieceBytes, bytes - begin)));
    }
  }

  struct Piece {
    static constexpr int kSent = -1;
    int other;
    int expected;  // bytes; of one that is received
  };

  void check(const Piece& piece, const MPI_Status& status) {
    if (piece.expected == Piece::kSent) return;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count == piece.expected) return;
    broken_ = true;
    throw std::logic_error(
        fmt::format("rank {} sent {} bytes, expected {}: the ranks are not in step", piece.other,
                    count, piece.expected));
  }

  // Without spinning for long: a waiting rank leaves its CPU to computing ones.
  void wait(std::vector<MPI_Request>& requests, const std::vector<Piece>& under_way,
            double patience_s) {
    constexpr int kSpins = 200;
    const int count = static_cast<int>(requests.size());
    std::vector<int> which(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    auto moved = Clock::now();
    for (int left = count, turn = 0; left > 0; ++turn) {
      int ended = 0;
      MPI_Testsome(count, requests.data(), &ended, which.data(), statuses.data());
      for (int k = 0; k < ended; ++k) check(under_way[which[k]], statuses[k]);
      left -= ended;
      if (left == 0) return;
      if (ended > 0) {
        moved = Clock::now();
        turn = 0;
      }
      try {
        if (const auto fault = heard()) throw RankFault(*fault);
        if (turn >= kSpins)
          end_long_wait(others_of(requests, under_way), seconds_since(moved), patience_s);
      } catch (const RankFault&) {
        broken_ = true;
        give_up(requests);
        throw;
      }
      if (turn < kSpins) {
        ::sched_yield();
      } else {
        ::usleep(turn < 2000 ? 50 : 1000);
      }
    }
  }

  // The peers of unfinished transfers.
  static std::vector<int> others_of(const std::vector<MPI_Request>& requests,
                                    const std::vector<Piece>& under_way) {
    std::vector<int> others;
    for (std::size_t k = 0; k < requests.size(); ++k) {
      if (requests[k] != MPI_REQUEST_NULL) others.push_back(under_way[k].other);
    }
    return others;
  }

  // MPI must not write to memory that is about to be freed.
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
