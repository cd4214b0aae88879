// NCCL, loaded when it is asked for: a program that uses one device does without the library. Its
// header is needed to build (MF_HAVE_NCCL).
#pragma once

#include <string>

namespace mf::cuda {

// "2.28.9"; empty without NCCL, and `why` then says why and what to do.
std::string nccl_version(std::string* why = nullptr);

}  // namespace mf::cuda
