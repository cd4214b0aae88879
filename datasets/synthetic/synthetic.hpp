// Seeded look-alikes of published data sets: users, items and nnz of the real set, long-tailed
// activity and popularity, a planted biased low-rank model with noise, rounded to the real scale,
// no duplicate pair. Look-alikes of implicit feedback have tastes instead, and ones or counts as
// values. The README of `datasets` has the models and the calibration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"

namespace mf {

struct Shape {
  std::int64_t n_users = 0;
  std::int64_t n_items = 0;
  std::int64_t nnz = 0;
};

// Names accepted by `like`: ml-100k, ml-1m, ml-10m, ml-20m, netflix, yahoomusic, hugewiki, bdmovie,
// gowalla, lastfm-2k, ml-20m-implicit, lastfm-360k and others of profiles.json; or the path of a
// file .json.
const std::vector<std::string>& look_alike_names();

inline constexpr double kMaxLookAlikeScale = 100;  // factors are above 0, up to here

// Users, items and ratings of a look-alike at a scale factor, without generating it (for `plan`).
// The factor scales nnz; users and items scale with it so that ratings per user stay about the
// same, with floors that keep the matrix feasible. Throws Error(usage) for an unknown name.
Shape look_alike_shape(const std::string& like, double scale_factor);

// The same bytes for any number of threads.
Dataset make_look_alike(const std::string& like, double scale_factor, std::uint64_t seed,
                        int threads);

}  // namespace mf
