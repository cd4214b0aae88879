#include "base/files/file_claim.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/wait.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAbout = "file";

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// Names of files may have any bytes, keys may not.
std::string key_of(const std::string& path) {
  constexpr std::size_t kDigits = 20;
  return sha256(fs::path(path).filename().string()).substr(0, kDigits);
}

std::string holder_text(const ClaimFolder& folder, const std::string& key) {
  const auto holder = folder.holder(key);
  return holder && holder->process.pid != 0 ? holder->process.to_text() : "another process";
}

}  // namespace

FileClaim::FileClaim(const std::string& path, bool waits)
    : path_(path), folder_(folder_of(path), kAbout), claim_(folder_.take(key_of(path))) {
  constexpr int kLooked = 4;  // moments, between two looks: a look reads a file
  const std::string key = key_of(path);
  const auto start = Clock::now();
  bool told = false;
  while (waits && !claim_) {
    const std::string what = fmt::format("{}, which writes {}", holder_text(folder_, key), path);
    if (!told) note("waiting for {}", what);
    told = true;
    for (int i = 0; i < kLooked; ++i) wait_a_moment(what, seconds_since(start));
    claim_ = folder_.take(key);
  }
}

FileClaim::FileClaim(const std::string& path) : FileClaim(path, true) {}

std::unique_ptr<FileClaim> FileClaim::if_free(const std::string& path) {
  std::unique_ptr<FileClaim> taken(new FileClaim(path, false));
  return taken->claim_ ? std::move(taken) : nullptr;
}

void FileClaim::check() const {
  if (claim_->is_held()) return;
  fail(ErrorKind::io,
       "{}: another process has taken over the writing, because this one was not heard of for {:g} "
       "s: it was stopped, or the file system was away",
       path_, claim_lease_s());
}

}  // namespace mf
