// Runs inputs through their targets, with any compiler: fuzz_replay FOLDER-OR-FILE...
// A file belongs to the target that its folder is named for. One named valid-* must be taken, which
// shows that the target is more than a refusal.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "testing/fuzz/target.hpp"

namespace {

namespace fs = std::filesystem;
using mf::fuzz::Target;

std::vector<char> content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// False if the input is refused and must not be.
bool replay(const Target& target, const fs::path& path) {
  const std::vector<char> bytes = content_of(path);
  std::fprintf(stderr, "%s\n", path.c_str());  // the last one is that which ends the program
  const bool taken = mf::fuzz::takes(target, {bytes.data(), bytes.size()});
  if (taken || !path.filename().string().starts_with("valid-")) return true;
  std::fprintf(stderr, "%s: refused, expected to be taken\n", path.c_str());
  return false;
}

int fail(const std::string& message) {
  std::fprintf(stderr, "fuzz_replay: %s\n", message.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int inputs = 0;
  int refused = 0;
  for (int i = 1; i < argc; ++i) {
    if (!fs::exists(argv[i])) return fail(std::string(argv[i]) + ": no such file or folder");
    for (const auto& file : files_of(fs::canonical(argv[i]))) {
      const Target* target = mf::fuzz::find_target(file.parent_path().filename().string());
      if (target == nullptr) return fail(file.string() + ": its folder is named for no target");
      refused += replay(*target, file) ? 0 : 1;
      ++inputs;
    }
  }
  std::printf("%d inputs, %d refused that must not be\n", inputs, refused);
  return inputs > 0 && refused == 0 ? 0 : 1;
}
