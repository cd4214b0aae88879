// What the kernel can keep an untrusted process from doing, by Landlock.
#pragma once

#include <string>
#include <vector>

namespace mf::peer {

// For this kernel, in this order: "writes" outside of its folder (Linux 5.19), "truncation" of
// files that it may read (6.2), "signals" to processes that it has not started (6.12).
std::vector<std::string> confinements();

}  // namespace mf::peer
