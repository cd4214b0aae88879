// Messages of a library in another process on its channel, and the peer.json of one that is
// installed.
#include <cmath>
#include <filesystem>
#include <string>

#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/messages.hpp"
#include "base/error.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

void expect_seconds(double seconds) {
  expect(std::isfinite(seconds) && seconds >= 0, "seconds are finite and at least 0");
}

void read_message(const std::string& type, JsonReader& reader) {
  if (type == "hello") {
    const peer::Hello hello = peer::read_hello(reader, "fuzz");
    expect(!hello.version.empty() && hello.build.is_object(), "a peer has a version and facts");
    expect_seconds(hello.warm_up_s.value_or(0));
  } else if (type == "converted") {
    expect_seconds(peer::read_converted(reader));
  } else if (type == "epoch") {
    expect_seconds(peer::read_trained(reader, 3).seconds);
  } else if (type == "model") {
    peer::read_model_files(reader);
  } else if (type == "done") {
    expect(peer::read_done(reader).is_object(), "an account is an object");
  } else {
    const auto text = peer::read_complaint(reader).text;
    expect(text.find('\x1b') == text.npos && text.find('\n') == text.npos, "a complaint is a line");
  }
}

void channel(std::string_view input) {
  const Json message = parse_json(std::string(input), "its message");
  JsonReader reader(message, "$");
  read_message(reader.string("type", ""), reader);
  reader.finish();
}

void peer_json(std::string_view input) {
  write_scratch("libraries/fuzz/peer.json", input);
  const Json none = Json::object();
  const PeerLibrary library = read_peer_library(scratch() / "libraries/fuzz");
  expect(!library.algorithms.empty(), "a library has an algorithm");
  for (const auto& algorithm : library.algorithms) {
    const AlgorithmInfo& info = algorithm.info;
    JsonReader nothing(none, "$");
    const Params params = read_params(info.params, nothing);
    if (info.implicit) info.implicit(params);
  }
}

const Registrar channel_target({"channel", channel});
const Registrar peer_json_target({"peer_json", peer_json});

}  // namespace
}  // namespace mf::fuzz
