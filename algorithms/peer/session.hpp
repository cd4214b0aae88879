// A conversation with one peer, from its start to its end; peers/common/mfpeer.py has the protocol.
// Whatever comes from the other side is checked; what is wrong with it ends the peer and is thrown:
// Error(memory), CaseOver, or Error(io), which say what the peer printed last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/core/model.hpp"
#include "algorithms/peer/messages.hpp"
#include "algorithms/peer/supervised.hpp"
#include "base/clock.hpp"
#include "base/json/json.hpp"

namespace mf::peer {

class Session {
 public:
  // Starts the adapter of `library` on <order.folder>/request.json. `order` has what the process
  // may take; stop_requested may be empty.
  Session(std::string library, Order order, std::function<bool()> stop_requested);

  Hello hello();
  double converted();  // the seconds that it took to make its own format
  // To the end of epoch `until`; nothing where stop_requested() came true.
  std::optional<Trained> train(std::int64_t until, double learning_rate);
  // A model of `shape`, which is kept where nothing comes of a part (zeros).
  Model model(const ModelShape& shape);
  // Asks it to end, waits a little, and ends it. Its own account, an object.
  Json end();

  const Supervised& process() const { return *process_; }

 private:
  void tell_wait(double waited_s);
  std::optional<Json> await(const std::string& type);
  Json must_await(const std::string& type);
  void raise(const Json& message);
  [[noreturn]] void broken(const std::string& what);
  [[noreturn]] void gone();
  std::string last_words() const;
  template <class Read>
  auto checked(const Json& message, Read read) -> decltype(read(std::declval<JsonReader&>()));

  std::string library_;
  Order order_;
  std::function<bool()> stop_requested_;
  std::unique_ptr<Supervised> process_;
  double trained_s_ = 0;
  bool each_epoch_ = true;
  bool told_ = false;
};

}  // namespace mf::peer
