// Who of several processes does a piece of work: a file ".claim-<key>" in the folder of the work,
// made by only one of them, with the name of that process, and touched while it works. This needs
// of a file system that a file can be made exclusively (O_EXCL) and that times of change come from
// one clock, its server's. Locks are not used: of a network file system they often hold within a
// machine only.
//
// A process that has ended is found by its number where both are of one machine, else by a claim
// that was not touched for the `lease_s` that its owner promised. Its claim goes to whoever makes
// its heir, ".claim-<key>~<token>", first; that is then renamed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/files/files.hpp"
#include "base/host/process_id.hpp"

namespace mf {

inline constexpr const char* kClaimPrefix = ".claim-";

// Seconds that a claim lasts without a touch: MFBENCH_LEASE, else 120. Throws Error(usage).
double claim_lease_s();

struct ClaimHolder {
  ProcessId process;
  std::string about;            // its folder's, below
  std::string token;            // of this claim: no other has it
  std::int64_t touched_ns = 0;  // by the clock of the file system
  bool here = false;            // on this machine
  std::optional<bool> runs;     // nothing: it was alive when it touched the claim last
  bool ended = false;           // its claim may be taken
};

class ClaimFolder;

// Released with the object.
class Claim {
 public:
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Whether it was found to be taken over: of a process that was stopped for longer than its lease.
  bool lost() const { return lost_; }
  // The same after a look at the file.
  bool is_held();

 private:
  friend class ClaimFolder;
  Claim(const ClaimFolder& folder, std::string name, std::string token)
      : folder_(folder), name_(std::move(name)), token_(std::move(token)) {}
  void move_to(const std::string& name);
  void touch();

  const ClaimFolder& folder_;
  std::string name_;
  const std::string token_;
  std::atomic<bool> lost_ = false;
};

// Keys are letters, digits, '.', '_' and '-'. Everything throws Error(io).
class ClaimFolder {
 public:
  // The folder must exist. `about` is written into its claims.
  ClaimFolder(std::string folder, std::string about, double lease_s = claim_lease_s());
  ~ClaimFolder();
  ClaimFolder(const ClaimFolder&) = delete;
  ClaimFolder& operator=(const ClaimFolder&) = delete;

  // Nothing where another holds it.
  std::unique_ptr<Claim> take(const std::string& key) const;
  // Nothing where no process holds it.
  std::optional<ClaimHolder> holder(const std::string& key) const;
  // All claims that other processes hold.
  std::vector<ClaimHolder> holders() const;
  // What the clock of the file system says: file times of later are of what happened since.
  std::int64_t now_ns() const;

  const std::string& path() const { return path_; }
  const std::string& about() const { return about_; }

 private:
  friend class Claim;
  std::unique_ptr<Claim> take_file(const std::string& name) const;
  std::unique_ptr<Claim> make(const std::string& name) const;
  std::optional<ClaimHolder> read(const std::string& name) const;
  void judge(ClaimHolder& holder, double lease_s) const;
  void keep(Claim& claim) const;
  void drop(Claim& claim) const;
  void touch_held() const;
  [[noreturn]] void fail_at(const std::string& name, const std::string& what) const;

  std::string path_, about_;
  double lease_s_;
  const ProcessId own_ = own_process();
  FileHandle folder_;
  // One thread touches all claims that are held: to start one for each takes longer than a small
  // case.
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::set<Claim*> held_;
  mutable std::thread thread_;
  bool ends_ = false;
};

// Claims that others hold, looked at again and again.
class ClaimWatch {
 public:
  ClaimWatch(const ClaimFolder& folder, std::vector<std::string> keys);

  enum class Seen {
    free,    // one of them can be taken
    held,    // by processes that all are known to run since the watch began
    unsure,  // one may have ended: its claim was not touched since
  };
  Seen look();
  // One of the claims that the last answer of look() is about.
  const ClaimHolder& holder() const { return last_; }
  const std::string& key() const { return key_; }

 private:
  const ClaimFolder& folder_;
  struct One {
    std::string key;
    std::optional<ClaimHolder> first;
  };
  std::vector<One> all_;
  ClaimHolder last_;
  std::string key_;  // of that claim
};

}  // namespace mf
