// How many ratings each user of a look-alike gives.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf::synthetic {

// Every user has its own stream of random numbers; its first number is the user's place in [0, 1)
// between the least and the most active. The rating model uses the later numbers.
class UserStreams {
 public:
  explicit UserStreams(std::uint64_t seed) : seed_(seed) {}
  Rng stream(std::int64_t user) const {
    return Rng(seed_, kFirst + static_cast<std::uint64_t>(user));
  }

 private:
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;
  std::uint64_t seed_;
};

double weight_at(const TailLaw& law, double place);

// user_offsets (n_users + 1): degrees follow the activity law, lie in [min, n_items], and sum to
// exactly nnz. Needs 4 bytes a user besides the result.
AlignedVector<std::int64_t> draw_user_offsets(const Profile& profile, const Shape& shape,
                                              const UserStreams& streams, ThreadTeam& team);

}  // namespace mf::synthetic
