// Owned streams, events and captured graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "algorithms/core/cuda/check.hpp"

namespace mf::cuda {

class Stream {
 public:
  // Does not wait for the default stream.
  Stream() { MF_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void synchronize() const { MF_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { MF_CUDA(cudaEventCreate(&event_)); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const { MF_CUDA(cudaEventRecord(event_, stream)); }
  void synchronize() const { MF_CUDA(cudaEventSynchronize(event_)); }

  // Also true if nothing was recorded yet.
  bool has_happened() const {
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady) return false;
    MF_CUDA(error);
    return true;
  }

  // Seconds from `start` to this one; both have happened.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    MF_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A sequence of launches recorded once and replayed with one call.
class Graph {
 public:
  Graph() = default;
  ~Graph() { reset(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // `body` queues its work on `stream`, which records it instead of running it.
  template <class Body>
  void capture(cudaStream_t stream, Body&& body) {
    reset();
    cudaGraph_t graph = nullptr;
    MF_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      std::forward<Body>(body)();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);  // others use the stream after this case
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    MF_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    MF_CUDA(error);
  }

  bool captured() const { return executable_ != nullptr; }
  void launch(cudaStream_t stream) const { MF_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  void reset() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    executable_ = nullptr;
  }
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace mf::cuda
