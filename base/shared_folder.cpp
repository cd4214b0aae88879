#include "base/shared_folder.hpp"

#include <filesystem>
#include <system_error>

namespace mf {

std::optional<std::string> shared_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const fs::path folder = program.parent_path().parent_path() / "share" / "mfbench";
  if (!fs::is_directory(folder, error)) return std::nullopt;
  return folder.string();
}

}  // namespace mf
