// A process that mfbench does not trust, by way of peers/common/supervisor.py: that has a folder
// for it, starts it there, limits what it takes and ends it with all that descends from it.
// peers/common/mfpeer.py has the conversation. Whatever comes from the other side is checked; what
// is wrong with it ends the process and is thrown: Error(memory), CaseOver, or Error(io), which say
// what it printed last.
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
  // A supervisor in that Python, with a folder for `bytes`. What the adapter of `library` prints
  // goes to `log`; empty: nowhere. Throws Error(io).
  Channel(const std::string& python, std::string library, double bytes,
          const std::string& log = "");
  ~Channel() { end(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const std::string& folder() const { return folder_; }
  // All that the supervisor has said, by key (supervisor.py): the last of each.
  const Json& said() const { return said_; }

  // Starts the adapter. `stop` is asked ten times a second while an answer is awaited.
  void start(const Json& order, std::function<bool()> stop = nullptr);
  void ask(const Json& message);
  std::optional<std::string> answer();  // the next line of the adapter; nothing if it is over

  using Read = std::function<void(JsonReader&)>;
  // A message of this type, whose keys `read` takes. False: `stop` said so.
  bool await(const std::string& type, const Read& read);
  void must(const std::string& type, const Read& read);  // throws in that case
  [[noreturn]] void broken(std::string why);

  Json finish();  // asks it to end, waits a little, and ends it: its own account, an object
  void end();     // nothing of it is left after that

 private:
  std::optional<std::string> take_line();
  std::optional<std::string> take(const std::string& line);
  void check(const Json& message, const Read& read);
  void set_over(const char* why, const char* text);
  std::string text(const char* key) const;
  bool over() const { return said_.contains("over"); }
  std::string last_words();
  [[noreturn]] void complain(const Json& message);
  [[noreturn]] void gone();

  std::string library_;
  pid_t pid_ = -1;
  FileHandle file_;
  std::string pending_;
  Json said_ = Json::object();
  std::string folder_;
  double timeout_s_ = 0;
  std::function<bool()> stop_;
};

// Actions that this kernel can deny an untrusted process: "writes" outside its folder,
// "truncation" of files that it may read, "signals" to processes that it did not start.
std::vector<std::string> confinements();

}  // namespace mf::peer
