// What neighbouring cases of a session have in common, and so what of it is kept.
#pragma once

#include <span>

#include "harness/spec/spec.hpp"

namespace mf {

// Whether one of the first cases of `later` that have this one's data set cuts it in another way.
bool is_cut_again(const Case& own, std::span<const Case* const> later);

// Whether a case has all of its ratings on a device, where they can stay for the next one.
bool trains_on_one_device(const Case& item);

// Whether a process of the case sends its ratings to a device.
bool uploads_ratings(const Case& item);

// Whether this case and one of the first of `later` that have its split train on one device.
bool is_trained_again(const Case& own, std::span<const Case* const> later);

// Whether one of the first cases of `later` that have this one's split trains in a process of its
// own.
bool is_handed_over_again(const Case& own, std::span<const Case* const> later);

}  // namespace mf
