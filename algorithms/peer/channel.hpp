// A process that mfbench does not trust. peers/common/supervisor.py makes a folder for it, starts
// it there, checks its answers, limits its resources, and ends it with all its descendants.
// peers/common/mfpeer.py describes the conversation.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files/files.hpp"
#include "base/json/json.hpp"

namespace mf::peer {

class Channel {
 public:
  // Starts a supervisor in that Python, with a folder for `bytes`. The adapter of `library` prints
  // to `log`, or nowhere if that is empty. Throws Error(io).
  Channel(const std::string& python, std::string library, double bytes,
          const std::string& log = "");
  ~Channel() { end(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const std::string& folder() const { return folder_; }
  // All that the supervisor has said, by key (supervisor.py): the last of each.
  const Json& said() const { return said_; }

  // Starts the adapter. `stop` is asked ten times a second while an answer is awaited.
  void start(const Json& order, std::function<bool()> stop);
  void ask(const Json& question);
  // The next message of the adapter. Null if `stop` said so. If the adapter has ended, this
  // throws Error(memory), CaseOver or Error(io) with the last words that it printed.
  Json answer();
  Json needed_answer();                              // throws if `stop` said so, too
  [[noreturn]] void broken(const std::string& why);  // for wrong files: as for a wrong answer

  Json finish();  // asks it to end, waits a little, ends it; returns its own account, an object
  void end();     // leaves nothing of it

 private:
  std::optional<std::string> take_line();
  std::optional<Json> next(const char* key);
  void set_over(const char* why, const char* text);
  std::string text(const char* key) const;
  bool over() const { return said_.contains("over"); }

  std::string library_;
  pid_t pid_ = -1;
  FileHandle file_;
  std::string pending_;
  Json said_ = Json::object();
  std::string folder_;
  double timeout_s_ = 0;
  std::function<bool()> stop_;
};

// Actions that this kernel can deny an untrusted process: "writes" outside its folder, "sockets" of
// others and more, by the words of docs/security.md.
std::vector<std::string> confinements();

}  // namespace mf::peer
