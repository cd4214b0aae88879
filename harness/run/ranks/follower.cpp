#include <functional>

#include "algorithms/core/registry.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "harness/device/device.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/files/case_json.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/case/case_device.hpp"
#include "harness/run/case/case_evaluation.hpp"
#include "harness/run/case/warm_up.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/data/shared_cases.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/run/prepared.hpp"
#include "harness/run/ranks/case_ranks.hpp"
#include "harness/run/ranks/rank_load.hpp"
#include "harness/run/ranks/rank_world.hpp"
#include "harness/run/training_clock.hpp"

namespace mf {
namespace {

class FollowedCase {
 public:
  FollowedCase(const Case& item, const RunOptions& options, RankWorld& world)
      : item_(item), options_(options), world_(world), group_(world.all().first(ranks_of(item))) {}

  // `slices`: this rank loads only its share of the ratings.
  void run(bool slices) {
    if (!load(slices)) return;
    while (true) {
      const Order order = world_.await_order();
      switch (order.what) {
        case Order::What::open:
          if (!open()) return;
          break;
        case Order::What::warm_up:
          start([&] {
            {
              const PhaseScope range(&ranges_, kConnectRange);
              await_devices(group_);
            }
            warm_up(item_, *device_.get(), &group_);
          });
          break;
        case Order::What::prepare:
          prepare();
          break;
        case Order::What::epochs:
          run_epochs(order);
          break;
        case Order::What::gather:
          device_.pause();
          prepared_->gather_factors();
          break;
        case Order::What::evaluate:
          device_.pause();
          evaluate(order.first_epoch);
          break;
        case Order::What::energy:
          joules_of_ranks(device_.joules(), group_);
          break;
        case Order::What::end:
          device_.end_training();
          return group_.send_text(0, report().dump());
        case Order::What::connect:
        case Order::What::load:
        case Order::What::leave:
          throw std::logic_error("an order that has no place within a case");
      }
    }
  }

 private:
  // False if one of the ranks cannot run it, upon which all have agreed.
  bool load(bool slices) {
    const auto start = Clock::now();
    try {
      if (slices) {
        data_ = store_.get_slice(item_, group_, world_.ranks_on_these_cpus(group_.size()));
      } else {
        group_.agree([&] { data_ = store_.get(item_); });
      }
    } catch (const RankFault&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    load_s_ = seconds_since(start);
    return true;
  }

  bool open() {
    try {
      start([&] {
        group_.agree([&] {
          open_device();
          refuse_here();
        });
      });
    } catch (const RankFault&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  void start(const std::function<void()>& action) {
    const auto start = Clock::now();
    action();
    start_s_ += seconds_since(start);
  }

  // For a case on devices, if the case is built at all: else rank 0 says so.
  void open_device() {
    if (!is_built(item_.algorithm)) return;
    if (const auto why = device_.why_not_opened(item_, data_.sizes.train / group_.size()))
      fail(ErrorKind::unsupported, "{}", *why);
    clock_ = TrainingClock(ranges_, device_.get());
  }

  // For want of memory on this machine or device: rank 0 finds all other reasons.
  void refuse_here() {
    const Ratings& train = data_.split->train;
    const CaseSizes sizes = {{train.n_users(), train.n_items(), data_.sizes.train}};
    DeviceClock* const device = device_.get();
    const auto free = device != nullptr ? static_cast<double>(device->free_bytes()) : 0;
    const auto refusal = refuse(item_, sizes, device, free);
    if (refusal && refusal->status == Status::oom) fail(ErrorKind::memory, "{}", refusal->reason);
    if (device == nullptr) return;
    device->expect_memory(bytes_to_reserve(item_, sizes, free));
  }

  void prepare() {
    const auto start = Clock::now();
    const OwnUse before = own_use();
    PreparedCase::Lent lent{device_.get(), &ranges_, [this] { return group_.heard().has_value(); }};
    lent.ranks = {&group_, data_.slice.get()};
    lent.ranks_on_these_cpus = world_.ranks_on_these_cpus(group_.size());
    if (uploads_ratings(item_))
      store_.pack(data_, hardware_threads() / lent.ranks_on_these_cpus, &ranges_);
    prepared_ =
        std::make_unique<PreparedCase>(item_, data_.split->train, *data_.facts, std::move(lent));
    prepare_s_ = seconds_since(start);
    group_.send_text(0, use_json(own_use() - before).dump());
    store_.clear();  // the algorithm has its share
    drop_training(data_);
    if (data_.ranks.all_evaluate) evaluation_.set_data(data_);
    data_ = {};
  }

  void run_epochs(const Order& order) {
    const OwnUse before = own_use();
    device_.watch_group(clock_, [&] {
      group_.barrier();
      const auto start = Clock::now();
      clock_.time_group(order.epochs, [&] {
        prepared_->run_epochs({order.first_epoch, order.learning_rate}, order.epochs);
      });
      train_s_ += seconds_since(start);
    });
    use_ += own_use() - before;
  }

  // As rank 0 does, in its order.
  void evaluate(std::int64_t epoch) {
    const auto start = Clock::now();
    if (!evaluates_) evaluation_.prepare(prepared_->team(), nullptr);
    evaluates_ = true;
    TracePoint point;
    point.epoch = epoch;
    evaluation_.evaluate_share(prepared_->factors(), group_, point);
    evaluate_s_ += seconds_since(start);
  }

  Json report() const {
    Json report = case_report();
    if (!prepared_) return report;
    if (Json exchanged = prepared_->exchanged(); !exchanged.is_null()) {
      report["exchanged"] = std::move(exchanged);
    }
    if (device_.get() != nullptr) report["device"] = device_report();
    return report;
  }

  Json device_report() const {
    const auto found = find_device();
    const auto readings = device_.readings();
    return {{"name", found ? Json(found->name) : Json()},
            {"pci_bus_id", found ? Json(found->pci_bus_id) : Json()},
            {"peak_device_bytes", device_.get()->peak_bytes()},
            {"train_device_s", or_null(clock_.device_seconds())},
            {"train_energy_j", or_null(device_.joules())},
            {"sm_clock_seen_hz", seen_json(readings, {}, &DeviceReading::sm_clock_hz)},
            {"power_seen_w", seen_json(readings, {}, &DeviceReading::power_w)},
            {"temperature_seen_c", seen_json(readings, {}, &DeviceReading::temperature_c)}};
  }

  Json case_report() const {
    return {{"rank", world_.rank()},
            {"machine", world_.machine_of(world_.rank())},
            {"threads", prepared_ ? Json(prepared_->team().size()) : Json()},
            {"facts", prepared_ ? prepared_->algorithm().facts() : Json::object()},
            {"clocks",
             {{"start_s", start_s_},
              {"load_s", load_s_},
              {"prepare_s", prepare_s_},
              {"train_s", train_s_},
              {"evaluate_s", evaluate_s_}}},
            {"phases", ranges_.to_json()},
            {"train_use", use_json(use_)},
            {"peak_host_bytes", world_.launched() ? Json(peak_memory_bytes()) : Json()}};
  }

  // The use of a process includes its threads.
  Json use_json(const OwnUse& use) const { return world_.launched() ? to_json(use) : Json(); }

  const Case& item_;
  const RunOptions& options_;
  RankWorld& world_;
  Communicator group_;
  DataStore store_;
  CaseData data_;
  Ranges ranges_;
  CaseDevice device_{ranges_, options_};
  TrainingClock clock_{ranges_, nullptr};
  std::unique_ptr<PreparedCase> prepared_;
  CaseEvaluation evaluation_{item_};  // of this rank's blocks
  bool evaluates_ = false;
  double start_s_ = 0, load_s_ = 0, prepare_s_ = 0, train_s_ = 0, evaluate_s_ = 0;
  OwnUse use_;  // within epochs
};

const Case& find_case(const Spec& spec, const Order& order) {
  const std::string hash(order.case_hash.begin(), order.case_hash.end());
  for (const Case& item : spec.cases) {
    if (item.hash == hash) return item;
  }
  throw std::logic_error("rank 0 runs a case that is not in the spec");
}

// Rank 0 reports the error.
void connect(const Case& item, RankWorld& world) {
  Communicator group = world.all().first(ranks_of(item));
  try {
    connect_devices(group);
  } catch (const RankFault&) {
    throw;
  } catch (const Error&) {
  }
}

}  // namespace

void follow_session(const Spec& spec, const RunOptions& options, RankWorld& world) {
  while (true) {
    const Order order = world.await_order();
    if (order.what == Order::What::leave) return;
    if (order.what == Order::What::connect) {
      connect(find_case(spec, order), world);
      continue;
    }
    if (order.what != Order::What::load) {
      throw std::logic_error("an order that has no place between cases");
    }
    if (world.launched()) reset_peak_memory();
    FollowedCase(find_case(spec, order), options, world).run(order.slices != 0);
  }
}

}  // namespace mf
