// Vectors aligned to cache lines, whose new elements are left uninitialised: factors and ratings
// are written once by the threads that use them (first touch), never zeroed first. Large ones lie
// on huge pages (base/host/huge_pages.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/host/huge_pages.hpp"

namespace mf {

template <class T, std::size_t Alignment = 64>
struct AlignedAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = AlignedAllocator<U, Alignment>;
  };
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U, Alignment>&) {}

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_array(n * sizeof(T), Alignment));
  }
  void deallocate(T* p, std::size_t n) { free_array(p, n * sizeof(T), Alignment); }

  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

// Indexed by std::int64_t, as View (base/view.hpp); std::ssize counts the elements.
template <class T>
class AlignedVector : public std::vector<T, AlignedAllocator<T>> {
  using Base = std::vector<T, AlignedAllocator<T>>;

 public:
  AlignedVector() = default;
  explicit AlignedVector(std::int64_t count) : Base(static_cast<std::size_t>(count)) {}
  AlignedVector(std::int64_t count, const T& value)
      : Base(static_cast<std::size_t>(count), value) {}
  AlignedVector(std::initializer_list<T> values) : Base(values) {}
  template <std::input_iterator Iterator>
  AlignedVector(Iterator begin, Iterator end) : Base(begin, end) {}

  T& operator[](std::int64_t i) { return Base::operator[](static_cast<std::size_t>(i)); }
  const T& operator[](std::int64_t i) const {
    return Base::operator[](static_cast<std::size_t>(i));
  }
  void resize(std::int64_t count) { Base::resize(static_cast<std::size_t>(count)); }
  void resize(std::int64_t count, const T& value) {
    Base::resize(static_cast<std::size_t>(count), value);
  }
};

}  // namespace mf
