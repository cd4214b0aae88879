#include "datasets/npy_array.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "datasets/parse_error.hpp"

namespace mf {
namespace {

constexpr const char* kTypes = "<i1 <i2 <i4 <i8 <u1 <u2 <u4 <u8 <f4 <f8";

// The text behind "'key':" in the header, a Python dictionary.
std::string_view header_value(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  header.remove_prefix(at + key.size() + 3);
  const std::size_t begin = header.find_first_not_of(' ');
  return begin == header.npos ? std::string_view() : header.substr(begin);
}

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
T load(std::string_view data, std::size_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));  // may be unaligned inside a zip
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
  constexpr std::int64_t kChunk = 1 << 16;
  const auto count = static_cast<std::int64_t>(out.size());
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> bad(static_cast<std::size_t>((count + kChunk - 1) / kChunk), kNone);
  team.for_chunks(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (convert(load<T>(data, i), out[i])) continue;
      bad[static_cast<std::size_t>(begin / kChunk)] = i;
      return;
    }
  });
  for (const std::size_t i : bad) {
    if (i == kNone) continue;
    fail_in_file(fmt::format("{}: element {}", name, i), fmt::format("{}", load<T>(data, i)),
                 expected);
  }
}

}  // namespace

NpyArray::NpyArray(std::string name, Bytes bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  using std::string_view_literals::operator""sv;
  const std::string_view view = bytes_.view;
  if (!view.starts_with("\x93NUMPY"sv) || view.size() < 12) {
    fail_in_file(name_, view.empty() ? "an empty file" : in_quotes(view.substr(0, 6)),
                 "an array in NumPy's format (npy)");
  }
  const auto version = static_cast<unsigned char>(view[6]);
  if (version < 1 || version > 3) {
    fail_in_file(name_, fmt::format("version {} of the npy format", version), "version 1, 2 or 3");
  }
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length = version == 1 ? load<std::uint16_t>(view.substr(8), 0)
                                          : load<std::uint32_t>(view.substr(8), 0);
  if (length > view.size() - begin) {
    fail_in_file(name_, "a file that ends inside its header", "a whole npy file");
  }
  read_header(view.substr(begin, length));
  data_ = view.substr(begin + length);
  const std::size_t width = static_cast<std::size_t>(type_[1] - '0');
  if (data_.size() / width == size_ && data_.size() % width == 0) return;
  fail_in_file(name_, fmt::format("{} bytes of data", data_.size()),
               fmt::format("{} elements of {} bytes, as its header says", size_, width),
               "the file may be cut short: fetch or write it again");
}

void NpyArray::read_header(std::string_view header) {
  const std::string_view descr = header_value(header, "descr");
  const std::size_t quote = descr.substr(std::min<std::size_t>(1, descr.size())).find('\'');
  const std::string_view type =
      descr.starts_with('\'') && quote != descr.npos ? descr.substr(1, quote) : descr;
  const bool one_byte = type.ends_with('1');  // has no byte order: '|i1'
  if (type.size() == 3 && (type[0] == '<' || (one_byte && type[0] == '|'))) type_ = type.substr(1);
  if (!with_type(type_, [](auto) {})) {
    fail_in_file(name_, "elements of type " + in_quotes(type), fmt::format("one of {}", kTypes),
                 "convert the array with astype()");
  }
  const std::string_view shape = header_value(header, "shape");
  const std::size_t close = shape.find(')');
  const char* begin = shape.data() + 1;
  const char* end = shape.data() + std::min(close, shape.size());
  bool one_dimension = shape.starts_with('(') && close != shape.npos;
  if (one_dimension) {
    const auto [stop, error] = std::from_chars(begin, end, size_);
    one_dimension = error == std::errc() && stop < end && *stop == ',' &&
                    std::string_view(stop + 1, static_cast<std::size_t>(end - stop - 1))
                            .find_first_not_of(' ') == std::string_view::npos;
  }
  if (!one_dimension) {
    fail_in_file(name_, "shape " + in_quotes(shape.substr(0, std::min(close, shape.size()) + 1)),
                 "an array of one dimension", "flatten it with ravel()");
  }
}

AlignedVector<std::int32_t> NpyArray::ids(const char* what, ThreadTeam& team) const {
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

AlignedVector<float> NpyArray::ratings(const ScaleCheck& scale, ThreadTeam& team) const {
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
