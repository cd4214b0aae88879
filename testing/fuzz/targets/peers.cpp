// Files of a library in another process: the message that names its model, and the four files.
#include <array>
#include <cmath>
#include <string>

#include "algorithms/peer/messages.hpp"
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
  JsonReader reader(message, "$");
  reader.string("type", "");
  const auto files = peer::read_model_files(reader);
  reader.finish();
  ModelShape shape;
  shape.kind = files.names.count("user_bias") != 0 ? ModelKind::biased : ModelKind::plain;
  shape.n_users = 3;
  shape.n_items = 2;
  shape.factors = 2;
  check(peer::read_model(scratch() / "peer", files, shape), shape);
}

const Registrar peer_target({"peer", peer_model, kParts});

}  // namespace
}  // namespace mf::fuzz
