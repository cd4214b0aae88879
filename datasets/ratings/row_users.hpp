// The user of each rating, by its row: 4 bytes a rating that many never look at.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {

// users[i] = the row of rating i.
inline void fill_row_users(View<const std::int64_t> user_offsets,
                           AlignedVector<std::int32_t>& users, ThreadTeam& team) {
  constexpr std::int64_t kRows = 4096;  // that a thread takes at a time
  team.for_chunks(user_offsets.size() - 1, kRows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t user = begin; user < end; ++user)
      std::fill(users.begin() + user_offsets[user], users.begin() + user_offsets[user + 1],
                static_cast<std::int32_t>(user));
  });
}

// The column, made by all threads of the machine when it is asked for first. Any thread may ask.
class RowUsers {
 public:
  explicit RowUsers(View<const std::int64_t> user_offsets) : offsets_(user_offsets) {}

  View<const std::int32_t> get() const {
    std::call_once(once_, [&] {
      AlignedVector<std::int32_t> users(offsets_.back());
      ThreadTeam team(useful_threads(hardware_threads(), offsets_.back()));
      fill_row_users(offsets_, users, team);
      users_ = std::move(users);
      made_ = true;
    });
    return users_;
  }
  bool made() const { return made_; }

 private:
  View<const std::int64_t> offsets_;
  mutable std::once_flag once_;
  mutable std::atomic<bool> made_{false};
  mutable AlignedVector<std::int32_t> users_;
};

}  // namespace mf
