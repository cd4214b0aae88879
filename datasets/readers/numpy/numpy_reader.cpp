// Three arrays users, items and ratings of the same length, and perhaps times: a folder of .npy
// files or an .npz archive. In a folder, user_names.txt and item_names.txt may name the numbers, as
// in the folder of a model.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "datasets/readers/archive_reader.hpp"
#include "datasets/readers/id_columns.hpp"
#include "datasets/readers/numpy/numpy_column.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "datasets/readers/times.hpp"

namespace mf {
namespace {

MergedNames names_of_lines(const std::string& path, const char* what) {
  const Bytes file = map_file(path, Origin::named_file);
  NameCounter counter;
  for (std::string_view rest = file.view; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const auto line = static_cast<std::int32_t>(counter.names().size());
    const std::string_view name = rest.substr(0, end);
    if (counter.number(name) != line) {
      fail_in_file(fmt::format("{}:{}", path, line + 1), in_quotes(name),
                   fmt::format("an id of a {} ({}), each in one line only", what, kNameRule));
    }
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return merge_names({&counter});
}

// The names of one side, a line each, in any order; the numbers of `ids` become their rows.
IdNames read_numbered_names(const std::string& path, const char* what,
                            AlignedVector<std::int32_t>& ids, ThreadTeam& team) {
  const MergedNames merged = of_whole_files([&] { return names_of_lines(path, what); });
  const auto& row_of = merged.row_of.front();
  const std::int64_t count = std::ssize(row_of);
  const auto beyond = std::find_if(ids.begin(), ids.end(), [&](auto id) { return id >= count; });
  if (beyond != ids.end()) {
    fail_in_file(path,
                 fmt::format("{} names, and the number {} (element {})", count, *beyond,
                             beyond - ids.begin()),
                 fmt::format("a name for each number of a {}, the first line for 0", what));
  }
  team.for_chunks(std::ssize(ids), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) ids[k] = row_of[static_cast<std::size_t>(ids[k])];
  });
  return merged.names;
}

// `array`: the column of a name; the times are read only if asked for.
template <class Array>
RawRatings from_arrays(const std::string& path, const Array& array, bool has_times,
                       const ScaleCheck& scale, const ParseOptions& options) {
  const NumpyColumn users = array(kNumpyFiles[0]), items = array(kNumpyFiles[1]),
                    ratings = array(kNumpyFiles[2]);
  if (options.times && !has_times) {
    fail_without_times(path, "arrays of users, items and ratings, but no times");
  }
  std::optional<NumpyColumn> times;
  if (options.times) times = array(kNumpyTimes);
  if (users.size() != ratings.size() || items.size() != ratings.size()) {
    fail_in_file(path,
                 fmt::format("{} users, {} items and {} ratings", users.size(), items.size(),
                             ratings.size()),
                 "three arrays of one length");
  }
  if (times && times->size() != ratings.size()) {
    fail_in_file(path, fmt::format("{} ratings and {} times", ratings.size(), times->size()),
                 "a time for each rating");
  }
  ThreadTeam team(options.threads);
  const auto ids = [&](const NumpyColumn& column, const char* what, IdNames& names) {
    const std::string beside = fmt::format("{}/{}_names.txt", path, what);
    std::error_code error;  // an archive is not a folder
    if (!std::filesystem::exists(beside, error)) return column.ids(what, options.ids, names, team);
    if (options.ids == IdKind::integers) {
      fail_in_file(beside, "names of ids", "only numbers, as ids says");
    }
    auto numbers = column.ids(what, IdKind::integers, names, team);
    names = read_numbered_names(beside, what, numbers, team);
    return numbers;
  };
  RawRatings raw;
  raw.users = ids(users, "user", raw.user_names);
  raw.items = ids(items, "item", raw.item_names);
  raw.values = ratings.ratings(scale, team);
  if (times) raw.times = times->times(team);
  return raw;
}

// `members`: the archive's. scipy.sparse writes "data", "shape" and places.
[[noreturn]] void fail_arrays(const std::string& path, std::vector<std::string> members) {
  const bool sparse = std::find(members.begin(), members.end(), "shape.npy") != members.end() &&
                      std::find(members.begin(), members.end(), "data.npy") != members.end();
  for (auto& name : members) {
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    name = in_quotes(name);
  }
  fail_in_file(path,
               (sparse ? "a matrix of scipy.sparse, the arrays " : "the arrays ") + join(members),
               "the arrays 'users', 'items' and 'ratings'",
               sparse ? "write it as m = scipy.sparse.load_npz(path).tocoo(); "
                        "numpy.savez(path, users=m.row, items=m.col, ratings=m.data)"
                      : "write it as numpy.savez(path, users=..., items=..., ratings=...)");
}

// The arrays of an archive that has the three; without their bytes unless `read`.
std::map<std::string, Bytes> arrays_of(const std::string& path, const Bytes& archive, bool read) {
  if (detect_compression(archive.view) != Compression::zip) {
    fail_in_file(path,
                 archive.view.empty() ? "an empty file" : in_quotes(archive.view.substr(0, 8)),
                 "an npz file (a zip archive of npy arrays)");
  }
  std::map<std::string, Bytes> arrays;
  std::vector<std::string> names;
  for (ArchiveReader reader(path, archive); const auto member = reader.next();) {
    names.push_back(member->name);
    if (member->name != kNumpyTimes && !std::ranges::count(kNumpyFiles, member->name)) continue;
    arrays[member->name] = read ? reader.read_all() : Bytes();
  }
  for (const char* name : kNumpyFiles) {
    if (!arrays.contains(name)) fail_arrays(path, names);
  }
  return arrays;
}

}  // namespace

void check_npz(const std::string& path, const Bytes& archive) { arrays_of(path, archive, false); }

RawRatings read_npz(const std::string& path, const Bytes& archive, const ScaleCheck& scale,
                    const ParseOptions& options) {
  const auto arrays = arrays_of(path, archive, true);
  const auto array = [&](const char* name) {
    return NumpyColumn(fmt::format("{}({})", path, name), arrays.at(name));
  };
  return from_arrays(path, array, arrays.contains(kNumpyTimes), scale, options);
}

RawRatings read_npy_folder(const std::string& folder, const ScaleCheck& scale,
                           const ParseOptions& options) {
  const std::filesystem::path files = folder;
  const auto array = [&](const char* name) {
    return NumpyColumn((files / name).string(), map_file((files / name).string()));
  };
  std::error_code unreadable;  // as are the needed arrays then
  const bool has_times = std::filesystem::exists(files / kNumpyTimes, unreadable);
  return from_arrays(folder, array, has_times, scale, options);
}

}  // namespace mf
