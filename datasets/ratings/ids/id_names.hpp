// Ids that are text: the names of the users or of the items of a data set, ascending by their bytes
// (the order of strcmp). Row k of the matrix has name k. No names: the ids are integers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/aligned.hpp"
#include "base/json/names.hpp"
#include "base/view.hpp"

namespace mf {

// The kind of a file's ids. automatic: a column holds names if any of its ids is no integer.
enum class IdKind { automatic, integers, text };
inline constexpr Names kIdKindNames{std::to_array<Named<IdKind>>(
    {{"auto", IdKind::automatic}, {"integers", IdKind::integers}, {"text", IdKind::text}})};

inline constexpr std::size_t kMostNameBytes = 255;
inline constexpr const char* kNameRule =
    "text of 1 to 255 bytes of UTF-8 without control characters, no blank at either end";

// Whether a text can be an id (kNameRule). Characters that change the direction of text count as
// control characters: an id is safe to print.
bool is_id_name(std::string_view text);

class IdNames {
 public:
  IdNames() = default;
  explicit IdNames(std::span<const std::string_view> ascending);  // copies them
  // Views into memory that `keep_alive` owns: names k is bytes [offsets[k], offsets[k + 1]). Check
  // those from a file with wrong().
  IdNames(View<const std::int64_t> offsets, View<const char> bytes,
          std::shared_ptr<const void> keep_alive);

  bool empty() const { return size() == 0; }
  std::int64_t size() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  std::string_view operator[](std::int64_t row) const {
    return {bytes_.data() + offsets_[row],
            static_cast<std::size_t>(offsets_[row + 1] - offsets_[row])};
  }
  std::int64_t find(std::string_view name) const;  // its row, or -1

  // The names of these rows, which ascend.
  IdNames of_rows(View<const std::int32_t> rows) const;

  View<const std::int64_t> offsets() const { return offsets_; }  // size() + 1, or none
  View<const char> bytes() const { return bytes_; }

  // The fault of names of unknown origin, or empty: offsets, bad names, the order.
  std::string wrong() const;

 private:
  View<const std::int64_t> offsets_;
  View<const char> bytes_;
  std::shared_ptr<const void> keep_alive_;
};

// The id of a row for messages: 7 or "alice".
std::string id_text(const IdNames& names, View<const std::int32_t> ids, std::int64_t row);

}  // namespace mf
