#include "harness/npy.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace mf {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrologue = 10;  // magic, version, length of the header

template <class T>
constexpr const char* dtype();
template <>
constexpr const char* dtype<float>() {
  return "<f4";
}
template <>
constexpr const char* dtype<std::int32_t>() {
  return "<i4";
}
template <>
constexpr const char* dtype<std::int64_t>() {
  return "<i8";
}

std::string header_text(const char* type, std::int64_t rows, std::int64_t width) {
  const std::string shape =
      width == 0 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, width);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  // The data starts at a multiple of 64 bytes.
  text.append((64 - (kPrologue + text.size() + 1) % 64) % 64, ' ');
  return text + "\n";
}

std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  const auto at = header.find("'" + key + "':");
  if (at == std::string::npos) fail(ErrorKind::data, "{}: its header has no '{}'", path, key);
  const auto start = header.find_first_not_of(' ', at + key.size() + 3);
  const auto end = header.find(header[start] == '(' ? ')' : ',', start);
  return header.substr(start, end - start);
}

std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  const char* p = text.c_str() + 1;
  while (*p != 0) {
    char* end = nullptr;
    const long long extent = std::strtoll(p, &end, 10);
    if (end == p) break;
    shape.push_back(extent);
    p = end;
    while (*p == ',' || *p == ' ') ++p;
  }
  return shape;
}

}  // namespace

template <class T>
void write_npy(const std::string& path, const T* first, std::int64_t rows, std::int64_t width,
               std::int64_t stride) {
  const std::string header = header_text(dtype<T>(), rows, width);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(kMagic.data(), static_cast<std::streamsize>(kMagic.size()));
  const std::array<char, 4> prologue = {1, 0, static_cast<char>(header.size() & 0xff),
                                        static_cast<char>(header.size() >> 8)};
  out.write(prologue.data(), prologue.size());
  out << header;
  const std::int64_t row_width = width == 0 ? 1 : width;
  const bool packed = stride == row_width;
  const auto row_bytes = static_cast<std::streamsize>(sizeof(T)) * row_width;
  if (packed && rows > 0) {
    out.write(reinterpret_cast<const char*>(first), row_bytes * rows);
  } else {
    for (std::int64_t row = 0; row < rows; ++row) {
      out.write(reinterpret_cast<const char*>(first + row * stride), row_bytes);
    }
  }
  out.close();
  if (!out) fail(ErrorKind::io, "{}: cannot be written: {}", path, std::strerror(errno));
}

template <class T>
NpyArray<T> read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::data, "{}: is missing or cannot be read", path);
  std::array<char, kPrologue> prologue{};
  in.read(prologue.data(), prologue.size());
  if (!in || std::string_view(prologue.data(), kMagic.size()) != kMagic || prologue[6] != 1) {
    fail(ErrorKind::data, "{}: is no .npy file of version 1.0", path);
  }
  const auto low = static_cast<unsigned char>(prologue[8]);
  const auto high = static_cast<unsigned char>(prologue[9]);
  std::string header(static_cast<std::size_t>(low) + static_cast<std::size_t>(high) * 256, ' ');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  const std::string type = value_of(header, "descr", path);
  if (type != fmt::format("'{}'", dtype<T>())) {
    fail(ErrorKind::data, "{}: found the type {}, expected '{}'", path, type, dtype<T>());
  }
  NpyArray<T> array;
  array.shape = parse_shape(value_of(header, "shape", path));
  std::size_t count = 1;
  for (const auto extent : array.shape) count *= static_cast<std::size_t>(extent);
  const auto expected = kPrologue + header.size() + count * sizeof(T);
  if (std::filesystem::file_size(path) != expected) {
    fail(ErrorKind::data, "{}: has {} bytes, expected {}: cut short or damaged", path,
         std::filesystem::file_size(path), expected);
  }
  array.values.resize(count);
  in.read(reinterpret_cast<char*>(array.values.data()),
          static_cast<std::streamsize>(count * sizeof(T)));
  return array;
}

#define MF_NPY(T)                                                                      \
  template void write_npy<T>(const std::string&, const T*, std::int64_t, std::int64_t, \
                             std::int64_t);                                            \
  template NpyArray<T> read_npy<T>(const std::string&);
MF_NPY(float)
MF_NPY(std::int32_t)
MF_NPY(std::int64_t)
#undef MF_NPY

}  // namespace mf
