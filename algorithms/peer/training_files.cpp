#include "algorithms/peer/training_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/npy.hpp"

namespace mf::peer {
namespace {

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

bool TrainingFiles::Stamp::operator==(const Stamp& other) const {
  return same(changed, other.changed) && same(modified, other.modified) && bytes == other.bytes;
}

TrainingFiles::Stamp TrainingFiles::stamp_of(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return {};
  return {info.st_ctim, info.st_mtim, info.st_size};
}

TrainingFiles::TrainingFiles(const Ratings& train) : scratch_(static_cast<double>(train.bytes())) {
  const auto start = Clock::now();
  const auto write = [&](const char* name, const auto& values) {
    const std::string path = scratch_.path() + "/" + name;
    write_npy(path, values);
    chmod(path.c_str(), 0444);  // a peer that writes to what others read does so on purpose
    names_.emplace_back(name);
    stamps_.push_back(stamp_of(path));
    bytes_ += stamps_.back().bytes;
  };
  write("user.npy", train.users());
  write("item.npy", train.items());
  write("value.npy", train.values());
  write("user_offsets.npy", train.user_offsets());
  seconds_ = seconds_since(start);
}

void TrainingFiles::link_into(const std::string& folder) const {
  for (const auto& name : names_) {
    const std::string target = scratch_.path() + "/" + name, link = folder + "/" + name;
    if (symlink(target.c_str(), link.c_str()) == 0) continue;
    fail(ErrorKind::io, "{}: no link to what is handed over can be made: {}", link, last_cause());
  }
}

bool TrainingFiles::untouched() const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!(stamp_of(scratch_.path() + "/" + names_[i]) == stamps_[i])) return false;
  }
  return true;
}

}  // namespace mf::peer
