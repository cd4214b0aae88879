#include "datasets/readers/numpy/numpy_column.hpp"

#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files/npy.hpp"
#include "base/text.hpp"
#include "datasets/readers/id_columns.hpp"
#include "datasets/readers/times.hpp"

namespace mf {
namespace {

constexpr const char* kTypes = "<i1 <i2 <i4 <i8 <u1 <u2 <u4 <u8 <f4 <f8; for ids also <U |S";

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

// The fraction is dropped.
template <class T>
bool to_time(T value, std::int64_t& time) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr double kMost = 0x1p63;
    if (!(double{value} >= -kMost && double{value} < kMost)) return false;
  } else {
    if (!std::in_range<std::int64_t>(value)) return false;
  }
  time = static_cast<std::int64_t>(value);
  return true;
}

// Bytes of an element of text: 28 for "U7", 7 for "S7"; empty for other types.
std::optional<std::int64_t> text_width(std::string_view type) {
  constexpr std::int64_t kMostCharacters = 1 << 20;
  if (type.size() < 2 || (type[0] != 'U' && type[0] != 'S')) return std::nullopt;
  std::int64_t count = 0;
  const char* end = type.data() + type.size();
  const auto [stop, error] = std::from_chars(type.data() + 1, end, count);
  if (error != std::errc() || stop != end || count < 1 || count > kMostCharacters) {
    return std::nullopt;
  }
  return type[0] == 'U' ? 4 * count : count;
}

// An invalid code point becomes a byte that is invalid in UTF-8, which no name has.
void append_utf8(std::string& text, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6);
    add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3f));
    add(0x80 | (c & 0x3f));
  } else if (c < 0x110000) {
    add(0xf0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3f));
    add(0x80 | (c >> 6 & 0x3f));
    add(0x80 | (c & 0x3f));
  } else {
    add(0xff);
  }
}

// All elements of type `type`; of those for which convert(element, out) is false, the least index
// is an Error(data).
template <class Out, class Convert>
AlignedVector<Out> convert_all(std::string_view data, const std::string& type, std::int64_t count,
                               const std::string& name, const std::string& expected,
                               ThreadTeam& team, const Convert& convert) {
  constexpr std::int64_t kRows = 1 << 16;
  constexpr std::int64_t kNone = -1;
  AlignedVector<Out> out(count);
  std::vector<std::int64_t> bad((count + kRows - 1) / kRows, kNone);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
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
  });
  return out;
}

}  // namespace

NumpyColumn::NumpyColumn(std::string name, Bytes bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  const NpyHeader header = read_npy_header(name_, bytes_.view);
  const std::string& type = header.type;
  // Bytes have no byte order: '|i1', '|S7'.
  const bool bytes_alone = type.starts_with("|S") || (type.ends_with('1') && type[1] != 'U');
  const bool ordered = type.starts_with('<') || (bytes_alone && type.starts_with('|'));
  if (ordered) type_ = type.substr(1);
  if (const auto width = text_width(type_)) {
    width_ = *width;
  } else if (type.size() != 3 ||
             !with_type(type_, [&](auto zero) { width_ = std::int64_t{sizeof zero}; })) {
    fail_in_file(name_, "elements of type " + in_quotes(type), fmt::format("one of {}", kTypes),
                 "convert the array with astype()");
  }
  if (!header.shape || header.shape->size() != 1) {
    fail_in_file(name_, "shape " + in_quotes(header.shape_text), "an array of one dimension",
                 "flatten it with ravel()");
  }
  size_ = header.shape->front();
  data_ = bytes_.view.substr(header.data_offset);
  if (std::ssize(data_) / width_ == size_ && std::ssize(data_) % width_ == 0) return;
  fail_in_file(name_, fmt::format("{} bytes of data", data_.size()),
               fmt::format("{} elements of {} bytes, as its header says", size_, width_),
               "the file may be cut short: fetch or write it again");
}

std::string NumpyColumn::text_at(std::int64_t i) const {
  std::string text;
  const std::string_view element =
      data_.substr(static_cast<std::size_t>(i * width_), static_cast<std::size_t>(width_));
  if (type_[0] == 'S') {
    text = element;
  } else {
    for (std::int64_t c = 0; c < width_ / 4; ++c)
      append_utf8(text, load<std::uint32_t>(element, c));
  }
  return text.substr(0, text.find_last_not_of('\0') + 1);
}

AlignedVector<std::int32_t> NumpyColumn::text_ids(const char* what, IdNames& names) const {
  NameCounter counter;
  AlignedVector<std::int32_t> ids(size_);
  for (std::int64_t i = 0; i < size_; ++i) {
    const std::string text = text_at(i);
    ids[i] = counter.number(text);
    if (ids[i] >= 0) continue;
    fail_in_file(fmt::format("{}: element {}", name_, i), in_quotes(text),
                 fmt::format("an id of a {} ({})", what, kNameRule));
  }
  MergedNames merged = merge_names({&counter});
  for (auto& id : ids) id = merged.row_of[0][static_cast<std::size_t>(id)];
  names = std::move(merged.names);
  return ids;
}

AlignedVector<std::int32_t> NumpyColumn::ids(const char* what, IdKind kind, IdNames& names,
                                             ThreadTeam& team) const {
  if (is_text() && kind != IdKind::integers) return text_ids(what, names);
  if (is_text() || kind == IdKind::text) {
    fail_in_file(name_, fmt::format("elements of type {}", in_quotes(type_)),
                 fmt::format("{} for ids, as ids says", is_text() ? "integers" : "text"),
                 fmt::format("convert the array with astype({})", is_text() ? "int" : "str"));
  }
  if (type_[0] == 'f') {
    fail_in_file(name_, fmt::format("elements of type '<{}'", type_), "integers for ids",
                 "convert the array with astype()");
  }
  return convert_all<std::int32_t>(data_, type_, size_, name_,
                                   fmt::format("an id of a {} from 0 to 2147483647", what), team,
                                   [](auto value, std::int32_t& id) { return to_id(value, id); });
}

void NumpyColumn::refuse_text(const std::string& expected, const char* hint) const {
  if (!is_text()) return;
  fail_in_file(name_, "elements of type " + in_quotes((type_[0] == 'U' ? "<" : "|") + type_),
               expected, hint);
}

AlignedVector<float> NumpyColumn::ratings(const ScaleCheck& scale, ThreadTeam& team) const {
  refuse_text(fmt::format("one of {}", kTypes), "convert the array with astype(float)");
  return convert_all<float>(data_, type_, size_, name_, scale.describe(), team,
                            [&](auto value, float& rating) {
                              rating = static_cast<float>(value);
                              return std::isfinite(rating) && scale.accepts(rating);
                            });
}

AlignedVector<std::int64_t> NumpyColumn::times(ThreadTeam& team) const {
  refuse_text("times as numbers", "convert dates with astype('datetime64[us]').astype(int)");
  const auto all = [&](const auto& convert) {
    return convert_all<std::int64_t>(data_, type_, size_, name_, "a time within 64 bits", team,
                                     convert);
  };
  std::atomic<bool> fractions{false};
  auto whole = all([&](auto value, std::int64_t& time) {
    if (!to_time(value, time)) return false;
    if (static_cast<decltype(value)>(time) != value) fractions = true;
    return true;
  });
  if (!fractions) return whole;
  return all([](auto value, std::int64_t& time) {
    return to_time(std::rint(static_cast<double>(value) * kMillion), time);
  });
}

}  // namespace mf
