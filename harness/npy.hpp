// NumPy's .npy files, version 1.0, little-endian, C order: float32, int32 and int64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/view.hpp"

namespace mf {

template <class T>
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<T> values;
};

// Rows of `width` elements that lie `stride` apart; width 0 writes a one-dimensional array.
template <class T>
void write_npy(const std::string& path, const T* first, std::int64_t rows, std::int64_t width,
               std::int64_t stride);

template <class T>
void write_npy(const std::string& path, View<const T> values) {
  write_npy(path, values.data(), values.size(), 0, 1);
}

// Throws Error(data) that names the file, what was found and what was expected.
template <class T>
NpyArray<T> read_npy(const std::string& path);

}  // namespace mf
