#include "base/files/shared_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
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

std::vector<std::string> named_folders(const char* variable) {
  const char* value = std::getenv(variable);
  std::istringstream list(value != nullptr ? value : "");
  std::vector<std::string> folders;
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

std::optional<std::string> beside_program(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    if (std::error_code none; fs::exists(folder / file, none)) return (folder / file).string();
  }
  const auto shared = shared_folder();
  if (shared && fs::exists(fs::path(*shared) / file, error)) return *shared + "/" + file;
  return std::nullopt;
}

}  // namespace mf
