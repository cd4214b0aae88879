// Which of several processes does a piece of work: the one that made ".claim-<key>" in the folder
// of the work. The file appears whole or not at all, names its process and never changes. Locks are
// not used: many network file systems keep them within a machine.
//
// The claim of a process that has ended is free at once if that can be seen: on the same host, boot
// and space of process numbers. Other claims are free if the caller's patience says so. A free
// claim goes to the process that makes its heir, ".claim-<key>~<token>", which is then renamed.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/files/files.hpp"
#include "base/host/process_id.hpp"

namespace mf {

inline constexpr const char* kClaimPrefix = ".claim-";

// When a claim whose process cannot be seen is free.
struct Patience {
  double seconds = std::numeric_limits<double>::infinity();  // since this process saw it first
  std::int64_t made_before_ns = 0;                           // by the clock of the file system
};

struct ClaimHolder {
  ProcessId process;
  std::string about;         // as in its ClaimFolder
  std::string token;         // unique to the claim
  std::int64_t made_ns = 0;  // 0 of a claim that is dated more than an hour ahead
  double seen_s = 0;         // since the ClaimFolder saw it first
  std::optional<bool> runs;  // empty: the process cannot be seen from here

  bool is_free(const Patience& patience) const;
};

class ClaimFolder;

// Released with the object.
class Claim {
 public:
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Looks at the file: false once another process has taken it over.
  bool is_held() const;

 private:
  friend class ClaimFolder;
  Claim(const ClaimFolder& folder, std::string name, std::string token)
      : folder_(folder), name_(std::move(name)), token_(std::move(token)) {}

  const ClaimFolder& folder_;
  std::string name_;
  const std::string token_;
};

// Keys are letters, digits, '.', '_' and '-'. For one thread. Everything throws Error(io).
class ClaimFolder {
 public:
  // The folder must exist. `about` is written into its claims.
  ClaimFolder(std::string folder, std::string about);

  // Null if another process holds it.
  std::unique_ptr<Claim> take(const std::string& key, const Patience& patience = {}) const;
  // Empty if no process holds it.
  std::optional<ClaimHolder> holder(const std::string& key) const;
  // All claims of other processes that may still run.
  std::vector<ClaimHolder> holders() const;
  // The time by the clock of the file system.
  std::int64_t now_ns() const;

  const std::string& path() const { return path_; }
  const std::string& about() const { return about_; }

 private:
  friend class Claim;
  std::unique_ptr<Claim> take_file(const std::string& name, const Patience& patience) const;
  std::unique_ptr<Claim> make(const std::string& name) const;
  std::optional<ClaimHolder> read(const std::string& name) const;
  FileHandle open(const std::string& name, int flags) const;
  [[noreturn]] void fail_at(const std::string& name, const std::string& what) const;

  std::string path_, about_;
  const ProcessId own_ = own_process();
  FileHandle folder_;
  mutable std::map<std::string, Clock::time_point> seen_;  // by token
};

// The claim to write one file, in its folder.
class FileClaim {
 public:
  // Waits while another process has it; says once for which, and ends as WaitScope says.
  explicit FileClaim(const std::string& path) : FileClaim(path, true) {}
  // Null if another process has it.
  static std::unique_ptr<FileClaim> if_free(const std::string& path);

  // Throws Error(io) if another process has taken it over.
  void check() const;

 private:
  FileClaim(const std::string& path, bool waits);

  const std::string path_;
  const ClaimFolder folder_;
  std::unique_ptr<Claim> claim_;
};

}  // namespace mf
