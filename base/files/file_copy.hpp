// A file copied into private memory, part by part: checked bytes stay the same, whatever others do
// to the file meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/files/files.hpp"

namespace mf {

class FileCopy {
 public:
  // In a folder that others may write to. Reads nothing yet. Throws what open_file() throws.
  explicit FileCopy(const std::string& path);

  // The whole file; parts not yet read are undefined.
  std::span<const std::byte> bytes() const { return bytes_; }
  // Many threads may read parts that do not overlap. Throws Error(data) if the file is shorter now.
  void read(std::size_t begin, std::size_t size);
  // The same of a part of bytes().
  void read(std::span<const std::byte> part);
  // Reads a part into other memory.
  void read_to(std::byte* to, std::span<const std::byte> part) const;
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::size_t place_of(std::span<const std::byte> part) const {
    return static_cast<std::size_t>(part.data() - bytes_.data());
  }
  void read_to(std::byte* to, std::size_t begin, std::size_t size) const;

  std::string path_;
  FileHandle file_;
  std::span<std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace mf
