// The lines of one case, taken one after the other: header, trace points, footer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "harness/results/files/result_file.hpp"

namespace mf {

class CaseLines {
 public:
  explicit CaseLines(std::string path) : path_(std::move(path)) {}  // for what is wrong

  // `json`: the parsed text. From the first damaged line on, lines are not used.
  void add(const std::string& text, Json json, std::int64_t number);

  const ResultFile& file() const { return file_; }
  ResultFile take() { return std::move(file_); }

 private:
  std::string path_;
  ResultFile file_;
};

}  // namespace mf
