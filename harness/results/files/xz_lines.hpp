// The lines of an xz file, unpacked as they are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace mf {

class XzLines {
 public:
  // Throws Error(unsupported) where this build has no liblzma, Error(io) where there is no file.
  explicit XzLines(const std::string& path);
  ~XzLines();

  // False after the last. Throws Error(data) for what is no xz, damaged, cut off, ends within a
  // line, asks for over 128 MiB of memory, or holds over 1 GiB or 64 MiB in a line: a small file
  // can name a very large one.
  bool next(std::string& line);
  std::int64_t number() const { return number_; }  // of the line that came last; 0: none yet

 private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
  std::int64_t number_ = 0;
};

}  // namespace mf
