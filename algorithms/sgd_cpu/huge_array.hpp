// Uninitialised arrays of plain data on huge pages if the system has them: rows drawn at random
// from hundreds of MiB miss the TLB at every access on 4 KiB pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace mf::sgd_cpu {

void* allocate_huge(std::size_t bytes);  // throws std::bad_alloc; free with free_huge
void free_huge(void* memory);

template <class T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  HugeArray() = default;
  explicit HugeArray(std::int64_t size)
      : size_(size),
        data_(static_cast<T*>(allocate_huge(static_cast<std::size_t>(size) * sizeof(T)))) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { free_huge(memory); }
  };
  std::int64_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace mf::sgd_cpu
