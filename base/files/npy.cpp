#include "base/files/npy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/mapped_file.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

using std::string_view_literals::operator""sv;

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kPrologue = 10;  // magic, version, length of the header; 12 from version 2 on

template <class T>
constexpr const char* type_of = nullptr;
template <>
constexpr const char* type_of<float> = "<f4";
template <>
constexpr const char* type_of<std::int32_t> = "<i4";
template <>
constexpr const char* type_of<std::int64_t> = "<i8";

template <class T>
std::size_t number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The text behind "'key':" in the header, a Python dictionary.
std::string_view header_value(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  header.remove_prefix(at + key.size() + 3);
  const std::size_t begin = header.find_first_not_of(' ');
  return begin == header.npos ? std::string_view() : header.substr(begin);
}

std::string_view up_to(std::string_view text, char last) {
  const std::size_t end = text.find(last, 1);
  return end == text.npos ? text : text.substr(0, end + 1);
}

// "(3,)" or "(3, 4)"; "()" is a single number.
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  std::vector<std::int64_t> shape;
  const char* p = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  bool comma = true;
  while (p < end) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(p, end, extent);
    if (error != std::errc() || extent < 0 || !comma) return std::nullopt;
    shape.push_back(extent);
    comma = stop < end && *stop == ',';
    p = std::find_if(stop, end, [](char c) { return c != ',' && c != ' '; });
  }
  if (shape.size() == 1 && !comma) return std::nullopt;
  return shape;
}

// Empty if the product passes 64 bits.
std::optional<std::int64_t> bytes_of_shape(const std::vector<std::int64_t>& shape,
                                           std::int64_t element) {
  std::int64_t bytes = element;
  for (const auto extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

NpyHeader parse_header(std::string_view text) {
  NpyHeader header;
  const std::string_view descr = header_value(text, "descr");
  const std::string_view quoted = descr.starts_with('\'') ? up_to(descr, '\'') : descr;
  header.type =
      quoted.size() > 1 && quoted.ends_with('\'') ? quoted.substr(1, quoted.size() - 2) : quoted;
  header.shape_text = up_to(header_value(text, "shape"), ')');
  header.shape = parse_shape(header.shape_text);
  header.fortran_order = header_value(text, "fortran_order").starts_with("True");
  return header;
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

}  // namespace

NpyHeader read_npy_header(const std::string& name, std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kPrologue + 2) {
    fail_in_file(name, bytes.empty() ? "an empty file" : in_quotes(bytes.substr(0, 6)),
                 "an array in NumPy's format (npy)");
  }
  const auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    fail_in_file(name, fmt::format("version {} of the npy format", version), "version 1, 2 or 3");
  }
  const std::size_t begin = version == 1 ? kPrologue : kPrologue + 2;
  const std::size_t length =
      version == 1 ? number_at<std::uint16_t>(bytes, 8) : number_at<std::uint32_t>(bytes, 8);
  if (length > bytes.size() - begin) {
    fail_in_file(name, "a file that ends inside its header", "a whole npy file");
  }
  NpyHeader header = parse_header(bytes.substr(begin, length));
  header.data_offset = begin + length;
  return header;
}

namespace {

template <class T>
NpyArray<T> array_of(const std::string& path, const Bytes& file, std::int64_t most_bytes) {
  const NpyHeader header = read_npy_header(path, file.view);
  if (header.type != type_of<T>) {
    fail_in_file(path, "the type " + in_quotes(header.type), in_quotes(type_of<T>));
  }
  if (!header.shape || (header.fortran_order && header.shape->size() > 1)) {
    fail_in_file(path, "shape " + in_quotes(header.shape_text) + " in the order of Fortran or none",
                 "a shape in C order");
  }
  NpyArray<T> array{*header.shape, {}};
  const std::string_view data = file.view.substr(header.data_offset);
  if (std::ssize(data) > most_bytes) {
    fail_in_file(path, fmt::format("{} bytes of data", data.size()),
                 fmt::format("at most {}", most_bytes));
  }
  const auto bytes = bytes_of_shape(array.shape, sizeof(T));
  if (bytes != std::ssize(data)) {
    fail_in_file(path, fmt::format("{} bytes of data", data.size()),
                 fmt::format("the shape {} of elements of {} bytes, as its header says",
                             header.shape_text, sizeof(T)),
                 "the file is cut short or damaged");
  }
  const std::int64_t count = std::ssize(data) / static_cast<std::int64_t>(sizeof(T));
  array.values.resize(count);
  if (count > 0) std::memcpy(array.values.data(), data.data(), data.size());
  return array;
}

}  // namespace

template <class T>
NpyArray<T> read_npy(const std::string& path, std::int64_t most_bytes) {
  return of_whole_files(
      [&] { return array_of<T>(path, map_file(path, Origin::found), most_bytes); });
}

template <class T>
void write_npy(const std::string& path, const T* first, std::int64_t rows, std::int64_t width,
               std::int64_t stride, View<const std::uint8_t> kept) {
  const std::string header = header_text(type_of<T>, rows, width);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  const std::array<char, 4> prologue = {1, 0, static_cast<char>(header.size() & 0xff),
                                        static_cast<char>(header.size() >> 8)};
  out << kMagic << std::string_view(prologue.data(), prologue.size()) << header;
  const std::int64_t row_width = width == 0 ? 1 : width;
  const bool packed = stride == row_width && kept.empty();
  const std::vector<T> zeros(static_cast<std::size_t>(row_width), T{});
  const auto row_bytes = static_cast<std::streamsize>(sizeof(T)) * row_width;
  if (packed && rows > 0) {
    out.write(reinterpret_cast<const char*>(first), row_bytes * rows);
  } else {
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool is_kept = kept.empty() || kept[row] != 0;
      const T* const from = is_kept ? first + row * stride : zeros.data();
      out.write(reinterpret_cast<const char*>(from), row_bytes);
    }
  }
  out.close();
  if (!out) fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
}

#define MF_NPY(T)                                                                      \
  template NpyArray<T> read_npy<T>(const std::string&, std::int64_t);                  \
  template void write_npy<T>(const std::string&, const T*, std::int64_t, std::int64_t, \
                             std::int64_t, View<const std::uint8_t>);
MF_NPY(float)
MF_NPY(std::int32_t)
MF_NPY(std::int64_t)
#undef MF_NPY

}  // namespace mf
