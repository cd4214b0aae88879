// NumPy's arrays: a single one, and three of an archive.
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "base/files/npy.hpp"
#include "datasets/readers/numpy/numpy_column.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"
#include "testing/zip.hpp"

namespace mf::fuzz {
namespace {

template <class T>
void read_values(const std::string& path) {
  const NpyArray<T> array = read_npy<T>(path);
  std::int64_t count = 1;
  for (const auto extent : array.shape) count *= extent;
  expect(count == std::ssize(array.values), "an array has as many elements as its shape says");
  const std::int64_t rows = array.shape.empty() ? 1 : array.shape.front();
  if (rows == 0 || array.shape.size() > 2) return;
  const std::int64_t width = array.shape.size() == 2 ? array.shape[1] : 0;
  if (array.shape.size() == 2 && width == 0) return;  // a width of 0 asks for one dimension
  const std::string copy = scratch() / "copy.npy";
  write_npy(copy, array.values.data(), rows, width, width == 0 ? 1 : width);
  const auto again = read_npy<T>(copy);
  expect(again.values.size() == array.values.size() &&
             std::memcmp(again.values.data(), array.values.data(),
                         array.values.size() * sizeof(T)) == 0,
         "what is written is what was read");
}

void npy(std::string_view input) {
  const NpyHeader header = read_npy_header("input", input);
  expect(header.data_offset <= input.size(), "the header ends in the file");
  ThreadTeam single(1);
  const bool column = accepts([&] {
    const NumpyColumn values("input", bytes_of(input));
    for (const IdKind kind : {IdKind::automatic, IdKind::integers, IdKind::text}) {
      accepts([&] {
        IdNames names;
        const auto ids = values.ids("user", kind, names, single);
        expect(names.wrong().empty(), "names are names, and ascend");
        expect(std::ssize(ids) == values.size(), "every element is an id");
      });
    }
    accepts([&] { values.ratings(ScaleCheck(std::nullopt), single); });
    accepts([&] { values.ratings(ScaleCheck(RatingScale{0.5F, 5, 0.5F}), single); });
  });
  const std::string path = write_scratch("input.npy", input);
  const bool floats = accepts([&] { read_values<float>(path); });
  const bool ints = accepts([&] { read_values<std::int32_t>(path); });
  const bool longs = accepts([&] { read_values<std::int64_t>(path); });
  if (!column && !floats && !ints && !longs) fail(ErrorKind::data, "no reader takes it");
}

// A whole archive with the input in it.
void npz(std::string_view input) {
  const auto parts = parts_of(input, kNumpyFiles.size());
  std::vector<std::pair<std::string, std::string>> members;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    members.emplace_back(kNumpyFiles[i], parts[i]);
  }
  const std::string archive = test::zip_of(members);
  const ScaleCheck any(std::nullopt);
  const RawRatings raw = read_npz("input", bytes_of(archive), any, {1, 64});
  check_raw(raw);
  make_canonical(raw);
}

const Registrar npy_target({"npy", npy});
const Registrar npz_target({"npz", npz, kNumpyFiles.size()});

}  // namespace
}  // namespace mf::fuzz
