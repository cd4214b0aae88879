#include "harness/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/peer/channel.hpp"
#include "algorithms/peer/libraries.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json.hpp"
#include "base/nvtx.hpp"
#include "base/ranks/mpi_ranks.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/load.hpp"
#include "harness/device/device.hpp"
#include "harness/device/environment.hpp"
#include "harness/device/host_speed.hpp"
#include "harness/device/nvml.hpp"
#include "harness/run/plan/preflight.hpp"
#include "mf_generated/build_info.hpp"

namespace mf {
namespace {

constexpr const char* kRunsHere = "runs here";

Json build_features() {
  Json features;
#ifdef MF_HAVE_LIBARCHIVE
  features["libarchive"] = "yes: reads gz, xz, zst, bz2, zip, npz and packed results";
#else
  features["libarchive"] =
      "no: no compressed files, npz or packed results (install libarchive-dev, rebuild)";
#endif
  const std::string mpi = mpi_version();
  features["mpi"] = !mpi.empty() ? "yes: " + mpi + " for ranks on several machines"
                                 : "no: ranks only on this machine (./dev deps mpi, rebuild)";
  features["nvtx"] = built_with_nvtx()
                         ? "yes: profilers see phases and threads (docs/profiling.md)"
                         : "no: only run --trace shows phases (install CUDA's toolkit, rebuild)";
#ifdef MF_HAVE_BENCHMARK
  features["google_benchmark"] = "yes: ./dev bench";
#else
  features["google_benchmark"] = "no: ./dev bench cannot run (install libbenchmark-dev, rebuild)";
#endif
  features["cuda"] =
      built_with_cuda() ? "yes" : "no: CPU algorithms only (put nvcc on PATH, rebuild)";
  std::string why;
  const std::string nccl = nccl_version_text(&why);
  features["nccl"] = !nccl.empty() ? "yes: " + nccl + " for several devices" : "no: " + why;
  return features;
}

Json algorithms_json() {
  Json list = Json::array();
  std::string why;
  const auto device = find_device(&why);
  for (const auto* info : all_algorithms()) {
    std::string state = kRunsHere;
    if (info->family == "peer") continue;  // they have lines of their own
    if (!is_built(info->name)) {
      state = "not in this build";
    } else if (info->hardware == Hardware::cuda && !device) {
      state = "needs a CUDA device: " + why;
    } else if (info->hardware == Hardware::cuda) {
      state = why_too_old(*info, device->compute()).value_or(state);
    }
    list.push_back({{"name", info->name}, {"state", state}});
  }
  return list;
}

Json data_json() {
  Json list = Json::array();
  for (const auto& entry : catalog()) {
    DatasetRequest request;
    request.name = entry.name;
    list.push_back({{"name", entry.name}, {"at_hand", why_unavailable(request).empty()}});
  }
  return list;
}

// Other people's libraries: each with its installed version, or how to install it.
Json peers_json() {
  Json list = Json::array();
  for (const auto& library : peer_libraries()) {
    const auto why = peer::why_no_adapter(library);
    const auto packages = peer::installed_packages(library.environment);
    list.push_back({{"name", library.name},
                    {"installed", !why.has_value()},
                    {"state", why.value_or(packages.empty() ? "installed" : join(packages))},
                    {"packages", packages}});
  }
  return list;
}

// "NVIDIA H200, 139.8 GiB (139.1 GiB free), driver 580.95.05 (CUDA 13.0), 700 W"
std::string device_text(const DeviceInfo& device) {
  std::string driver = "unknown (no NVML)";
  std::string power;
  if (const auto nvml = open_nvml(device.pci_bus_id)) {
    driver = nvml->driver_version().value_or(driver);
    if (const auto watts = nvml->power_limit_w()) power = fmt::format(", {:.0f} W", *watts);
  }
  return fmt::format("{}, {} ({} free), driver {} (CUDA {}){}", device.name,
                     format_bytes(static_cast<double>(device.memory_bytes)),
                     format_bytes(static_cast<double>(device.free_bytes)), driver,
                     device.cuda_driver, power);
}

// "4.20 GHz; loads wait 1.2, 8.0, 95 ns in 1, 16, 256 MiB; copies 22 GB/s"
std::string host_speed_text(const Json& speed) {
  std::vector<std::string> waits, sizes;
  for (const Json& one : speed["load_latency"]) {
    const double wait_ns = 1e9 * one["seconds"].get<double>();
    waits.push_back(fmt::format("{:.{}f}", wait_ns, wait_ns < 10 ? 1 : 0));
    sizes.push_back(std::to_string(one["bytes"].get<std::int64_t>() >> 20));
  }
  const double copied = speed["copy_bytes_s"].get<double>();
  return fmt::format("{:.2f} GHz; {}{}", 1e-9 * speed["clock_hz"].get<double>(),
                     waits.empty() ? "no memory to measure"
                                   : "loads wait " + join(waits) + " ns in " + join(sizes) + " MiB",
                     copied > 0 ? fmt::format("; copies {:.3g} GB/s", 1e-9 * copied) : "");
}

// "available: 9.8 GiB (MemAvailable); at most: 16.0 GiB (/sys/fs/cgroup/box/memory.max)"
std::string memory_text(const Json& report) {
  const auto text = [&](const char* bytes, const char* by) {
    const auto name = report[by].get<std::string>();
    return name.empty() ? std::string("unknown")
                        : fmt::format("{} ({})", format_bytes(report[bytes].get<double>()), name);
  };
  return fmt::format("available: {}; at most: {}",
                     text("available_memory_bytes", "available_memory_by"),
                     text("memory_limit_bytes", "memory_limit_by"));
}

// "with libarchive, mpi; without cuda, nccl"
std::string features_text(const Json& features) {
  std::vector<std::string> with, without;
  for (const auto& [name, state] : features.items()) {
    (state.get<std::string>().starts_with("yes") ? with : without).push_back(name);
  }
  const std::string lacks = without.empty() ? "" : "; without " + join(without);
  return "with " + (with.empty() ? "nothing optional" : join(with)) + lacks;
}

// "confined: writes, truncation, signals, modes, sockets, processes, calls"
std::string confined_text(const Json& report) {
  const auto what = report["peers_confined"].get<std::vector<std::string>>();
  const bool has_sockets = std::count(what.begin(), what.end(), "sockets") != 0;
  return what.empty()
             ? "not confined: this kernel lacks Landlock's rules for writes"
             : "confined: " + join(what) + (has_sockets ? "" : "; sockets stay open to it");
}

// A name and its text: a line on a terminal, or as many as it takes.
struct Lines {
  bool whole = false;
  std::string text;

  void add(const std::string& name, const std::string& said) {
    const std::string line = fmt::format("{:<{}}  {}", name, width(), said);
    const auto terminal = terminal_columns(stdout);
    if (whole) {
      text += folded(line, shown_columns(stdout), width() + 2) + "\n";
    } else {
      text += (terminal ? cut_to(line, *terminal) : line) + "\n";
    }
  }
  void add(const std::string& kind, const Json& item, const std::string& said) {
    add(kind, fmt::format("{:<20} {}", item["name"].get<std::string>(), said));
  }
  std::size_t width() const { return whole ? 16 : 10; }
};

void add_counts(Lines& lines, const Json& report) {
  const auto count = [&](const char* key, bool (*counts)(const Json&)) {
    const Json& list = report[key];
    return fmt::format("{} of {}", std::count_if(list.begin(), list.end(), counts), list.size());
  };
  const std::size_t devices = 1 + report["more_devices"].size();
  lines.add(devices == 1 ? "device" : fmt::format("{} devices", devices),
            report["device"].get<std::string>());
  lines.add("build", features_text(report["build"]));
  lines.add("algorithms", count("algorithms", [](const Json& one) {
                            return one["state"] == kRunsHere;
                          }) + " run here");
  lines.add("peers", count("peers", [](const Json& one) { return one["installed"].get<bool>(); }) +
                         " libraries are installed; " + confined_text(report));
  lines.add("data sets",
            count("data_sets", [](const Json& one) { return one["at_hand"].get<bool>(); }) +
                " are at hand; cache: " + report["cache_folder"].get<std::string>());
  lines.text += "each of them, and what is missing: doctor --verbose\n";
}

void add_each(Lines& lines, const Json& report) {
  lines.add("device", report["device"].get<std::string>());
  for (const auto& one : report["more_devices"]) lines.add("device", one.get<std::string>());
  for (const auto& [name, value] : report["build"].items()) {
    lines.add(name, value.get<std::string>());
  }
  lines.add("cache", report["cache_folder"].get<std::string>());
  for (const auto& folder : report["data_folders"]) {
    lines.add("data folder", folder.get<std::string>());
  }
  for (const auto& item : report["algorithms"]) lines.add("algorithm", item, item["state"]);
  const auto folder = report["peers_folder"].get<std::string>();
  lines.add("peers", folder.empty() ? "no folder of environments" : folder);
  lines.add("peers", confined_text(report) + " (docs/security.md)");
  for (const auto& item : report["peers"]) lines.add("peer", item, item["state"]);
  for (const auto& item : report["data_sets"]) {
    lines.add("data set", item, item["at_hand"].get<bool>() ? "at hand" : "not at hand");
  }
}

}  // namespace

std::string version_text() {
  return fmt::format("mfbench {}\ncommit: {}{}\nbuild: {}, {}, flags {}\n{}", build_info::version,
                     build_info::git_sha, build_info::git_dirty ? ", with changes" : "",
                     build_info::build_type, build_info::compiler, build_info::flags,
                     features_text(build_features()));
}

Json doctor_json() {
  std::string why;
  const auto device = find_device(&why);
  const MemoryLimit memory = memory_limit();
  const auto all = find_devices();
  Json more = Json::array();
  for (std::size_t number = 1; number < all.size(); ++number) {
    more.push_back(device_text(all[number]));
  }
  return {{"environment", environment_json("")},
          {"device", device ? device_text(*device) : "none: " + why},
          {"more_devices", more},
          {"host_speed", to_json(measure_host_speed())},
          {"available_memory_bytes", memory.available.bytes},
          {"available_memory_by", memory.available.by},
          {"memory_limit_bytes", memory.total.bytes},
          {"memory_limit_by", memory.total.by},
          {"build", build_features()},
          {"cache_folder", cache_folder()},
          {"data_folders", data_folders()},
          {"algorithms", algorithms_json()},
          {"peers_folder", peer::environments_folder()},
          {"peers", peers_json()},
          {"peers_confined", peer::confinements()},
          {"data_sets", data_json()}};
}

std::string format_doctor(const Json& report, bool all) {
  const Json& e = report["environment"];
  Lines lines{all, ""};
  lines.add("mfbench",
            fmt::format("{} ({}{}), {}, {}", e["mfbench"].get<std::string>(),
                        e["git_sha"].get<std::string>().substr(0, 12),
                        e["git_dirty"].get<bool>() ? ", with changes" : "",
                        e["compiler"].get<std::string>(), e["build_type"].get<std::string>()));
  lines.add("machine",
            fmt::format("{}, {} threads, {}, vector units: {}", e["cpu"].get<std::string>(),
                        e["cores"].get<int>(), format_bytes(e["memory_bytes"].get<double>()),
                        e["simd"].get<std::string>()));
  lines.add("memory", memory_text(report));
  lines.add("speed", host_speed_text(report["host_speed"]));
  all ? add_each(lines, report) : add_counts(lines, report);
  return lines.text;
}

}  // namespace mf
