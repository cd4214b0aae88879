#include "harness/results/merge.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <list>
#include <map>

#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/claim.hpp"
#include "base/files/file_place.hpp"
#include "base/files/held_folder.hpp"
#include "base/files/mapped_file.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "harness/results/files/result_file.hpp"
#include "harness/results/files/stored_results.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpec = "/spec.json";
constexpr const char* kStudies = "tune";
constexpr const char* kModels = "models";
constexpr std::size_t kLongestName = 200;  // as of plain_name() in mfplots/files.py

Bytes bytes_of(const std::string& path) { return map_file(path, Origin::found); }

bool is_file(const std::string& path) { return open_if_there(path, Origin::found).has_value(); }

// A link to one does not count: its target is not part of the results.
bool is_own_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(fs::symlink_status(path, none));
}

// Throws if the header is another case's: it was edited, or the file was renamed.
void check_is_of(const std::string& id, const Json& header, const std::string& path) {
  const std::string hash = text_at(header, {"case_hash"}).value_or("");
  const std::string name = text_at(header, {"case_id"}).value_or("");
  if (name == id && hash.starts_with(id.substr(id.rfind('-') + 1))) return;
  fail_in_file(path + ": line 1", fmt::format("case_id \"{}\", case_hash \"{}\"", name, hash),
               fmt::format("case_id \"{}\", and the case_hash that it ends with", id),
               "move the file away, and run the spec again into this folder");
}

// Throws if one of the folders in `top` is not of files only, or if a link is among them.
void check_folders(const std::string& top) {
  if (!is_own_folder(top)) is_file(top);
  std::error_code none;
  for (fs::recursive_directory_iterator at(top, none), end; at != end; ++at)
    if (at.depth() > 0 || !is_own_folder(*at)) is_file(at->path().string());
}

struct MergeSource {
  std::string folder;
  Json spec;
  std::vector<std::string> cases;
};

void refuse_packed(const std::string& folder) {
  if (const auto packed = packed_in_place_of(folder)) {
    fail(ErrorKind::usage, "{}: found packed results, expected a folder: ./dev pack --unpack {}",
         folder, shell_word(*packed));
  }
}

MergeSource read_source(const std::string& folder) {
  refuse_packed(folder);
  const std::string path = folder + kSpec;
  if (!is_file(path)) {
    fail(ErrorKind::usage, "{}: is not a folder of results: it has no spec.json", folder);
  }
  MergeSource source{folder, read_json_file(path, Origin::found), {}};
  if (const auto why = why_unknown_version(source.spec)) {
    fail(ErrorKind::usage, "{}: {}; merge with the program that made it", path, *why);
  }
  const Json& ids = value_at(source.spec, {"cases"});
  if (!ids.is_array() || !text_at(source.spec, {"spec_hash"})) {
    fail_in_file(path, "no \"spec_hash\" or no list \"cases\"", "a spec.json of mfbench run",
                 "run the spec again into this folder");
  }
  for (const Json& id : ids) {
    const std::string name = id.is_string() ? id.get<std::string>() : "";
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos ||
        name.size() > kLongestName || one_line(name) != name) {
      fail_in_file(path, json_text(id) + " among \"cases\"", "names of files",
                   "run the spec again into this folder");
    }
    source.cases.push_back(name);
  }
  std::error_code none;
  for (const fs::path& study : fs::directory_iterator(folder + "/" + kStudies, none))
    refuse_packed(study.string());
  return source;
}

// The folder that a case is taken from.
struct Choice {
  std::string folder;
  bool has_result = false;  // a valid one: the same command would not run the case again
};

class Merge {
 public:
  Merge(const std::string& out, const std::vector<std::string>& folders) : out_(out) {
    if (const auto packed = packed_in_place_of(out)) {
      fail(ErrorKind::usage, "{}: stands in the place of the folder; choose another", *packed);
    }
    if (is_taken(out + kSpec)) add_source(out);
    for (const auto& folder : folders) add_source(folder);
    for (const auto& id : sources_.front().cases) choose(id);
    for (const auto& source : sources_)
      for (const char* kind : {kModels, kStudies}) check_folders(source.folder + "/" + kind);
  }

  // spec.json first: a killed merge goes on by the same command.
  Merged write() {
    make_folder(out_);
    to_ = without_links(out_);
    if (!is_taken(out_ + kSpec)) copy(sources_.front().folder + kSpec, to_ + kSpec);
    copy_trials();
    Merged merged;
    merged.cases = sources_.front().cases.size();
    for (const auto& id : sources_.front().cases) {
      const auto found = choices_.find(id);
      if (found == choices_.end() || !found->second.has_result) merged.missing.push_back(id);
      if (found == choices_.end()) continue;
      if (found->second.folder == out_) continue;
      copy_case(id, found->second.folder);
      ++merged.copied;
    }
    return merged;
  }

 private:
  void add_source(const std::string& folder) {
    held_.emplace_back(folder);
    sources_.push_back(read_source(folder));
    const MergeSource& first = sources_.front();
    const MergeSource& own = sources_.back();
    if (text_at(first.spec, {"spec_hash"}) != text_at(own.spec, {"spec_hash"}))
      fail(ErrorKind::usage, "{}{}: is of another spec than {}", folder, kSpec, first.folder);
    if (first.cases != own.cases) {
      fail(ErrorKind::usage,
           "{}{}: has other cases than {}: the searches chose differently; tune once, and copy the "
           "folder tune before the parts are run",
           folder, kSpec, first.folder);
    }
    const auto holders = ClaimFolder(folder, "").holders();
    if (holders.empty()) return;
    fail(ErrorKind::io,
         "{}: {} is running cases in this folder; wait for its end, or remove its {}* if it has "
         "ended",
         folder, holders.front().process.to_text(), kClaimPrefix);
  }

  void choose(const std::string& id) {
    for (const auto& source : sources_) {
      const std::string path = file_of(source.folder, id);
      if (!is_file(path)) continue;
      const auto file = read_result_file(path);
      if (file->header.is_object()) check_is_of(id, file->header, path);
      const auto status = file->status();
      const bool stands = status && has_run(*status);
      Choice& chosen = choices_[id];
      if (chosen.folder.empty() || (stands && !chosen.has_result)) {
        chosen = {source.folder, stands};
        continue;
      }
      if (!stands) continue;
      const std::string other = file_of(chosen.folder, id);
      if (bytes_of(other).view == bytes_of(path).view) continue;
      fail(ErrorKind::data,
           "{}: found another result than {}, expected one result of a case; move one away", path,
           other);
    }
  }

  static std::string file_of(const std::string& folder, const std::string& id) {
    return folder + "/" + id + ".jsonl";
  }

  static void copy(const std::string& from, const std::string& to, Origin origin = Origin::found) {
    AtomicFile file(to, origin);
    file.write(bytes_of(from).view);
    file.commit();
  }

  void copy_case(const std::string& id, const std::string& folder) const {
    const std::string model = folder + "/" + kModels + "/" + id;
    if (is_own_folder(model)) copy_tree(model, make_folder_in(to_, kModels) + "/" + id);
    const std::string path = file_of(to_, id);
    if (is_taken(path)) set_aside(path);
    copy(file_of(folder, id), path);
  }

  static void copy_tree(const std::string& from, const std::string& to) {
    AtomicFolder fresh(to);
    fresh.fill([&](const std::string& folder) {
      for (const fs::path& path : fs::directory_iterator(from))
        copy(path.string(), folder + "/" + path.filename().string(), Origin::named);
    });
    fresh.commit();
  }

  // The cases are the same, so all searches chose the same: one of each is kept.
  void copy_trials() const {
    for (const auto& source : sources_) {
      const std::string studies = source.folder + "/" + kStudies;
      if (!is_own_folder(studies)) continue;
      for (const auto& study : fs::directory_iterator(studies)) {
        const std::string to =
            make_folder_in(to_, kStudies) + "/" + study.path().filename().string();
        if (is_own_folder(study.path()) && !is_taken(to)) copy_tree(study.path().string(), to);
      }
    }
  }

  const std::string out_;
  std::string to_;  // target of the link
  std::list<HeldFolder> held_;
  std::vector<MergeSource> sources_;
  std::map<std::string, Choice> choices_;
};

}  // namespace

Merged merge_results(const std::string& out, const std::vector<std::string>& folders) {
  return Merge(out, folders).write();
}

std::string to_text(const Merged& merged, const std::string& out) {
  return fmt::format("{}: {} of {} cases have a result, {} files were copied", one_line(out),
                     merged.cases - merged.missing.size(), merged.cases, merged.copied);
}

}  // namespace mf
