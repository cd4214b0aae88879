// Three arrays users, items and ratings of the same length: a folder of .npy files or an .npz
// archive.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "datasets/npy_array.hpp"
#include "datasets/reader_formats.hpp"
#include "datasets/zip_file.hpp"

namespace mf {
namespace {

RawRatings from_arrays(const std::string& path, const NpyArray& users, const NpyArray& items,
                       const NpyArray& ratings, const ScaleCheck& scale, int threads) {
  if (users.size() != ratings.size() || items.size() != ratings.size()) {
    fail_in_file(path,
                 fmt::format("{} users, {} items and {} ratings", users.size(), items.size(),
                             ratings.size()),
                 "three arrays of one length");
  }
  ThreadTeam team(threads);
  return {users.ids("user", team), items.ids("item", team), ratings.ratings(scale, team)};
}

NpyArray from_archive(const std::string& path, const Bytes& archive,
                      const std::vector<ZipMember>& members, const std::string& name) {
  const auto member = std::find_if(members.begin(), members.end(),
                                   [&](const ZipMember& m) { return m.name == name; });
  if (member == members.end()) {
    std::string found;
    for (const auto& m : members) found += (found.empty() ? "" : ", ") + m.name;
    fail_in_file(path, "the arrays " + in_quotes(found),
                 fmt::format("{}, {} and {}", kNumpyFiles[0], kNumpyFiles[1], kNumpyFiles[2]),
                 "write it as numpy.savez(path, users=..., items=..., ratings=...)");
  }
  return {fmt::format("{}({})", path, name), read_zip_member(path, archive, *member)};
}

}  // namespace

RawRatings read_npz(const std::string& path, const Bytes& archive, const ScaleCheck& scale,
                    const ParseOptions& options) {
  if (detect_compression(archive.view) != Compression::zip) {
    fail_in_file(path,
                 archive.view.empty() ? "an empty file" : in_quotes(archive.view.substr(0, 8)),
                 "an npz file (a zip archive of npy arrays)");
  }
  const auto members = zip_members(path, archive);
  const NpyArray users = from_archive(path, archive, members, kNumpyFiles[0]);
  const NpyArray items = from_archive(path, archive, members, kNumpyFiles[1]);
  const NpyArray ratings = from_archive(path, archive, members, kNumpyFiles[2]);
  return from_arrays(path, users, items, ratings, scale, options.threads);
}

RawRatings read_npy_folder(const std::string& folder, const ScaleCheck& scale,
                           const ParseOptions& options) {
  const auto array = [&](const char* name) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    return NpyArray(path, map_file(path));
  };
  const NpyArray users = array(kNumpyFiles[0]);
  const NpyArray items = array(kNumpyFiles[1]);
  const NpyArray ratings = array(kNumpyFiles[2]);
  return from_arrays(folder, users, items, ratings, scale, options.threads);
}

}  // namespace mf
