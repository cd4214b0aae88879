// Ranges of NVIDIA's profilers (NVTX), in the domain "mfbench". NVTX is headers of CUDA's toolkit
// that need no CUDA: a build finds them or does without.
#pragma once

namespace mf {

bool built_with_nvtx();

// A range of the calling thread; ranges of a thread nest. Without a profiler some 5 ns, in a
// build without NVTX nothing.
void push_nvtx(const char* name);
void pop_nvtx();

}  // namespace mf
