#include "algorithms/core/cuda/ranks/device_communicator.hpp"

#include <sched.h>
#include <unistd.h>

#include <string>
#include <type_traits>
#include <utility>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ranks/nccl.hpp"
#include "base/error.hpp"

#ifdef MF_HAVE_NCCL
#include "algorithms/core/cuda/ranks/nccl_functions.hpp"
#endif

namespace mf::cuda {

DeviceCommunicator& DeviceCommunicator::of(Communicator& ranks) {
  std::shared_ptr<void>& kept = ranks.kept();
  if (!kept) kept = std::make_shared<DeviceCommunicator>(ranks);
  return *static_cast<DeviceCommunicator*>(kept.get());
}

#ifndef MF_HAVE_NCCL

DeviceCommunicator::DeviceCommunicator(Communicator&) {
  std::string why;
  nccl_version(&why);
  throw Error(ErrorKind::unsupported, why);
}
DeviceCommunicator::~DeviceCommunicator() = default;
void DeviceCommunicator::exchange(std::span<const DevicePiece>, std::span<const DevicePiece>,
                                  cudaStream_t) {}
void DeviceCommunicator::all_sum(std::int64_t*, std::int64_t, cudaStream_t) {}
void DeviceCommunicator::all_sum(float*, std::int64_t, cudaStream_t) {}
void DeviceCommunicator::all_sum(double*, std::int64_t, cudaStream_t) {}
void DeviceCommunicator::be_connected() {}
void DeviceCommunicator::look() {}
void DeviceCommunicator::look_at_exchange() {}
void DeviceCommunicator::look_at_result() {}
void DeviceCommunicator::give_up() noexcept {}

#else

namespace {

constexpr double kSecondsForWord = 1;

}  // namespace

DeviceCommunicator::DeviceCommunicator(Communicator& ranks) : ranks_(ranks.borrowed()) {
  // If one of them lacks the library, all throw.
  ranks_.agree([] { nccl(); });
  ncclUniqueId id{};
  ranks_.agree([&] {
    if (ranks_.leads()) check(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId");
  });
  ranks_.broadcast(id);
  // Failures from here on fail only this rank: the others learn of it at the first use.
  try {
    int least = 0;
    int greatest = 0;
    MF_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MF_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // NCCL connects in a separate thread, without waiting for ranks
    const ncclResult_t begun = nccl().ncclCommInitRankConfig(&comm_, size(), id, rank(), &config);
    if (begun != ncclInProgress) check(begun, "ncclCommInitRankConfig");
  } catch (...) {
    not_begun_ = std::current_exception();
  }
}

void DeviceCommunicator::be_connected() {
  if (not_begun_) std::rethrow_exception(not_begun_);
  if (comm_ == nullptr || std::exchange(connected_, true)) return;
  guarded([&] {
    settle("ncclCommInitRankConfig");
    connect();
  });
}

// NCCL connects two ranks, and loads its kernels, within the first message between them: .1 s a
// rank, which would be the first epoch's. The message is long enough to use all its channels.
void DeviceCommunicator::connect() {
  constexpr std::int64_t kNumbers = std::int64_t{1} << 19;
  auto numbers = zeros<double>(kNumbers * size(), stream_);
  PartOffsets bytes;
  for (int rank = 0; rank <= size(); ++rank) {
    bytes.push_back(kNumbers * rank * static_cast<std::int64_t>(sizeof(double)));
  }
  all_gather(numbers.data(), bytes, stream_);
  all_sum(numbers.data(), kNumbers, stream_);
  wait(stream_);
  use_ = {};
}

// The queue is empty; does not wait for the remains of a failed rank.
DeviceCommunicator::~DeviceCommunicator() {
  give_up();
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void DeviceCommunicator::give_up() noexcept {
  if (comm_ != nullptr) nccl().ncclCommAbort(std::exchange(comm_, nullptr));
}

// Another rank's fault is the cause, if there is one; NCCL only says that something broke.
void DeviceCommunicator::look() {
  if (const auto fault = ranks_.heard()) {
    give_up();
    throw RankFault(*fault);
  }
}

// The stream also ends if NCCL has given up, and its data are then no result.
void DeviceCommunicator::look_at_result() {
  look();
  if (comm_ != nullptr) settle("an exchange of NCCL");
}

// For a call that does not block: waits until its work is done.
void DeviceCommunicator::check(int result, const char* call) {
  const auto code = static_cast<ncclResult_t>(result);
  if (code == ncclSuccess) return;
  if (code == ncclInProgress) return settle(call);
  // News of the failure may be on its way.
  for (const auto start = Clock::now(); seconds_since(start) < kSecondsForWord; ::usleep(1000)) {
    look();
  }
  const std::string text = nccl().ncclGetErrorString(code);
  give_up();
  fail(ErrorKind::device, "{}: {}; NCCL_DEBUG=WARN says more", call, text);
}

void DeviceCommunicator::settle(const char* call) {
  const auto start = Clock::now();
  while (true) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = nccl().ncclCommGetAsyncError(comm_, &state);
    if (asked != ncclSuccess) return check(asked, "ncclCommGetAsyncError");
    if (state != ncclInProgress) return check(state, call);
    look();
    end_long_wait_since(start);
    ::sched_yield();
  }
}

// NCCL does not say which rank is late: it may be any of the others.
void DeviceCommunicator::end_long_wait_since(Clock::time_point start) {
  std::vector<int> others;
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) others.push_back(other);
  }
  guarded([&] { end_long_wait(std::move(others), seconds_since(start), rank_patience_s()); });
}

// While a stream is waited for. Only an exchange that has begun and does not end is a wait for the
// others; computing is not.
void DeviceCommunicator::look_at_exchange() {
  look();
  read_times();
  if (timed_.empty() || !timed_.front().begin.has_happened()) return;
  std::optional<Clock::time_point>& seen = timed_.front().seen;
  if (!seen) seen = Clock::now();
  end_long_wait_since(*seen);
}

template <class Calls>
void DeviceCommunicator::group(cudaStream_t stream, std::int64_t sent, std::int64_t received,
                               Calls&& calls) {
  if (comm_ == nullptr) {
    look();
    fail(ErrorKind::device, "the devices of the ranks are no longer connected");
  }
  Timed timed = take_timed();
  timed.begin.record(stream);
  check(nccl().ncclGroupStart(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    nccl().ncclGroupEnd();  // a call that gave up within an open group waits for its end
    throw;
  }
  const ncclResult_t ended = nccl().ncclGroupEnd();
  check(ended, "ncclGroupEnd");
  if (ended == ncclSuccess) settle("ncclGroupEnd");
  timed.end.record(stream);
  timed_.push_back(std::move(timed));
  ++use_.count;
  ++queued_;
  use_.bytes_sent += sent;
  use_.bytes_received += received;
}

void DeviceCommunicator::exchange(std::span<const DevicePiece> sends,
                                  std::span<const DevicePiece> receives, cudaStream_t stream) {
  const auto bytes_of = [](std::span<const DevicePiece> pieces) {
    std::int64_t bytes = 0;
    for (const DevicePiece& one : pieces) bytes += one.bytes;
    return bytes;
  };
  be_connected();  // also a rank that has nothing to move
  const std::int64_t out = bytes_of(sends);
  const std::int64_t in = bytes_of(receives);
  if (out == 0 && in == 0) return;
  // Within a group a call says that it is in progress until the group ends.
  const auto queued = [&](ncclResult_t result, const char* call) {
    if (result != ncclInProgress) check(result, call);
  };
  group(stream, out, in, [&] {
    for (const DevicePiece& one : sends) {
      if (one.bytes == 0) continue;
      queued(nccl().ncclSend(one.data, static_cast<std::size_t>(one.bytes), ncclUint8, one.rank,
                             comm_, stream),
             "ncclSend");
    }
    for (const DevicePiece& one : receives) {
      if (one.bytes == 0) continue;
      queued(nccl().ncclRecv(one.data, static_cast<std::size_t>(one.bytes), ncclUint8, one.rank,
                             comm_, stream),
             "ncclRecv");
    }
  });
}

namespace {

template <class T>
constexpr ncclDataType_t type_of() {
  if constexpr (std::is_same_v<T, std::int64_t>) return ncclInt64;
  return std::is_same_v<T, float> ? ncclFloat32 : ncclFloat64;
}

}  // namespace

template <class T>
void DeviceCommunicator::sum(T* values, std::int64_t count, cudaStream_t stream) {
  be_connected();
  if (count == 0) return;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  group(stream, bytes, bytes, [&] {
    const ncclResult_t result = nccl().ncclAllReduce(
        values, values, static_cast<std::size_t>(count), type_of<T>(), ncclSum, comm_, stream);
    if (result != ncclInProgress) check(result, "ncclAllReduce");
  });
}

void DeviceCommunicator::all_sum(std::int64_t* values, std::int64_t count, cudaStream_t stream) {
  sum(values, count, stream);
}
void DeviceCommunicator::all_sum(float* values, std::int64_t count, cudaStream_t stream) {
  sum(values, count, stream);
}
void DeviceCommunicator::all_sum(double* values, std::int64_t count, cudaStream_t stream) {
  sum(values, count, stream);
}

#endif

// piece_of(owner, with): the piece of `owner` to or from rank `with`.
template <class PieceOf>
void DeviceCommunicator::gather_pieces(const PieceOf& piece_of, cudaStream_t stream) {
  std::vector<DevicePiece> sends;
  std::vector<DevicePiece> receives;
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    sends.push_back(piece_of(rank(), other));
    receives.push_back(piece_of(other, other));
  }
  exchange(sends, receives, stream);
}

void DeviceCommunicator::all_gather(void* data, const PartOffsets& byte_offsets,
                                    cudaStream_t stream) {
  gather_pieces(
      [&](int owner, int with) {
        return DevicePiece{with, static_cast<std::byte*>(data) + byte_offsets[owner],
                           byte_offsets[owner + 1] - byte_offsets[owner]};
      },
      stream);
}

namespace {

// `rows` begins with row `first`.
DevicePiece piece_of_rows(int with, void* rows, std::int64_t first, RowRange range,
                          std::int64_t row_bytes) {
  return {with, static_cast<std::byte*>(rows) + (range.begin - first) * row_bytes,
          range.size() * row_bytes};
}

}  // namespace

void DeviceCommunicator::all_gather(void* rows, std::int64_t row_bytes, const RowShards& shards,
                                    int number, cudaStream_t stream) {
  gather_pieces(
      [&](int owner, int with) {
        return piece_of_rows(with, rows, 0, shards.part(owner, number), row_bytes);
      },
      stream);
}

void DeviceCommunicator::gather(void* rows, std::int64_t first_row, std::int64_t row_bytes,
                                const RowShards& shards, cudaStream_t stream) {
  const auto piece = [&](int owner, int with) {
    return piece_of_rows(with, rows, first_row, shards.own(owner), row_bytes);
  };
  std::vector<DevicePiece> pieces;
  if (rank() > 0) {
    pieces.push_back(piece(rank(), 0));
    return exchange(pieces, {}, stream);
  }
  for (int other = 1; other < size(); ++other) pieces.push_back(piece(other, other));
  exchange({}, pieces, stream);
}

void DeviceCommunicator::shift(const void* out, std::int64_t bytes_out, void* in,
                               std::int64_t bytes_in, cudaStream_t stream) {
  const DevicePiece send = {(rank() + 1) % size(), const_cast<void*>(out), bytes_out};
  const DevicePiece receive = {(rank() + size() - 1) % size(), in, bytes_in};
  exchange({&send, 1}, {&receive, 1}, stream);
}

DeviceCommunicator::Timed DeviceCommunicator::take_timed() {
  read_times();
  if (spare_.empty()) return {};
  Timed timed = std::move(spare_.back());
  spare_.pop_back();
  return timed;
}

// Reads the ended ones, in order.
void DeviceCommunicator::read_times() {
  while (!timed_.empty() && timed_.front().end.has_happened()) {
    use_.seconds += timed_.front().end.seconds_since(timed_.front().begin);
    timed_.front().seen.reset();
    spare_.push_back(std::move(timed_.front()));
    timed_.pop_front();
  }
}

namespace {

// Polls `is_done`, which throws or says whether.
template <class IsDone, class Look>
void poll(const IsDone& is_done, const Look& look) {
  constexpr int kTurnsBetweenLooks = 64;  // a look is a system call for each rank
  for (int turn = 1; !is_done(); ++turn) {
    if (turn % kTurnsBetweenLooks == 0) look();
    ::sched_yield();
  }
}

}  // namespace

void DeviceCommunicator::wait(cudaStream_t stream) {
  poll(
      [&] {
        const cudaError_t error = cudaStreamQuery(stream);
        if (error == cudaErrorNotReady) return false;
        MF_CUDA(error);
        return true;
      },
      [&] { look_at_exchange(); });
  look_at_result();
  ahead_.clear();
  read_times();
}

void DeviceCommunicator::pace(cudaStream_t stream) {
  constexpr std::size_t kMostAhead = 8;
  ahead_.emplace_back();
  ahead_.back().record(stream);
  if (ahead_.size() <= kMostAhead) return;
  poll([&] { return ahead_.front().has_happened(); }, [&] { look_at_exchange(); });
  ahead_.pop_front();
}

}  // namespace mf::cuda
