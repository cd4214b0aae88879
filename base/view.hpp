// A view of an array of the field: indexed and counted by std::int64_t, as ratings, offsets and
// rows are. Formulas then stand as in the papers, without a conversion around every index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>

namespace mf {

template <class T>
class View {
 public:
  using value_type = std::remove_cv_t<T>;

  constexpr View() = default;
  constexpr View(T* data, std::int64_t size) : data_(data), size_(size) {}

  // For anything contiguous that lives elsewhere: a vector, an array, a std::span.
  template <class Range>
  requires(!std::is_same_v<std::remove_cvref_t<Range>, View> &&
           std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
           std::is_convertible_v<
               std::remove_pointer_t<decltype(std::ranges::data(std::declval<Range&>()))> (*)[],
               T (*)[]>) constexpr View(Range&& range)
      : data_(std::ranges::data(range)),
        size_(static_cast<std::int64_t>(std::ranges::size(range))) {}

  constexpr T& operator[](std::int64_t i) const { return data_[i]; }
  constexpr T* data() const { return data_; }
  constexpr std::int64_t size() const { return size_; }
  constexpr std::size_t size_bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }

  // The elements [begin, end).
  constexpr View part(std::int64_t begin, std::int64_t end) const {
    return {data_ + begin, end - begin};
  }
  constexpr std::span<T> span() const { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const std::byte> bytes() const { return std::as_bytes(span()); }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

template <class Range>
View(Range&&) -> View<std::remove_pointer_t<decltype(std::ranges::data(std::declval<Range&>()))>>;

}  // namespace mf

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<mf::View<T>> = true;
