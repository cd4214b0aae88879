// The claim to write one file, in the folder that it lies in (claim.hpp).
#pragma once

#include <memory>
#include <string>

#include "base/files/claim.hpp"

namespace mf {

class FileClaim {
 public:
  // Waits while another process has it; says once for whom, and ends as WaitScope says. Throws
  // Error(io).
  explicit FileClaim(const std::string& path);
  // Nothing where another has it. Throws Error(io).
  static std::unique_ptr<FileClaim> if_free(const std::string& path);

  // Throws Error(io) where another process has taken it over, as it takes those of the dead.
  void check() const;

 private:
  FileClaim(const std::string& path, bool waits);

  const std::string path_;
  const ClaimFolder folder_;
  std::unique_ptr<Claim> claim_;
};

}  // namespace mf
