// One program of all targets for libFuzzer: fuzz_targets --target=NAME [FLAGS] [FOLDER...]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/target.hpp"

namespace {

const mf::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(kFlag)) chosen = mf::fuzz::find_target(word.substr(kFlag.size()));
  }
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "expected --target=NAME; known:\n");
  for (const auto& target : mf::fuzz::targets()) std::fprintf(stderr, "%s\n", target.name);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mf::fuzz::takes(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t room, unsigned seed) {
  return chosen->parts > 1 ? mf::fuzz::mutate_parts(data, size, room, seed, chosen->parts)
                           : mf::fuzz::mutate_bytes(data, size, room);
}
