// A conversation with one peer, from its start to its end: docs/peers.md is the protocol. Whatever
// comes from the other side is checked; what is wrong with it ends the peer and is thrown:
// Error(memory), CaseOver, or Error(io), which say what the peer printed last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/core/model.hpp"
#include "algorithms/peer/channel.hpp"
#include "algorithms/peer/process.hpp"
#include "base/json.hpp"

namespace mf::peer {

inline constexpr int kProtocol = 1;

struct SessionOptions {
  std::string library;
  std::string environment;  // whose Python runs its adapter
  std::string folder;       // that of its files, which the request names
  std::string log;          // ForeignLoan::log_file
  int threads = 1;
  double timeout_s = 0;                  // for each answer
  std::int64_t memory_bytes = 0;         // of all its processes; 0: any
  std::int64_t scratch_bytes = 0;        // below its folder; 0: any
  std::function<bool()> stop_requested;  // may be empty
};

// What it says of itself.
struct Hello {
  std::string version;
  bool each_epoch = false;
  std::string starts_from;  // "mfbench", "library": whose initial factors
  Json build;               // facts such as its instruction sets and threads
};

class Session {
 public:
  // Starts the adapter of the library on <folder>/request.json.
  explicit Session(SessionOptions options);
  ~Session();

  Hello hello();
  double converted();  // the seconds that it took to make its own format
  // What it says after training.
  struct Trained {
    double seconds = 0;  // from its initial model to the end of the epoch, over all calls
    // Its own RMSE of the test part, where it has been given one; perhaps not finite.
    std::optional<double> rmse;
  };
  // To the end of epoch `until`; nothing where stop_requested() came true.
  std::optional<Trained> train(std::int64_t until, double learning_rate);
  // A model of `shape`, which is kept where nothing comes of a part (zeros).
  Model model(const ModelShape& shape);
  // Asks it to end, waits a little, and ends it. Its own account, an object.
  Json end();

  const Process& process() const { return *process_; }

 private:
  std::optional<Json> await(const std::string& type);
  Json must_await(const std::string& type);
  bool watch();
  bool writes_too_much();
  void raise(const Json& message);
  [[noreturn]] void broken(const std::string& what);
  [[noreturn]] void gone();
  std::string last_words() const;
  template <class Read>
  auto checked(const Json& message, Read read) -> decltype(read(std::declval<JsonReader&>()));

  SessionOptions options_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Channel> channel_;
  Clock::time_point asked_;
  Clock::time_point weighed_;  // when its folder was looked through
  double trained_s_ = 0;
  bool each_epoch_ = true;
  // Why watch() ended the wait.
  enum class Over { not_yet, stop, timeout, memory, log, scratch, ended };
  Over over_ = Over::not_yet;
};

}  // namespace mf::peer
