// A file of ratings, however it is compressed.
#include "base/error.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/source_hash.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

void compressed(std::string_view input) {
  const std::string path = write_scratch("ratings", input);
  const bool hashed = accepts([&] { uncompressed_sha256(path); });
  const RawRatings raw = read_ratings(path, {});
  expect(hashed, "what can be read has a hash");
  check_raw(raw);
  make_canonical(raw);
}

const Registrar compressed_target({"compressed", compressed});

}  // namespace
}  // namespace mf::fuzz
