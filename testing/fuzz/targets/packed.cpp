// What is packed: a file of ratings however it is compressed, and an archive that is unpacked.
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "datasets/fetch/unpack.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/source_hash.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

namespace fs = std::filesystem;

void compressed(std::string_view input) {
  const std::string path = write_scratch("ratings", input);
  const bool hashed = accepts([&] { uncompressed_sha256(path); });
  const RawRatings raw = read_ratings(path, {});
  expect(hashed, "what can be read has a hash");
  check_raw(raw);
  make_canonical(raw);
}

std::set<std::string> all_below(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.insert(fs::relative(entry.path(), folder).string());
  }
  return names;
}

void unpack_archive(std::string_view input) {
  const std::string archive = write_scratch("unpack/archive", input);
  const std::string folder = scratch() / "unpack";
  const std::vector<WantedMember> wanted = {{"set/ratings.csv", folder + "/first"},
                                            {"set/README", folder + "/second"}};
  for (const auto& one : wanted) fs::remove(one.path);
  const bool unpacked = accepts([&] { unpack(archive, wanted); });
  const std::set<std::string> expected = unpacked
                                             ? std::set<std::string>{"archive", "first", "second"}
                                             : std::set<std::string>{"archive"};
  expect(all_below(folder) == expected, "only wanted members are written, all or none");
  if (!unpacked) fail(ErrorKind::data, "refused");
}

const Registrar compressed_target({"compressed", compressed});
const Registrar unpack_target({"unpack", unpack_archive});

}  // namespace
}  // namespace mf::fuzz
