#include "datasets/fetch/fetch.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_lock.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "datasets/fetch/unpack.hpp"
#include "datasets/readers/archive_reader.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

void tell(const FetchOptions& options, const std::string& line) {
  if (options.download.say) options.download.say(line);
}

std::string last_part(const std::string& url) { return url.substr(url.rfind('/') + 1); }

std::string effective_url(const CatalogEntry& entry, const FetchOptions& options) {
  if (options.base_url.empty()) return entry.url;
  const bool slash = options.base_url.ends_with('/');
  return options.base_url + (slash ? "" : "/") + last_part(entry.url);
}

std::vector<CatalogFile> fetched_files(const CatalogEntry& entry) {
  std::vector<CatalogFile> files;
  std::copy_if(entry.files.begin(), entry.files.end(), std::back_inserter(files),
               [&](const CatalogFile& file) { return is_fetched(entry, file); });
  return files;
}

// The one file that the URL itself is, where it is no archive.
const CatalogFile* plain_download(const std::vector<CatalogFile>& files) {
  return files.size() == 1 && files.front().member.empty() ? &files.front() : nullptr;
}

struct Checksums {
  std::string sha256, md5;  // expected; empty where unknown
  bool known() const { return !sha256.empty() || !md5.empty(); }
};

Checksums expected_checksums(const CatalogEntry& entry, const std::vector<CatalogFile>& files) {
  Checksums expected{entry.archive_sha256, entry.archive_md5};
  if (const CatalogFile* file = plain_download(files); file != nullptr && expected.sha256.empty()) {
    expected.sha256 = file->sha256;
  }
  return expected;
}

// What differs, or nothing.
std::string mismatch(const std::string& path, const Checksums& expected,
                     const std::string& sha256) {
  if (!expected.sha256.empty() && expected.sha256 != sha256) {
    return fmt::format("SHA-256 {}, expected {}", sha256, expected.sha256);
  }
  if (expected.md5.empty()) return "";
  const std::string found = md5_file(path);
  return found == expected.md5 ? "" : fmt::format("MD5 {}, expected {}", found, expected.md5);
}

// Downloads to `part` until the checksum holds. A file that changed on the server between a cut
// download and its continuation shows as a wrong checksum: then once more from its start.
void download_verified(const std::string& url, const std::string& part, const Checksums& expected,
                       const FetchOptions& options, FetchReport& report) {
  if (expected.known() && fs::exists(part)) {
    // A call that was killed between the download and the unpacking.
    report.archive_sha256 = sha256_file(part);
    report.download.bytes = report.download.resumed =
        static_cast<std::int64_t>(fs::file_size(part));
    if (mismatch(part, expected, report.archive_sha256).empty()) return;
  }
  for (;;) {
    report.download = download(url, part, options.download);
    report.archive_sha256 = sha256_file(part);
    const std::string wrong = mismatch(part, expected, report.archive_sha256);
    if (wrong.empty()) return;
    fs::remove(part);
    const bool continued = report.download.resumed > 0 || report.download.attempts > 1;
    if (report.fetched_twice || !continued) {
      fail(ErrorKind::data, "{}: wrong checksum: {}; the download was removed", url, wrong);
    }
    report.fetched_twice = true;
    tell(options,
         fmt::format("{}: wrong checksum after continuing: {}; beginning anew", url, wrong));
  }
}

void verify_file(const CatalogFile& file, const std::string& path) {
  if (file.sha256.empty()) return;
  const std::string found = sha256_file(path);
  if (found == file.sha256) return;
  fail(ErrorKind::data, "{}: wrong checksum: SHA-256 {}, expected {}", file.name, found,
       file.sha256);
}

// Unpacks to temporary names, which are returned in the order of `files`, and checks.
std::vector<std::string> unpack_checked(const std::string& archive,
                                        const std::vector<CatalogFile>& files,
                                        const fs::path& folder, TemporaryFiles& temporary) {
  std::vector<WantedMember> wanted;
  std::vector<std::string> paths;
  for (const auto& file : files) {
    paths.push_back((folder / (file.name + ".new")).string());
    wanted.push_back({file.member, paths.back()});
    std::error_code error;
    fs::remove(paths.back(), error);  // of a call that was killed
  }
  unpack(archive, wanted);
  for (const auto& path : paths) temporary.add(path);
  for (std::size_t i = 0; i < files.size(); ++i) verify_file(files[i], paths[i]);
  return paths;
}

// The files of the finished download, not under their names yet.
std::vector<std::string> ready_files(const std::string& part, const std::vector<CatalogFile>& files,
                                     const fs::path& folder, TemporaryFiles& temporary) {
  if (plain_download(files) != nullptr) return {part};
  try {
    return unpack_checked(part, files, folder, temporary);
  } catch (const Error& error) {
    // Whole, yet not what it should be: to continue it makes no sense.
    if (error.kind() == ErrorKind::data) fs::remove(part);
    throw;
  }
}

void write_record(const CatalogEntry& entry, const std::vector<CatalogFile>& files,
                  const std::vector<std::string>& ready, const std::string& url,
                  const fs::path& folder, const FetchReport& report) {
  Json hashes = Json::object();
  for (std::size_t i = 0; i < files.size(); ++i) hashes[files[i].name] = sha256_file(ready[i]);
  const Json record = {
      {"name", entry.name},
      {"url", url},
      {"fetched_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"download_bytes", report.download.bytes},
      {"download_sha256", report.archive_sha256},
      {"checksum_was_known", report.checksum_known},
      {"files_sha256", hashes},
      {"licence", entry.licence},
      {"redistributable", entry.redistributable},
      {"citation", entry.citation}};
  write_atomically((folder / "fetched.json").string(), record.dump(2) + "\n");
}

// The finished download becomes the files of the set. The record comes first: a call that is killed
// between leaves no set without one.
void install(const CatalogEntry& entry, const std::vector<CatalogFile>& files,
             const std::string& part, const std::string& url, const fs::path& folder,
             const FetchReport& report) {
  TemporaryFiles temporary;
  const auto ready = ready_files(part, files, folder, temporary);
  write_record(entry, files, ready, url, folder, report);
  for (std::size_t i = 0; i < files.size(); ++i) {
    move_file(ready[i], (folder / files[i].name).string());
  }
}

// A download that is unpacked is kept under its name, or goes; so does what a killed call left.
void finish_archive(const std::string& part, const std::string& archive, bool keep) {
  if (!fs::exists(part)) return;
  if (keep) {
    move_file(part, archive);
  } else {
    fs::remove(part);
  }
}

bool all_there(const std::vector<CatalogFile>& files, const fs::path& folder) {
  return std::all_of(files.begin(), files.end(), [&](const CatalogFile& file) {
    const fs::path path = folder / file.name;
    std::error_code error;
    return fs::is_regular_file(path, error) &&
           (file.sha256.empty() || sha256_file(path.string()) == file.sha256);
  });
}

void show_terms(const CatalogEntry& entry, const std::string& url, const FetchOptions& options) {
  tell(options, fmt::format("{}: {}", entry.name, entry.title));
  tell(options, fmt::format("  licence:  {}", entry.licence));
  tell(options, fmt::format("  cite:     {}", entry.citation));
  tell(options, fmt::format("  from:     {}", url));
}

}  // namespace

FetchReport fetch_dataset(const std::string& name, const std::string& folder,
                          const FetchOptions& options) {
  return fetch_entry(find_catalog_entry(name), folder, options);
}

FetchReport fetch_entry(const CatalogEntry& entry, const std::string& folder,
                        const FetchOptions& options) {
  if (entry.url.empty()) {
    fail(ErrorKind::data, "{}: there is no public download. {}", entry.name, entry.origin);
  }
  const auto files = fetched_files(entry);
  const std::string url = effective_url(entry, options);
  const fs::path target = fs::path(folder) / entry.name;
  FetchReport report;
  report.folder = target.string();
  for (const auto& file : files) report.files.push_back(file.name);
  show_terms(entry, url, options);

  make_folder(target.string());
  const FileLock lock((target / ".fetch.lock").string());
  const std::string archive = (target / last_part(url)).string();
  const std::string part = archive + ".part";
  if (!options.again && all_there(files, target)) {
    finish_archive(part, archive, false);
    report.already_there = true;
    return report;
  }
  if (plain_download(files) == nullptr && !have_libarchive()) {
    fail(ErrorKind::unsupported,
         "{}: {} is an archive, which needs libarchive, and this build has none; unpack it into {} "
         "by hand, or install libarchive-dev and build again",
         entry.name, url, target.string());
  }
  const Checksums expected = expected_checksums(entry, files);
  report.checksum_known = expected.known();
  download_verified(url, part, expected, options, report);
  if (!report.checksum_known) {
    tell(options, fmt::format("no published checksum in the catalog: recorded {} beside the file",
                              report.archive_sha256));
  }
  install(entry, files, part, url, target, report);
  finish_archive(part, archive, options.keep_archive);
  return report;
}

}  // namespace mf
