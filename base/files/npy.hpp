// NumPy's .npy files: little-endian numbers in C order. Versions 1 to 3 are read, 1 is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/view.hpp"

namespace mf {

struct NpyHeader {
  std::string type;                                // "<i4"
  std::string shape_text;                          // as in the header
  std::optional<std::vector<std::int64_t>> shape;  // empty if it is not a tuple
  bool fortran_order = false;
  std::size_t data_offset = 0;  // bytes
};

// `name` is for messages. Throws Error(data) if the bytes are not an npy file or end in its header.
NpyHeader read_npy_header(const std::string& name, std::string_view bytes);

template <class T>
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<T> values;
};

// For float, std::int32_t and std::int64_t, in a folder that others may write to. Throws
// Error(data) that names the file, the finding and the expectation: at most `most_bytes` of data.
template <class T>
NpyArray<T> read_npy(const std::string& path, std::int64_t most_bytes = INT64_MAX);

// Rows of `width` elements that lie `stride` apart; width 0 writes a one-dimensional array. Rows
// whose flag in `kept` is 0 are written as zeros; without flags, all are kept. Throws Error(io).
template <class T>
void write_npy(const std::string& path, const T* first, std::int64_t rows, std::int64_t width,
               std::int64_t stride, View<const std::uint8_t> kept = {});

template <class T>
void write_npy(const std::string& path, View<const T> values) {
  write_npy(path, values.data(), values.size(), 0, 1);
}

}  // namespace mf
