// Files of a library in another process: the message that names its model, the four files of the
// model, and the peer.json of an installed library.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "algorithms/peer/files.hpp"
#include "algorithms/peer/libraries.hpp"
#include "base/json/json_values.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

constexpr std::array<const char*, 4> kFiles = {"p.npy", "q.npy", "b.npy", "c.npy"};
constexpr std::size_t kParts = kFiles.size() + 1;  // and the message

void check(const Model& model, const ModelShape& shape) {
  const auto rows = [&](std::int64_t n) { return n * shape.factors; };
  expect(std::ssize(model.p) == rows(shape.n_users), "P is of the shape that was asked for");
  expect(std::ssize(model.q) == rows(shape.n_items), "Q is of the shape that was asked for");
  expect(model.biased() == shape.biased(), "the kind is the one that was asked for");
  for (const auto* part : {&model.p, &model.q, &model.user_bias, &model.item_bias}) {
    for (const float x : *part) expect(std::isfinite(x), "numbers are finite");
  }
  expect(std::isfinite(model.mean), "the mean is finite");
}

void peer_model(std::string_view input) {
  const auto parts = parts_of(input, kParts);
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    write_scratch(std::string("peer/") + kFiles[i], parts[i + 1]);
  }
  const Json message = parse_json(parts[0], "its message");
  for (const char* key : {"p", "q", "user_bias", "item_bias"}) {
    const auto name = text_at(message, {key});
    if (name && std::find(kFiles.begin(), kFiles.end(), *name) == kFiles.end()) return;
  }
  ModelShape shape;
  shape.kind = text_at(message, {"user_bias"}) ? ModelKind::biased : ModelKind::plain;
  shape.n_users = 3;
  shape.n_items = 2;
  shape.factors = 2;
  check(peer::read_model(scratch() / "peer", message, shape), shape);
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

const Registrar peer_target({"peer", peer_model, kParts});
const Registrar peer_json_target({"peer_json", peer_json});

}  // namespace
}  // namespace mf::fuzz
