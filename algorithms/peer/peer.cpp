// An algorithm that trains in another process, by another's code. Ours are the data, the clocks
// around it and every check of what comes back.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/peer/channel.hpp"
#include "algorithms/peer/files.hpp"
#include "algorithms/peer/libraries.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/npy.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"

namespace mf {
namespace {

constexpr int kProtocol = 1;
constexpr double kShareOfMemory = 0.9;  // of the available memory, if no limit is set

class Peer : public Algorithm, public Foreign {
 public:
  Peer(const PeerLibrary& library, const PeerAlgorithm& algorithm, Params params)
      : library_(library), algorithm_(algorithm), params_(std::move(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    try {
      start(train, initial, context);
    } catch (...) {
      if (context.foreign->account) context.foreign->account(finish());
      throw;
    }
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    return run_epochs(args, 1, context);
  }

  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context&) override {
    check_rate(first.learning_rate);
    const std::int64_t until = first.epoch + count - 1;
    const auto asked = Clock::now();
    channel_->ask({{"type", "train"}, {"until", until}, {"learning_rate", first.learning_rate}});
    const Json answer = channel_->answer();
    wall_s_ += seconds_since(asked);
    ++calls_;
    if (answer.is_null()) return 0;  // given up: the harness also asks `stop`
    // A library that begins again reports the time of the whole new run.
    const double trained_s = answer.at("train_s").get<double>();
    worked_s_ += trained_s - (repeats() ? 0 : train_s_);
    train_s_ = trained_s;
    if (const auto rmse = answer.find("rmse"); rmse != answer.end())
      reported_ = rmse->is_null() ? std::nan("") : rmse->get<double>();
    fetched_ = false;
    return count * updates();
  }

  FactorView factors() override {
    if (reported_) {
      fail(ErrorKind::usage,
           "{} leaves no factors, so there are no groups of users, no ranking and no model to save",
           library_.name);
    }
    if (!fetched_) fetch_model();
    return model_.view();
  }

  // Bytes and operations are not claimed (null in the result): what they would be compared with is
  // another's code.
  Work work_per_epoch() const override {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {static_cast<double>(updates()), kUnknown, kUnknown};
  }

  Json facts() const override {
    return {{"library", library_.name},
            {"version", hello_.at("version").get<std::string>().substr(0, 100)},
            {"build", hello_.value("build", Json::object())},
            {"packages", peer::installed_packages(library_.environment)},
            {"starts_from", hello_.value("starts_from", "library")},
            {"restarts", repeats()},
            {"evaluated_by", evaluated_by()},
            {"network", channel_->said().at("network")},
            {"network_why", channel_->said().at("why")},
            {"confined", channel_->said().at("confined")},
            {"data_in_memory", files_->in_memory()},
            {"data_bytes", files_->bytes()},
            {"warm_up_s", hello_.value("warm_up_s", Json())},
            {"convert_s", converted_s_},
            {"memory_limit_bytes", memory_limit_bytes_}};
  }

  std::optional<double> reported_rmse() const override { return reported_; }

  double own_train_s() const override { return train_s_; }

  double cpu_s() const override {
    return channel_ ? number_at(channel_->said(), {"cpu_s"}).value_or(0) : 0;
  }

  Json finish() override {
    if (!started_) return nullptr;
    if (converted_s_ > std::max(1.0, 10 * train_s_)) {
      warn(
          "{}: convert() took {:.3g} s and training {:.3g} s; convert() counts in the answer time, "
          "so "
          "import libraries at the top of the file",
          library_.name, converted_s_, train_s_);
    }
    Json account;
    try {
      account = channel_->finish();
    } catch (const Error& error) {  // what it has trained stands
      account["ended"] = error.what();
    }
    account["set_back"] = channel_->said().value("set_back", Json::array());
    if (!account["set_back"].empty()) {
      warn("{}: changed settings of mfbench, which may have affected the times of this case: {}",
           library_.name, json_text(account["set_back"]));
    }
    account["calls"] = calls_;
    account["worked_s"] = worked_s_;
    account["exchange_s"] = std::max(0.0, wall_s_ - worked_s_);
    account["cpu_s"] = cpu_s();
    account["peak_bytes"] = integer_at(channel_->said(), {"peak_bytes"}).value_or(0);
    account["planned_bytes"] =
        or_null(algorithm_.info.foreign->process(params_, shape_).bytes_of(calls_));
    return account;
  }

 private:
  void start(const Ratings& given, const Model& initial, Context& context) {
    const auto observed = only_observed(given, *context.team);
    const Ratings& train = observed ? *observed : given;
    model_ = initial;
    memory_limit_bytes_ = memory_for_it();
    shape_ = {train.n_users(), train.n_items(), train.nnz()};
    const std::string python = peer::python_of(library_.environment);
    {
      const PhaseScope phase(context.phases, "start");
      channel_.emplace(python, library_.name, bytes_in_folder(context), context.foreign->log_file);
    }
    hand_over(python, train, context, !observed);
    {
      const PhaseScope phase(context.phases, "start");
      started_ = true;
      channel_->start(order(context), context.stop_requested);
      hello_ = channel_->needed_answer();
    }
    const PhaseScope phase(context.phases, "convert");
    converted_s_ = channel_->needed_answer().at("seconds").get<double>();
  }

  void fetch_model() {
    channel_->ask({{"type", "model"}});
    const Json files = channel_->needed_answer();
    try {
      model_ = peer::read_model(channel_->folder(), files, model_);
    } catch (const CaseOver&) {
      channel_->end();
      throw;
    } catch (const Error& error) {
      channel_->broken(error.what());
    }
    fetched_ = true;
  }

  // For implicit feedback, a pair of 0 was not observed (docs/spec.md), but a library would take it
  // for an observed one. Nothing if no pair is left out.
  std::optional<Ratings> only_observed(const Ratings& train, const ThreadTeam& team) const {
    if (!algorithm_.info.implicit) return {};
    std::vector<std::uint8_t> keep(train.nnz());
    const auto values = train.values();
    std::transform(values.begin(), values.end(), keep.begin(), [](float r) { return r > 0; });
    if (std::count(keep.begin(), keep.end(), 0) == 0) return {};
    return select(train, keep, 1, team.size());
  }

  bool repeats() const { return algorithm_.info.foreign->repeats_epochs; }
  bool takes_test() const { return algorithm_.info.foreign->takes_test; }
  const char* evaluated_by() const { return takes_test() ? "program" : "mfbench"; }
  std::int64_t updates() const { return visits_of_rating(algorithm_.info.method) * shape_.nnz; }

  double bytes_in_folder(const Context& context) const {
    const std::int64_t test = takes_test() ? context.foreign->test->bytes() : 0;
    return static_cast<double>(test) + 2 * sizeof(float) * shape_.rows() * (model_.factors + 1);
  }

  // Runs once for all epochs. The training part is written once for all peers that borrow it. This
  // is work of mfbench, so the library is not charged for it.
  void hand_over(const std::string& python, const Ratings& train, Context& context,
                 bool as_others) {
    const PhaseScope phase(context.phases, "files_for_peer");
    files_ = as_others && context.foreign->training_files
                 ? context.foreign->training_files(python, context.phases)
                 : std::make_shared<const peer::TrainingFiles>(python, train, context.phases);
    const std::string folder = channel_->folder() + "/";
    const std::int64_t f = model_.factors;
    write_npy(folder + "initial_p.npy", model_.p.data(), model_.n_users, f, f);
    write_npy(folder + "initial_q.npy", model_.q.data(), model_.n_items, f, f);
    if (!takes_test()) return;
    const Ratings& test = *context.foreign->test;
    write_npy(folder + "test_user.npy", test.users());
    write_npy(folder + "test_item.npy", test.items());
    write_npy(folder + "test_value.npy", test.values());
  }

  Json request(const Context& context) const {
    Json request = {{"protocol", kProtocol},
                    {"library", library_.name},
                    {"algorithm", algorithm_.name},
                    {"params", params_.to_json()},
                    {"seed", context.seed},
                    {"threads", context.team->size()},
                    {"memory_bytes", memory_limit_bytes_},
                    {"n_users", shape_.n_users},
                    {"n_items", shape_.n_items},
                    {"nnz", shape_.nnz},
                    {"factors", model_.factors},
                    {"model", kModelKinds.of(model_.kind)},
                    {"mean", model_.mean},
                    {"evaluated_by", evaluated_by()}};
    if (library_.is_program) request["program"] = peer::find_program(params_.text("program"));
    return request;
  }

  // Never more than there is, whatever is asked for.
  std::int64_t memory_for_it() const {
    const auto available = static_cast<double>(memory_limit().available.bytes);
    const double asked = params_.number("memory_gb") * (1 << 30);
    if (asked <= 0) return static_cast<std::int64_t>(kShareOfMemory * available);
    return static_cast<std::int64_t>(available > 0 ? std::min(asked, available) : asked);
  }

  Json order(const Context& context) const {
    return {{"request", request(context)},
            {"adapter", library_.folder + "/adapter.py"},
            {"data", files_->folder()},
            {"each_epoch", !repeats()},
            {"limits_addresses", algorithm_.limits_addresses && !on_device(params_)}};
  }

  void check_rate(double rate) {
    if (!algorithm_.info.uses_learning_rate || algorithm_.changes_rate) return;
    if (!rate_) rate_ = rate;
    if (*rate_ == rate) return;
    fail(ErrorKind::usage,
         "{} takes one learning rate for all epochs, and the schedule changes it; use \"constant\"",
         library_.name);
  }

  const PeerLibrary& library_;
  const PeerAlgorithm& algorithm_;
  const Params params_;
  ProblemShape shape_;
  Model model_;
  std::optional<double> reported_;  // of a program without a model
  bool fetched_ = true;             // the initial one is ours
  std::shared_ptr<const peer::TrainingFiles> files_;
  std::optional<peer::Channel> channel_;
  bool started_ = false;
  Json hello_;
  std::optional<double> rate_;
  double converted_s_ = 0;
  double train_s_ = 0;   // from the initial model to this one
  double worked_s_ = 0;  // the same with all that was done again
  double wall_s_ = 0;    // of all calls, by our clock
  std::int64_t calls_ = 0;
  std::int64_t memory_limit_bytes_ = 0;
};

const RegisterSource registered([] {
  for (const auto& library : peer_libraries()) {
    for (const auto& algorithm : library.algorithms) {
      register_factory(algorithm.info.name, [&](const Params& params) {
        return std::make_unique<Peer>(library, algorithm, params);
      });
    }
  }
});

}  // namespace
}  // namespace mf
