// A claim in a folder that several share, whoever wrote it: who holds it, and taking it over.
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/files/claim.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::recursive_directory_iterator(folder), {});
}

void claim(std::string_view input) {
  const std::string key = "fuzz", name = kClaimPrefix + key;
  write_scratch("shared/results/" + name, input);
  fs::create_directory(scratch() / ("shared/results/" + name + "~"));  // target of a token
  const auto before = files_in(scratch() / "shared");
  {
    const ClaimFolder folder(scratch() / "shared/results", "fuzz");
    const auto holder = folder.holder(key);
    expect(holder.has_value(), "a claim that is there has a holder");
    const std::string text = holder->process.to_text();
    expect(text.find_first_of("\x1b\n") == text.npos, "a holder is a line");
    expect(holder->token.find_first_of("/.") == text.npos, "a token leads nowhere");
    const auto taken = folder.take(key, {.seconds = 0});
    expect(files_in(scratch() / "shared") == before,
           "a claim that is taken takes the place of the old one");
  }
  fs::remove_all(scratch() / "shared");
}

const Registrar registrar({"claim", claim});

}  // namespace
}  // namespace mf::fuzz
