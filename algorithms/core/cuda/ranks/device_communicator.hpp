// Collective operations of the devices of several ranks, a device a rank:
// base/ranks/communicator.hpp for device memory, by NCCL. All operations are queued on a stream,
// and called by all ranks in the same order.
//
// A kernel of NCCL waits for the others as long as it takes. So a rank waits for its stream by
// wait(). If another has failed, or end_long_wait() (base/ranks/rank_links.hpp) ends an exchange,
// NCCL is told to abort and RankFault is thrown.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"
#include "base/clock.hpp"
#include "base/ranks/communicator.hpp"

struct ncclComm;

namespace mf::cuda {

// Bytes to or from another rank. Empty ones are left out.
struct DevicePiece {
  int rank = 0;
  void* data = nullptr;
  std::int64_t bytes = 0;
};

// For all exchanges since set_use(), as far as wait() has seen them end.
struct ExchangeUse {
  double seconds = 0;  // on their stream, with waiting for the slowest rank
  std::int64_t count = 0;
  std::int64_t bytes_sent = 0, bytes_received = 0;  // of this rank
};

class DeviceCommunicator {
 public:
  // For these ranks, on the device that is current in each: made by the first call, which all make,
  // and used again by later ones. It does not wait for NCCL, which takes a second or two in a
  // thread of NCCL: be_connected() does. Throws Error(unsupported) in a build without NCCL or if
  // the library is missing, on all ranks alike; RankFault.
  static DeviceCommunicator& of(Communicator& ranks);

  explicit DeviceCommunicator(Communicator& ranks);
  ~DeviceCommunicator();
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;

  // Waits for NCCL, and connects all to all; otherwise the first operation does so. All ranks;
  // throws RankFault, Error(device).
  void be_connected();

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }
  Communicator& host() { return ranks_; }

  // For exchanges beside the work: its kernels precede others that wait for room.
  cudaStream_t stream() const { return stream_; }

  // All at once: at most one to and one from each other rank, as long as the other expects.
  void exchange(std::span<const DevicePiece> sends, std::span<const DevicePiece> receives,
                cudaStream_t stream);
  // Each rank has filled its part of `data`, the bytes from its offset to the next; all get all.
  // Parts may be empty.
  void all_gather(void* data, const PartOffsets& byte_offsets, cudaStream_t stream);
  // Rows of `row_bytes`: part `number` of each rank.
  void all_gather(void* rows, std::int64_t row_bytes, const RowShards& shards, int number,
                  cudaStream_t stream);
  // Each rank's own rows to rank 0, which has room for all. `rows` begins with row `first_row`.
  void gather(void* rows, std::int64_t first_row, std::int64_t row_bytes, const RowShards& shards,
              cudaStream_t stream);
  // To the next rank, from the one before; the ranks, two or more, are a ring.
  void shift(const void* out, std::int64_t bytes_out, void* in, std::int64_t bytes_in,
             cudaStream_t stream);
  // Element by element over the ranks, in place. The same bits on all ranks.
  void all_sum(std::int64_t* values, std::int64_t count, cudaStream_t stream);
  void all_sum(float* values, std::int64_t count, cudaStream_t stream);
  void all_sum(double* values, std::int64_t count, cudaStream_t stream);

  // Until all that is queued on the stream is done. Throws RankFault, Error(device).
  void wait(cudaStream_t stream);
  // If work is queued ahead: waits until only a few of these calls are. A full queue would block
  // the thread, which then does not see that a rank has failed.
  void pace(cudaStream_t stream);

  // Ends the work queued here; all later calls are errors. For a rank that fails: its memory is
  // freed afterwards, which waits for the device.
  void give_up() noexcept;
  // Runs `action`, and gives up if it throws.
  template <class Action>
  auto guarded(Action&& action) {
    try {
      return action();
    } catch (...) {
      give_up();
      throw;
    }
  }

  const ExchangeUse& use() const { return use_; }
  // All exchanges queued so far, including the connecting ones, which use() leaves out.
  std::int64_t queued() const { return queued_; }
  void set_use(const ExchangeUse& use) { use_ = use; }

 private:
  struct Timed {
    Event begin, end;
    std::optional<Clock::time_point> seen = std::nullopt;  // when a wait saw that it has begun
  };
  void connect();
  template <class PieceOf>
  void gather_pieces(const PieceOf& piece_of, cudaStream_t stream);
  template <class Calls>
  void group(cudaStream_t stream, std::int64_t sent, std::int64_t received, Calls&& calls);
  template <class T>
  void sum(T* values, std::int64_t count, cudaStream_t stream);
  void check(int result, const char* call);
  void settle(const char* call);
  void look();
  void look_at_exchange();
  void look_at_result();
  void end_long_wait_since(Clock::time_point start);
  Timed take_timed();
  void read_times();

  Communicator ranks_;
  ncclComm* comm_ = nullptr;
  std::exception_ptr not_begun_;
  bool connected_ = false;
  cudaStream_t stream_ = nullptr;
  ExchangeUse use_;
  std::int64_t queued_ = 0;
  std::deque<Timed> timed_;   // that may not have ended
  std::vector<Timed> spare_;  // to be used again
  std::deque<Event> ahead_;   // of pace()
};

}  // namespace mf::cuda
