// NCCL, loaded when it is asked for: a program that uses one device does without the library. Its
// header is needed to build (MF_HAVE_NCCL).
#pragma once

#include <string>

namespace mf::cuda {

// "2.28.9"; empty without NCCL, with the reason and the remedy in `why`.
std::string nccl_version(std::string* why = nullptr);

}  // namespace mf::cuda
