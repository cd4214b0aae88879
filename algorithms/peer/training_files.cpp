#include "algorithms/peer/training_files.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/files/npy.hpp"

namespace mf::peer {

TrainingFiles::TrainingFiles(const std::string& python, const Ratings& train, PhaseSink* phases) {
  {
    const PhaseScope phase(phases, "start");
    keeper_.emplace(python, "", static_cast<double>(train.bytes()));
  }
  const auto write = [&](const char* name, const auto& values) {
    const std::string path = folder() + "/" + name;
    write_npy(path, values);
    struct stat info {};
    if (stat(path.c_str(), &info) == 0) bytes_ += info.st_size;
    chmod(path.c_str(), 0444);  // a peer that writes to what others read does so on purpose
  };
  write("user.npy", train.users());
  write("item.npy", train.items());
  write("value.npy", train.values());
  write("user_offsets.npy", train.user_offsets());
  stamp_ = stamp();
}

// No process can set when a file was changed.
std::string TrainingFiles::stamp() const {
  std::string all;
  for (const char* name : {"user.npy", "item.npy", "value.npy", "user_offsets.npy"}) {
    struct stat info {};
    lstat((folder() + "/" + name).c_str(), &info);
    all += fmt::format("{} {} {} ", info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  }
  return all;
}

}  // namespace mf::peer
