#include "algorithms/peer/process_need.hpp"

#include <algorithm>
#include <string_view>

namespace mf::peer {
namespace {

// Bytes at the peak of a process: tests/test_peer_libraries.py measures the same again, and
// docs/peers.md says on what.
struct Measured {
  std::string_view library;
  std::string_view algorithm;  // empty: all that are not named
  double base = 0;             // the interpreter and what it loads
  double of_rating = 0;        // the library's format, its copies, and the 12 that are handed over
  double of_number = 0;        // of each of (users + items) x factors
  double of_row = 0;           // of each user and item, beside that
  double of_batch = 0;         // of each of the ratings of a batch x factors
  bool plain = false;          // it takes addresses for what it uses alone
  const char* unknown = "";    // what is not in these numbers
  double kept_of_rating = 0;   // after each training call but the last
  double kept_of_number = 0;
};

constexpr const char* kOfDevice = "the GPU's memory, and what CUDA takes of the host";
constexpr const char* kOfJava = "how far Java fills its heap, six tenths of the limit at most";
constexpr const char* kOfProgram = "a program of one's own takes what it takes";

constexpr Measured kMeasured[] = {
    {"cmfrec", "", 108e6, 36, 8, 0, 0, true},
    {"cmfrec", "implicit_als", 105e6, 29, 4, 0, 0, true},
    {"implicit", "", 74e6, 21, 4, 0, 0, true},
    {"lenskit", "", 830e6, 60, 8, 0, 0, false},
    {"libmf", "", 48e6, 61, 4, 0, 0, true, "", 12, 4},
    {"spark", "", 1.4e9, 60, 8, 0, 0, false, kOfJava},
    {"spark", "implicit_als", 2.3e9, 60, 8, 0, 0, false, kOfJava},
    {"surprise", "", 56e6, 288, 8, 300, 0, true},
    {"torch", "", 760e6, 40, 24, 0, 24, false},
};

const Measured* find(const PeerLibrary& library, std::string_view algorithm) {
  const auto* best = static_cast<const Measured*>(nullptr);
  for (const Measured& one : kMeasured) {
    if (one.library != library.name) continue;
    if (one.algorithm == algorithm) return &one;
    if (one.algorithm.empty()) best = &one;
  }
  return best;
}

bool uses_device(const Params& params) {
  return params.has("device") && params.text("device") == "cuda";
}

double batch_of(const Params& params, const ProblemShape& shape) {
  if (!params.has("batch")) return 0;
  return static_cast<double>(std::min(params.integer("batch"), shape.nnz));
}

}  // namespace

ProcessNeed process_need(const PeerLibrary& library, const PeerAlgorithm& algorithm,
                         const Params& params, const ProblemShape& shape) {
  constexpr double kGiB = 1 << 30;
  ProcessNeed need;
  need.limit_bytes = params.number("memory_gb") * kGiB;
  const Measured* measured = find(library, algorithm.name);
  if (measured == nullptr) {
    need.unknown = kOfProgram;
    return need;
  }
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  const auto factors = static_cast<double>(params.integer("factors"));
  need.bytes = measured->base + measured->of_rating * static_cast<double>(shape.nnz) +
               rows * (measured->of_number * factors + measured->of_row) +
               measured->of_batch * factors * batch_of(params, shape);
  need.of_further_point = measured->kept_of_rating * static_cast<double>(shape.nnz) +
                          measured->kept_of_number * rows * factors;
  need.unknown = uses_device(params) ? kOfDevice : measured->unknown;
  return need;
}

bool may_limit_addresses(const PeerLibrary& library, const Params& params) {
  const Measured* measured = find(library, "");
  return measured != nullptr && measured->plain && !uses_device(params);
}

}  // namespace mf::peer
