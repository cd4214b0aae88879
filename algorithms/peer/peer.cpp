// An algorithm that trains in another process, by another's code. Ours are the data, the clocks
// around it and every check of what comes back.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>

#include "algorithms/core/foreign.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/peer/confinement.hpp"
#include "algorithms/peer/libraries.hpp"
#include "algorithms/peer/places.hpp"
#include "algorithms/peer/session.hpp"
#include "algorithms/peer/training_files.hpp"
#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/npy.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"

namespace mf {
namespace {

using peer::Session;

constexpr double kShareOfMemory = 0.9;  // of what is available, where no limit is asked for

class Peer : public Algorithm, public Foreign {
 public:
  Peer(const PeerLibrary& library, const PeerAlgorithm& algorithm, Params params)
      : library_(library), algorithm_(algorithm), params_(std::move(params)) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    try {
      start(train, initial, context);
    } catch (...) {
      if (context.foreign->account && session_) context.foreign->account(finish());
      throw;
    }
  }

  std::int64_t run_epoch(const EpochArgs& args, Context& context) override {
    return run_epochs(args, 1, context);
  }

  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context&) override {
    check_rate(first.learning_rate);
    const auto start = Clock::now();
    const auto trained = session_->train(first.epoch + count - 1, first.learning_rate);
    wall_s_ += seconds_since(start);
    ++calls_;
    if (!trained) return 0;  // given up: the harness asks the same question
    take_reported(*trained);
    const double total = trained->seconds;
    worked_s_ += hello_.each_epoch ? total - train_s_ : total;
    train_s_ = total;
    fetched_ = false;
    return count * updates();
  }

  FactorView factors() override {
    if (reported_) {
      fail(ErrorKind::usage,
           "{} leaves no factors, so there are no groups of users, no ranking and no model to save",
           library_.name);
    }
    if (!fetched_) {
      model_ = session_->model(model_);
      fetched_ = true;
    }
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
            {"version", hello_.version},
            {"build", hello_.build},
            {"packages", peer::installed_packages(library_.environment)},
            {"starts_from", hello_.starts_from},
            {"restarts", !hello_.each_epoch},
            {"evaluated_by", algorithm_.foreign.takes_test ? "program" : "mfbench"},
            {"network", session_->process().network()},
            {"network_why", session_->process().network_why()},
            {"confined", confined()},
            {"data_in_memory", files_->in_memory()},
            {"data_bytes", files_->bytes()},
            {"warm_up_s", or_null(hello_.warm_up_s)},
            {"convert_s", converted_s_},
            {"memory_limit_bytes", memory_limit_bytes_}};
  }

  std::optional<double> reported_rmse() const override { return reported_; }

  double own_train_s() const override { return train_s_; }

  double cpu_s() const override { return session_ ? session_->process().cpu_s() : 0; }

  Json finish() override {
    if (!session_) return nullptr;
    Json account = Json::object();
    try {
      account = session_->end();
    } catch (const Error& error) {  // what it has trained stands
      account["ended"] = error.what();
    }
    account["calls"] = calls_;
    account["worked_s"] = worked_s_;
    account["exchange_s"] = std::max(0.0, wall_s_ - worked_s_);
    account["cpu_s"] = session_->process().cpu_s();
    account["peak_bytes"] = session_->process().peak_bytes();
    account["planned_bytes"] = or_null(
        find_algorithm(algorithm_.info.name).foreign->process(params_, shape_).bytes_of(calls_));
    return account;
  }

 private:
  void start(const Ratings& given, const Model& initial, Context& context) {
    const auto observed = only_observed(given, *context.team);
    const Ratings& train = observed ? *observed : given;
    nnz_ = train.nnz();
    model_ = initial;
    memory_limit_bytes_ = memory_for_it();
    shape_ = {train.n_users(), train.n_items(), nnz_};
    hand_over(train, context, !observed);
    {
      const PhaseScope phase(context.phases, "start");
      session_ = std::make_unique<Session>(library_.name, order(context), context.stop_requested);
      hello_ = session_->hello();
      if (hello_.each_epoch != algorithm_.each_epoch()) {
        fail(ErrorKind::io, "the adapter of {} and the table of its algorithms do not agree: {}",
             library_.name, "each_epoch");
      }
    }
    const PhaseScope phase(context.phases, "convert");
    converted_s_ = session_->converted();
  }

  // For implicit feedback, a pair of 0 was not observed (docs/spec.md), but a library would take it
  // for an observed one. Nothing if no pair is left out.
  std::optional<Ratings> only_observed(const Ratings& train, const ThreadTeam& team) const {
    std::vector<std::uint8_t> keep(train.nnz());
    const auto values = train.values();
    std::transform(values.begin(), values.end(), keep.begin(), [](float r) { return r > 0; });
    if (!algorithm_.info.implicit || std::count(keep.begin(), keep.end(), 0) == 0) return {};
    return select(train, keep, 1, team.size());
  }

  void take_reported(const peer::Trained& trained) {
    if (trained.rmse.has_value() != algorithm_.foreign.takes_test) {
      fail(ErrorKind::io, "the adapter of {} {} an RMSE of its own", library_.name,
           algorithm_.foreign.takes_test ? "gave no" : "gave");
    }
    reported_ = trained.rmse;
  }

  std::int64_t updates() const { return visits_of_rating(algorithm_.info.method) * nnz_; }

  // Once for all epochs, and the training part once for all peers that are lent it.
  void hand_over(const Ratings& train, Context& context, bool as_others) {
    const PhaseScope phase(context.phases, "hand_over");
    files_ = as_others && context.foreign->training_files
                 ? context.foreign->training_files()
                 : std::make_shared<const peer::TrainingFiles>(train);
    const auto rows = static_cast<double>(train.n_users() + train.n_items());
    const std::int64_t test_bytes =
        algorithm_.foreign.takes_test ? context.foreign->test->bytes() : 0;
    scratch_.emplace(static_cast<double>(test_bytes) +
                     2 * rows * (model_.factors + 1) * sizeof(float));
    files_->link_into(scratch_->path());
    const std::string folder = scratch_->path() + "/";
    write_npy(folder + "initial_p.npy", model_.p.data(), model_.n_users, model_.factors,
              model_.factors);
    write_npy(folder + "initial_q.npy", model_.q.data(), model_.n_items, model_.factors,
              model_.factors);
    if (algorithm_.foreign.takes_test) write_test(folder, *context.foreign->test);
    write_atomically(folder + "request.json", request(train, context).dump(1) + "\n");
  }

  // For a program that evaluates itself.
  static void write_test(const std::string& folder, const Ratings& test) {
    write_npy(folder + "test_user.npy", test.users());
    write_npy(folder + "test_item.npy", test.items());
    write_npy(folder + "test_value.npy", test.values());
  }

  Json request(const Ratings& train, const Context& context) const {
    Json request = {{"protocol", peer::kProtocol},
                    {"library", library_.name},
                    {"algorithm", algorithm_.name},
                    {"params", params_.to_json()},
                    {"seed", context.seed},
                    {"threads", context.team->size()},
                    {"memory_bytes", memory_limit_bytes_},
                    {"n_users", train.n_users()},
                    {"n_items", train.n_items()},
                    {"nnz", train.nnz()},
                    {"factors", model_.factors},
                    {"model", kModelKinds.of(model_.kind)},
                    {"mean", model_.mean},
                    {"evaluated_by", algorithm_.foreign.takes_test ? "program" : "mfbench"}};
    if (library_.is_program) request["program"] = peer::find_program(params_.text("program"));
    return request;
  }

  // Never more than there is, whatever is asked for.
  std::int64_t memory_for_it() const {
    constexpr double kGiB = 1 << 30;
    const auto available = static_cast<double>(memory_limit().available.bytes);
    const double asked = params_.number("memory_gb") * kGiB;
    if (asked <= 0) return static_cast<std::int64_t>(kShareOfMemory * available);
    return static_cast<std::int64_t>(available > 0 ? std::min(asked, available) : asked);
  }

  // The limit of its address space, 0: no limit. Beyond the memory, what an interpreter,
  // its libraries and the stacks and heaps of threads reserve and do not use.
  std::int64_t addresses_for_it(const Context& context) const {
    constexpr std::int64_t kReserved = std::int64_t{2} << 30;
    constexpr std::int64_t kReservedByThread = std::int64_t{160} << 20;
    const bool on_device = params_.has("device") && params_.text("device") == "cuda";
    const bool plain = algorithm_.memory && algorithm_.memory->limits_addresses && !on_device;
    if (memory_limit_bytes_ == 0 || !plain) return 0;
    return memory_limit_bytes_ + kReserved + kReservedByThread * context.team->size();
  }

  // What libraries need of ours; proxies and credentials are not among it.
  static std::vector<std::string> variables(const Context& context) {
    std::vector<std::string> all = {fmt::format("OMP_NUM_THREADS={}", context.team->size()),
                                    // Threads of BLAS within threads of a library slow both.
                                    "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "JAVA_HOME", "CUDA_VISIBLE_DEVICES",
                             "CUDA_HOME", "CUDA_PATH", "MFBENCH_SPARK_MASTER"}) {
      if (const char* value = std::getenv(name)) all.push_back(fmt::format("{}={}", name, value));
    }
    return all;
  }

  // A program that the user has named may write wherever the user can.
  std::vector<std::string> confined() const {
    return library_.is_program ? std::vector<std::string>{} : peer::confinements();
  }

  peer::Order order(const Context& context) const {
    peer::Order order;
    order.python = peer::python_of(library_.environment);
    order.adapter = library_.folder + "/adapter.py";
    order.folder = scratch_->path();
    order.variables = variables(context);
    order.log = context.foreign->log_file;
    order.answers = 2;  // "hello" and "converted"
    order.timeout_s = params_.number("timeout_s");
    order.memory_bytes = memory_limit_bytes_;
    order.address_bytes = addresses_for_it(context);
    order.scratch_gb = params_.number("scratch_gb");
    order.keeps_network = params_.has("cluster") && params_.boolean("cluster");
    order.confined = confined();
    return order;
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
  std::int64_t nnz_ = 0;
  ProblemShape shape_;
  Model model_;
  std::optional<double> reported_;  // of a program without a model
  bool fetched_ = true;             // the initial one is ours
  std::shared_ptr<const peer::TrainingFiles> files_;
  std::optional<peer::Scratch> scratch_;
  std::unique_ptr<Session> session_;  // ends before its folder goes
  peer::Hello hello_;
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
