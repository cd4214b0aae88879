// Stands in for the evaluation on a device in a build without CUDA.
#pragma once

#include "base/error.hpp"

namespace mf {

[[noreturn]] inline void refuse_device_evaluation() {
  fail(ErrorKind::unsupported,
       "the factors are in device memory, and this build has no CUDA to evaluate them there");
}

}  // namespace mf
