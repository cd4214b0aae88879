#include "datasets/readers/numpy_column.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/npy.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

constexpr const char* kTypes = "<i1 <i2 <i4 <i8 <u1 <u2 <u4 <u8 <f4 <f8";

// Calls body(T()) with the C++ type of an element; false for an unknown type.
template <class Body>
bool with_type(const std::string& type, const Body& body) {
  if (type == "i1") return body(std::int8_t()), true;
  if (type == "i2") return body(std::int16_t()), true;
  if (type == "i4") return body(std::int32_t()), true;
  if (type == "i8") return body(std::int64_t()), true;
  if (type == "u1") return body(std::uint8_t()), true;
  if (type == "u2") return body(std::uint16_t()), true;
  if (type == "u4") return body(std::uint32_t()), true;
  if (type == "u8") return body(std::uint64_t()), true;
  if (type == "f4") return body(float()), true;
  if (type == "f8") return body(double()), true;
  return false;
}

template <class T>
T load(std::string_view data, std::int64_t i) {
  T value;
  std::memcpy(&value, data.data() + i * std::int64_t{sizeof(T)},
              sizeof(T));  // may be unaligned inside a zip
  return value;
}

template <class T>
bool to_id(T value, std::int32_t& id) {
  if constexpr (std::is_floating_point_v<T>) {
    return false;
  } else {
    if (!std::in_range<std::int32_t>(value) || value < 0) return false;
    id = static_cast<std::int32_t>(value);
    return true;
  }
}

// Converts all elements; where convert(element, out) says false, the least index wins.
template <class T, class Out, class Convert>
void convert_all(std::string_view data, AlignedVector<Out>& out, const std::string& name,
                 const std::string& expected, ThreadTeam& team, const Convert& convert) {
  constexpr std::int64_t kRows = 1 << 16;
  constexpr std::int64_t kNone = -1;
  const std::int64_t count = std::ssize(out);
  std::vector<std::int64_t> bad((count + kRows - 1) / kRows, kNone);
  team.for_chunks(count, kRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (convert(load<T>(data, i), out[i])) continue;
      bad[begin / kRows] = i;
      return;
    }
  });
  for (const std::int64_t i : bad) {
    if (i == kNone) continue;
    fail_in_file(fmt::format("{}: element {}", name, i), fmt::format("{}", load<T>(data, i)),
                 expected);
  }
}

}  // namespace

NumpyColumn::NumpyColumn(std::string name, Bytes bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  const NpyHeader header = read_npy_header(name_, bytes_.view);
  const std::string& type = header.type;
  const bool one_byte = type.ends_with('1');  // has no byte order: '|i1'
  if (type.size() == 3 && (type[0] == '<' || (one_byte && type[0] == '|'))) type_ = type.substr(1);
  if (!with_type(type_, [](auto) {})) {
    fail_in_file(name_, "elements of type " + in_quotes(type), fmt::format("one of {}", kTypes),
                 "convert the array with astype()");
  }
  if (!header.shape || header.shape->size() != 1) {
    fail_in_file(name_, "shape " + in_quotes(header.shape_text), "an array of one dimension",
                 "flatten it with ravel()");
  }
  size_ = header.shape->front();
  data_ = bytes_.view.substr(header.data_offset);
  const std::int64_t width = type_[1] - '0';
  if (std::ssize(data_) / width == size_ && std::ssize(data_) % width == 0) return;
  fail_in_file(name_, fmt::format("{} bytes of data", data_.size()),
               fmt::format("{} elements of {} bytes, as its header says", size_, width),
               "the file may be cut short: fetch or write it again");
}

AlignedVector<std::int32_t> NumpyColumn::ids(const char* what, ThreadTeam& team) const {
  if (type_[0] == 'f') {
    fail_in_file(name_, fmt::format("elements of type '<{}'", type_), "integers for ids",
                 "convert the array with astype()");
  }
  AlignedVector<std::int32_t> ids(size_);
  const std::string expected = fmt::format("an id of a {} from 0 to 2147483647", what);
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    convert_all<T>(data_, ids, name_, expected, team,
                   [](T value, std::int32_t& id) { return to_id(value, id); });
  });
  return ids;
}

AlignedVector<float> NumpyColumn::ratings(const ScaleCheck& scale, ThreadTeam& team) const {
  AlignedVector<float> ratings(size_);
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    convert_all<T>(data_, ratings, name_, scale.describe(), team, [&](T value, float& rating) {
      rating = static_cast<float>(value);
      return std::isfinite(rating) && scale.accepts(rating);
    });
  });
  return ratings;
}

}  // namespace mf
