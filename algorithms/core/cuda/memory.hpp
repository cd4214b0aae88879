// Owned memory of the device, and pinned memory of the host. Every byte is counted, so that a
// result can say how much a case took.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "algorithms/core/cuda/check.hpp"
#include "base/view.hpp"

namespace mf::cuda {

// Bytes of the calling thread's device held through DeviceBuffer by this process, and the most held
// since the last reset.
// The CUDA context and allocations of libraries are not counted.
std::int64_t allocated_bytes();
std::int64_t peak_allocated_bytes();
void reset_peak_allocated_bytes();

// From the device's memory pool, which keeps freed memory for the next request: a case does not
// wait for the driver if an earlier one did. Any stream may use it at once. Throws Error(memory)
// with the bytes requested and free.
void* allocate_device(std::size_t bytes);
// Waits for the device, as cudaFree does: queued work may still use it.
void free_device(void* pointer, std::size_t bytes) noexcept;

// For the stream only: earlier work there may have used the memory, later work may reuse it once
// freed, and the host does not wait.
void* allocate_on(std::size_t bytes, cudaStream_t stream);
void free_on(void* pointer, std::size_t bytes, cudaStream_t stream) noexcept;

// The pool has `bytes` for later allocations, as far as the device has them, so that the driver is
// asked now.
void reserve(std::int64_t bytes);

// Bytes that allocations can have: the driver's free bytes and the pool's unused ones.
std::int64_t available_bytes();

// An array in device memory, uninitialised. Movable, not copyable.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t count)
      : data_(count == 0
                  ? nullptr
                  : static_cast<T*>(allocate_device(static_cast<std::size_t>(count) * sizeof(T)))),
        count_(static_cast<std::size_t>(count)) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    if (this != &other) {
      reset();
      swap(other);
    }
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  bool empty() const { return count_ == 0; }

  void reset() {
    if (data_ != nullptr) free_device(data_, bytes());
    data_ = nullptr;
    count_ = 0;
  }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// An array in device memory for work on one stream: kernels that are queued there while it lives.
template <class T>
class StreamBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  StreamBuffer(std::int64_t count, cudaStream_t stream)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)), stream_(stream) {
    if (count > 0) data_ = static_cast<T*>(allocate_on(bytes_, stream_));
  }
  ~StreamBuffer() {
    if (data_ != nullptr) free_on(data_, bytes_, stream_);
  }
  StreamBuffer(const StreamBuffer&) = delete;
  StreamBuffer& operator=(const StreamBuffer&) = delete;

  T* data() { return data_; }

 private:
  std::size_t bytes_;
  cudaStream_t stream_;
  T* data_ = nullptr;
};

// An array in page-locked host memory: copies from and to it run at full speed and asynchronously.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* pointer = nullptr;
    MF_CUDA(cudaMallocHost(&pointer, count * sizeof(T)));
    data_ = static_cast<T*>(pointer);
  }
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  View<T> view() { return {data_, static_cast<std::int64_t>(count_)}; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Copies are queued on the stream. Pageable host memory may be changed or freed when the call
// returns; pinned memory only after the stream has been synchronised.
template <class T>
void copy_to_device(DeviceBuffer<T>& to, View<const T> from, cudaStream_t stream) {
  if (!from.empty()) {
    MF_CUDA(
        cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream));
  }
}

template <class T>
DeviceBuffer<T> upload(View<const T> from, cudaStream_t stream) {
  DeviceBuffer<T> to(from.size());
  copy_to_device(to, from, stream);
  return to;
}

// Bytes of zero; queued on the stream.
template <class T>
DeviceBuffer<T> zeros(std::int64_t count, cudaStream_t stream) {
  DeviceBuffer<T> to(count);
  if (!to.empty()) MF_CUDA(cudaMemsetAsync(to.data(), 0, to.bytes(), stream));
  return to;
}

// Synchronises: the host has the numbers when it returns.
template <class T>
void download(View<T> to, const T* from, cudaStream_t stream) {
  if (to.empty()) return;
  MF_CUDA(cudaMemcpyAsync(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost, stream));
  MF_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace mf::cuda
