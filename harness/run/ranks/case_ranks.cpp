#include "harness/run/ranks/case_ranks.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "harness/device/device.hpp"

namespace mf {

Json to_json(const OwnUse& use) {
  return {{"cpu_s", use.cpu_s},
          {"voluntary_switches", use.voluntary},
          {"involuntary_switches", use.involuntary}};
}

OwnUse own_use_from(const Json& json) {
  return {json.at("cpu_s").get<double>(), json.at("voluntary_switches").get<std::int64_t>(),
          json.at("involuntary_switches").get<std::int64_t>()};
}

RankJoules joules_of_ranks(std::optional<double> own, Communicator& ranks) {
  std::vector<double> joules(ranks.size());
  joules[ranks.rank()] = own.value_or(std::numeric_limits<double>::quiet_NaN());
  PartOffsets one_each;
  for (int rank = 0; rank <= ranks.size(); ++rank) one_each.push_back(rank);
  ranks.all_gather(std::span(joules), one_each);
  RankJoules all;
  for (const double one : joules) {
    all.push_back(std::isnan(one) ? std::nullopt : std::optional(one));
  }
  return all;
}

std::optional<double> total_joules(const RankJoules& of_ranks) {
  double sum = 0;
  for (const auto& one : of_ranks) {
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

CaseRanks::CaseRanks(RankWorld* world, const Case& item)
    : world_(world), count_(ranks_of(item)), hash_(item.hash) {
  if (count_ == 1) return;
  if (world_ == nullptr || world_->size() < count_) {
    fail(ErrorKind::usage, "{} asks for {} ranks, and there are {}", item.algorithm, count_,
         world_ == nullptr ? 1 : world_->size());
  }
  group_ = world_->all().first(count_);
  on_devices_ = devices_of(item.params) > 1 && is_built(item.algorithm);
}

int CaseRanks::on_these_cpus() const {
  return count_ > 1 ? world_->ranks_on_these_cpus(count_) : 1;
}

void CaseRanks::order(const Order& order) {
  for (int other = 1; other < count_; ++other) world_->order(other, order);
}

// An error within leaves the others in the middle of their work.
void CaseRanks::together(const std::function<void()>& action) {
  try {
    action();
  } catch (const RankFault& fault) {
    world_->set_broken();
    group_.announce(fault.fault());
    throw;
  } catch (...) {
    world_->set_broken();
    group_.announce(current_fault(0));
    throw;
  }
}

void CaseRanks::order_agreed(Order::What what, const std::function<void()>& action, bool slices) {
  std::optional<Fault> agreed;
  together([&] {
    Order of_case = {.what = what, .slices = slices ? 1 : 0};
    hash_.copy(of_case.case_hash.data(), of_case.case_hash.size());
    order(of_case);
    try {
      action();
    } catch (const RankFault&) {
      throw;
    } catch (const Error& error) {  // all ranks have it
      agreed = Fault{0, error.kind(), error.what()};
    }
  });
  if (agreed) throw Error(agreed->kind, agreed->message);
}

void CaseRanks::connect() {
  if (!on_devices_) return;
  order_agreed(Order::What::connect, [&] { connect_devices(group_); });
}

void CaseRanks::load(const std::function<void()>& action, bool is_cached) {
  const bool beside = is_cached && count_ > 1;
  if (!beside) action();
  if (count_ == 1) return;
  order_agreed(Order::What::load, [&] {
    group_.agree([&] {
      if (beside) action();
    });
  });
  begun_ = true;
}

void CaseRanks::load_slices(const std::function<void(Communicator&)>& action) {
  order_agreed(
      Order::What::load, [&] { action(group_); }, true);
  begun_ = true;
}

void CaseRanks::open(const std::function<void()>& action) {
  if (count_ == 1) return action();
  begun_ = false;
  order_agreed(Order::What::open, [&] { group_.agree(action); });
  begun_ = true;
}

void CaseRanks::warm_up(PhaseSink& phases, const std::function<void()>& action) {
  if (count_ == 1) return action();
  together([&] {
    order({.what = Order::What::warm_up});
    {
      const PhaseScope range(&phases, kConnectRange);
      await_devices(group_);
    }
    action();
  });
}

void CaseRanks::evaluate(std::int64_t epoch, const std::function<void()>& action) {
  together([&] {
    order({.what = Order::What::evaluate, .first_epoch = epoch});
    action();
  });
}

void CaseRanks::prepare(const std::function<void()>& action) {
  if (count_ == 1) return action();
  together([&] {
    order({.what = Order::What::prepare});
    action();
    for (int other = 1; other < count_; ++other) {
      add_use(prepare_use_, other, Json::parse(group_.receive_text(other)));
    }
  });
}

void CaseRanks::epochs(const EpochArgs& first, std::int64_t count,
                       const std::function<void()>& action) {
  if (count_ == 1) return action();
  together([&] {
    order({.what = Order::What::epochs,
           .first_epoch = first.epoch,
           .epochs = count,
           .learning_rate = first.learning_rate});
    whole_ = false;
    group_.barrier();  // all begin when the clock does
    action();
  });
}

void CaseRanks::gather(const std::function<void()>& action) {
  if (count_ == 1 || whole_) return;
  together([&] {
    order({.what = Order::What::gather});
    action();
    whole_ = true;
  });
}

std::optional<double> CaseRanks::joules(const CaseDevice& own, PhaseSink& phases) {
  if (count_ == 1 || !own.is_watched()) return own.joules();
  const PhaseScope range(&phases, kWatchRange);
  RankJoules joules;
  together([&] {
    order({.what = Order::What::energy});
    joules = joules_of_ranks(own.joules(), group_);
  });
  return total_joules(joules);
}

void CaseRanks::report(const CaseDevice& own, CaseResult& result, CaseMeasures& measures) const {
  result.ranks_failed = failed();
  measures.ranks = reports_;
  measures.train_energy_j = own.joules();
  if (count_ == 1 || !own.is_watched()) return;
  RankJoules& joules = measures.energy_of_ranks;
  joules = {own.joules()};
  for (const Json& one : reports_) {
    const Json told = value_at(one, {"device", "train_energy_j"});
    joules.push_back(told.is_number() ? std::optional(told.get<double>()) : std::nullopt);
  }
  measures.train_energy_j = std::ssize(joules) == count_ ? total_joules(joules) : std::nullopt;
}

// The use of this process includes its threads.
void CaseRanks::add_use(OwnUse& sum, int other, const Json& use) const {
  if (world_->machine_of(other) == world_->machine_of(0) && !use.is_null())
    sum += own_use_from(use);
}

std::optional<std::string> CaseRanks::end() {
  try {
    end_case();
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

void CaseRanks::end_case() {
  if (!begun_ || failed()) return;
  begun_ = false;
  together([&] {
    order({.what = Order::What::end});
    reports_ = Json::array();
    for (int other = 1; other < count_; ++other) {
      reports_.push_back(Json::parse(group_.receive_text(other)));
      add_use(train_use_, other, reports_.back().at("train_use"));
    }
  });
}

}  // namespace mf
