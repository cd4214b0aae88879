#include "harness/run/ranks/rank_world.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/hash.hpp"
#include "base/host/cpus.hpp"
#include "base/ranks/mpi_ranks.hpp"
#include "base/ranks/silence.hpp"
#include "base/ranks/thread_ranks.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "harness/device/device.hpp"
#include "harness/run/session.hpp"
#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

const Case& largest_case(const Spec& spec) {
  return *std::max_element(spec.cases.begin(), spec.cases.end(),
                           [](const Case& a, const Case& b) { return ranks_of(a) < ranks_of(b); });
}

// "3 ranks", "4 devices"
std::string wish_of(const Case& item) {
  const int devices = devices_of(item.params);
  return fmt::format("{} {}", ranks_of(item), devices > 1 ? "devices" : "ranks");
}

// Tells machines apart, even with the same name.
std::string machine_key() {
  utsname names{};
  ::uname(&names);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(names.nodename) + boot;
}

std::string algorithm_list_hash() {
  Json names = Json::array();
  for (const auto* info : all_algorithms()) {
    for (const auto& param : info->params) names.push_back(info->name + "." + param.name);
  }
  return sha256(names.dump());
}

}  // namespace

std::vector<std::optional<int>> assign_devices(const std::vector<SeenDevices>& ranks) {
  std::set<std::pair<int, std::string>> taken;
  std::vector<std::optional<int>> given(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [machine, ids] = ranks[rank];
    for (std::size_t at = 0; at < ids.size() && !given[rank]; ++at) {
      if (taken.emplace(machine, ids[at]).second) given[rank] = static_cast<int>(at);
    }
  }
  return given;
}

int ranks_of(const Case& item) { return ranks_of(item.params); }

RankWorld::RankWorld() : launched_(launched_count() > 1) {
  if (launched_) all_ = Communicator(join_mpi_ranks());
}

RankWorld::~RankWorld() {
  all_ = {};  // ends what they wait for
  for (std::thread& thread : threads_) thread.join();
}

void refuse_trials_of_ranks(const Spec& spec) {
  if (spec.studies.empty()) return;
  const auto refuse = [](const std::string& path, const std::string& what) {
    fail(ErrorKind::usage,
         "\"tune\": {} {}, and trials are run by one rank; tune with one in a separate spec, "
         "and write its choice into this one",
         path, what);
  };
  for (const Case& item : spec.cases) {
    if (ranks_of(item) > 1) refuse(item.path, "asks for " + wish_of(item));
  }
  for (const Study& study : spec.studies) {
    if (ranks_of(study.base) > 1) refuse(study.path, "asks for " + wish_of(study.base));
    for (const Json& point : study.points) {
      for (const auto& param : {ranks_param(), devices_param()}) {
        if (point.contains(param.name))
          refuse(study.path, fmt::format("searches over `{}`", param.name));
      }
    }
  }
}

Spec RankWorld::read(const std::string& path) {
  Spec spec;
  all_.agree([&] { spec = read_spec(path); });
  return spec;
}

void RankWorld::provide(const Spec& spec, const Follow& follow) {
  const int most = spec.cases.empty() ? 1 : ranks_of(largest_case(spec));
  refuse_trials_of_ranks(spec);
  refuse_count(spec, most);
  if (!launched_ && most > all_.size()) start_threads(most, follow);
  if (launched_) {
    compare(spec);
  } else if (size() > 1) {
    places_.resize(size());
  }
  give_devices(spec);
  provided_ = true;
}

void RankWorld::start_threads(int count, const Follow& follow) {
  auto links = make_thread_links(count);
  all_ = Communicator(links[0]);
  try {
    for (int rank = 1; rank < count; ++rank) {
      threads_.emplace_back([follow, own = std::move(links[rank])]() mutable {
        is_silent = true;
        RankWorld world(std::move(own));
        follow(world);
      });
    }
  } catch (const std::system_error& error) {
    fail(ErrorKind::memory, "cannot start {} threads for ranks: {}", count - 1,
         error.code().message());
  }
}

void RankWorld::refuse_count(const Spec& spec, int most) const {
  if (!launched_ || most == all_.size()) return;
  const Case& largest = largest_case(spec);
  if (most > all_.size()) {
    fail(ErrorKind::usage,
         "{}: {} asks for {}, and {} processes were started: start {} (mpirun -n {})", largest.path,
         largest.algorithm, wish_of(largest), all_.size(), most, most);
  }
  const bool can = std::any_of(spec.cases.begin(), spec.cases.end(), [](const Case& item) {
    const auto& params = find_algorithm(item.algorithm).params;
    return std::any_of(params.begin(), params.end(), [](const ParamSpec& one) {
      return one.name == ranks_param().name || one.name == devices_param().name;
    });
  });
  fail(ErrorKind::usage, "{} processes were started, and no case of {} asks for more than {}{}: {}",
       all_.size(), spec.name, most, most == 1 ? " rank" : " ranks",
       can ? fmt::format("\"ranks\": {} in its algorithm does, or \"devices\"", all_.size())
           : "its algorithms have no parameter `ranks` or `devices`; start mfbench without mpirun");
}

// All have all texts, so that all come to the same end.
void RankWorld::compare(const Spec& spec) {
  const std::vector<std::string> specs = all_.all_texts(spec.hash);
  const std::string version = fmt::format("{} {}{}", build_info::version, build_info::git_sha,
                                          build_info::git_dirty ? " with changes" : "");
  const std::vector<std::string> versions = all_.all_texts(version);
  const std::vector<std::string> lists = all_.all_texts(algorithm_list_hash());
  const std::vector<std::string> machines = all_.all_texts(machine_key());
  const std::vector<std::string> cpus = all_.all_texts(cpu_list_text(usable_cpus()));
  std::vector<std::string> known;
  for (int rank = 0; rank < size(); ++rank) {
    if (specs[rank] != specs[0]) {
      fail(ErrorKind::usage,
           "rank {} has another spec (hash {}) than rank 0 ({}): all must read the same file", rank,
           specs[rank].substr(0, 10), specs[0].substr(0, 10));
    }
    if (versions[rank] != versions[0] || lists[rank] != lists[0]) {
      fail(ErrorKind::usage,
           "rank {} is mfbench {}, rank 0 is {}{}: all must be of the same commit and build", rank,
           versions[rank], versions[0],
           lists[rank] != lists[0] ? ", and their algorithms differ" : "");
    }
    const auto at = std::find(known.begin(), known.end(), machines[rank]);
    places_.push_back({static_cast<int>(at - known.begin()), cpus[rank]});
    if (at == known.end()) known.push_back(machines[rank]);
  }
  all_.agree([&] {
    if (const std::string missing = missing_data(spec); !missing.empty()) {
      throw Error(ErrorKind::data, missing);
    }
  });
}

// All see the findings of all, and so decide alike.
void RankWorld::give_devices(const Spec& spec) {
  const auto fewer = [](const Case& a, const Case& b) {
    return devices_of(a.params) < devices_of(b.params);
  };
  const auto most = std::max_element(spec.cases.begin(), spec.cases.end(), fewer);
  if (most == spec.cases.end() || devices_of(most->params) == 1) return;
  const int wanted = devices_of(most->params);
  std::string why;
  const std::vector<std::string> own = device_ids(&why);
  const std::vector<std::string> of_ranks = all_.all_texts(join(own, " "));
  const std::vector<std::string> whys = all_.all_texts(why);
  std::vector<SeenDevices> seen(wanted);
  for (int rank = 0; rank < wanted; ++rank) {
    std::istringstream ids(of_ranks[rank]);
    for (std::string id; ids >> id;) seen[rank].ids.push_back(id);
    seen[rank].machine = machine_of(rank);
  }
  const auto given = assign_devices(seen);
  const auto none = std::find(given.begin(), given.end(), std::nullopt);
  if (none != given.end()) {
    const auto rank = none - given.begin();
    fail(ErrorKind::unsupported,
         "{}: {} asks for {} devices, a rank each, and rank {} has no device: {}; expected "
         "a device for each rank of a machine; ask for fewer, look at CUDA_VISIBLE_DEVICES, or "
         "start processes on more machines",
         most->path, most->algorithm, wanted, rank,
         whys[rank].empty() ? fmt::format("{} in sight of it, all taken", seen[rank].ids.size())
                            : whys[rank]);
  }
  all_.agree([&] {
    std::string reason;
    if (nccl_version_text(&reason).empty()) {
      fail(ErrorKind::unsupported, "{}: {} asks for {} devices: {}", most->path, most->algorithm,
           wanted, reason);
    }
  });
  all_.agree([&] {
    if (rank() < wanted) use_device(*given[rank()]);
  });
}

int RankWorld::ranks_on_these_cpus(int count) const {
  if (places_.empty()) return 1;
  const Place& own = places_[rank()];
  return static_cast<int>(std::count_if(
      places_.begin(), places_.begin() + count,
      [&](const Place& place) { return place.machine == own.machine && place.cpus == own.cpus; }));
}

void RankWorld::order(int to, const Order& order) {
  all_.send(to, std::as_bytes(std::span(&order, 1)));
}

Order RankWorld::await_order() {
  Order order;
  all_.await(0, std::as_writable_bytes(std::span(&order, 1)));
  return order;
}

void RankWorld::dismiss() {
  if (!provided_ || broken_) return;
  for (int other = 1; other < size(); ++other) order(other, {});
}

}  // namespace mf
