// Reads the device's memory for a test.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"

namespace mf::cuda {

// Synchronises the stream.
template <class T>
std::vector<T> back(const T* from, std::int64_t count, const Stream& stream) {
  std::vector<T> host(count);
  download(View<T>(host), from, stream.get());
  return host;
}

template <class T>
std::vector<T> back(const DeviceBuffer<T>& from, const Stream& stream) {
  return back(from.data(), static_cast<std::int64_t>(from.size()), stream);
}

}  // namespace mf::cuda
