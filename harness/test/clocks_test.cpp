// Every second of a case is on a named clock, shared work is reported, and ratings are held once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <thread>

#include "algorithms/core/registry.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "harness/device/environment.hpp"
#include "harness/results/compare/answer.hpp"
#include "harness/results/meaning/ranges.hpp"
#include "harness/run/data/data_store.hpp"
#include "harness/run/data/shared_ledger.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::result_of;
using testing::run_in;
using testing::spec_from;
using testing::TempFolder;

constexpr const char* kClocks[] = {"start_s", "load_s",     "prepare_s", "transfer_s",
                                   "train_s", "evaluate_s", "save_s"};
constexpr double kLeastRest = 2e-3;  // seconds that no clock has to have, of however short a case
constexpr double kRestShare = 0.02;  // of the wall time
constexpr int kTries = 5;            // a machine that is busy may take the thread away anywhere

double number(const Json& json, const char* key) { return json.at(key).get<double>(); }

Spec spec_of(const std::string& algorithms, const std::string& rest = "",
             const std::string& data = R"({"like": "ml-100k", "scale": 0.1})") {
  return spec_from(R"({"name": "t", "datasets": [)" + data + "]" + rest + R"(, "algorithms": [)" +
                   algorithms + "]}");
}

std::vector<ResultFile> run(const Spec& spec, const RunOptions& options = {}) {
  const TempFolder folder;
  run_in(folder / "r", spec, options);
  std::vector<ResultFile> files;
  for (const auto& item : spec.cases) {
    files.push_back(result_of(folder / "r", item));
    EXPECT_EQ(files.back().status(), Status::completed) << files.back().footer;
  }
  return files;
}

// The clocks overlap as the footer says and leave `rest_s` of the wall; whether that is little.
bool is_accounted_for(const ResultFile& file) {
  const Json& clocks = file.footer.at("clocks");
  double sum = 0;
  for (const char* key : kClocks) {
    EXPECT_GE(number(clocks, key), 0) << key;
    sum += number(clocks, key);
  }
  const double wall = number(clocks, "wall_s");
  const double rest = number(clocks, "rest_s");
  EXPECT_NEAR(rest, wall - sum + number(file.footer, "overlap_s"), 1e-9);
  EXPECT_GE(rest, -1e-9) << "a second stands on two clocks: " << clocks;
  return rest <= std::max(kRestShare * wall, kLeastRest);
}

// All cases of a spec, at least once in a few runs: time missing by design is missing each time.
void expect_accounted_for(const Spec& spec, const RunOptions& options = {}) {
  std::vector<bool> fine(spec.cases.size());
  Json last;
  for (int i = 0; i < kTries && std::count(fine.begin(), fine.end(), false) > 0; ++i) {
    const auto files = run(spec, options);
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (is_accounted_for(files[k])) fine[k] = true;
      if (!fine[k]) last = files[k].footer.at("clocks");
    }
  }
  for (std::size_t k = 0; k < fine.size(); ++k) EXPECT_TRUE(fine[k]) << spec.cases[k].id << last;
}

TEST(Clocks, HaveEverySecondOfRealCases) {
  expect_accounted_for(spec_of(R"("sgd_serial", {"name": "hogwild", "threads": 2}, "als_cpu",
                                  {"name": "ccd++_cpu", "factors": 8})",
                               R"(, "stop": {"epochs": 4})"));
}

TEST(Clocks, HaveEverySecondWhateverIsEvaluatedAndSaved) {
  expect_accounted_for(spec_of(
      R"("sgd_serial", {"name": "als_cpu", "factors": 8})",
      R"(, "stop": {"epochs": 3}, "save_model": true, "evaluate": {"train": true,
                 "ranking": true, "user_groups": 3})",
      R"({"like": "ml-100k", "scale": 0.1, "split": {"holdout": 0.2, "validation": 0.1}})"));
  expect_accounted_for(
      spec_of(R"({"name": "ials_cpu", "factors": 8}, {"name": "ials_pp_cpu", "factors": 8})",
              R"(, "stop": {"epochs": 2}, "save_model": true)",
              R"({"like": "ml-100k", "scale": 0.2, "implicit": {"min_rating": 4},
                  "split": {"users": 0.1, "fold_in": 0.8}})"));
}

// ---- a case in which everything takes a known time ----------------------------------------------

constexpr std::chrono::milliseconds kNap{25};
constexpr double kNapSeconds = 0.025;
void nap(int naps = 1) { std::this_thread::sleep_for(naps * kNap); }

// Each of its answers takes a nap if `slow`.
class SlowDevice : public DeviceClock {
 public:
  explicit SlowDevice(bool slow) : slow_(slow) { rest(); }
  int compute() override { return 90; }
  DeviceStream stream() override { return reinterpret_cast<DeviceStream>(this); }
  std::int64_t mark() noexcept override { return marks_++; }
  void wait() noexcept override {}
  void synchronize() override {}
  double seconds(std::int64_t, std::int64_t) override { return 1e-3; }
  void clear_marks(std::int64_t) override {
    rest();
    marks_ = 0;
  }
  std::int64_t free_bytes() override { return std::int64_t{1} << 40; }
  std::int64_t peak_bytes() override { return 1; }
  DeviceTells tells() const override { return {true, true}; }
  DeviceReading reading() noexcept override { return {1e9, 400.0, 50.0}; }
  std::optional<double> energy_j() noexcept override {
    rest();
    return 1.0;
  }

 private:
  void rest() const noexcept {
    if (slow_) nap();
  }
  bool slow_;
  std::int64_t marks_ = 0;
};

// Sleeps wherever the harness calls it; on the device.
class Sleeper : public Algorithm {
 public:
  Sleeper() { nap(); }
  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    nap();
    nnz_ = train.nnz();
    model_ = initial;
    const PhaseScope transfer(context.phases, "transfer");
    nap(2);
  }
  std::int64_t run_epoch(const EpochArgs&, Context& context) override {
    // Called as the clocks are: an algorithm's names are its own.
    const PhaseScope load(context.phases, "load");
    const PhaseScope save(context.phases, "save");
    const PhaseScope evaluate(context.phases, "evaluate");
    nap(3);
    return nnz_;
  }
  FactorView factors() override {
    nap();
    return model_.view();
  }
  Work work_per_epoch() const override {
    nap();
    return {};
  }

 private:
  std::int64_t nnz_ = 0;
  Model model_;
};

AlgorithmInfo sleeper_info() {
  AlgorithmInfo info;
  info.name = "sleeper";
  info.family = "test";
  info.hardware = Hardware::cuda;
  info.params = {ParamSpec::integer("factors", 4, 1, 1024, "")};
  return info;
}
const RegisterInfo registered(sleeper_info());
const RegisterFactory registered_factory("sleeper",
                                         [](const Params&) { return std::make_unique<Sleeper>(); });

RunOptions with_device(bool slow) {
  RunOptions options;
  options.open_device = [slow] { return std::make_unique<SlowDevice>(slow); };
  options.watch_pace_s = 0;  // whatever can be read is read every time
  return options;
}

TEST(Clocks, EachHasItsOwnNaps) {
  const Spec spec = spec_of(R"("sleeper")", R"(, "stop": {"epochs": 2})");
  bool apart = false;  // no clock has the naps of another: seen once, whatever else runs here
  for (int i = 0; i < kTries && !apart; ++i) {
    const auto files = run(spec, with_device(true));
    const Json& clocks = files[0].footer.at("clocks");
    const auto naps = [&](const char* key) { return number(clocks, key) / kNapSeconds; };
    EXPECT_GE(naps("start_s"), 1) << "the device is opened";
    EXPECT_GE(naps("prepare_s"), 2) << "with all that comes before the algorithm's prepare";
    EXPECT_GE(naps("transfer_s"), 2);
    EXPECT_GE(naps("train_s"), 6);
    // Three evaluations, marks and the energy before and after each group.
    EXPECT_GE(naps("evaluate_s"), 3 + 2 + 4);
    EXPECT_GE(naps("save_s"), 1) << "the algorithm's account of its work, for the header";
    EXPECT_EQ(files[0].footer.at("phases").at("load").at("count"), 3) << "the clock, two epochs";
    const Json& last = files[0].trace.back();
    EXPECT_GE(number(last, "evaluate_s"), 9 * kNapSeconds);
    EXPECT_LE(number(last, "evaluate_s"), number(clocks, "evaluate_s") + 1e-9);
    apart = is_accounted_for(files[0]) && naps("start_s") < 1.9 && naps("prepare_s") < 2.9 &&
            naps("transfer_s") < 2.9 && naps("train_s") < 6.9 && naps("evaluate_s") < 9.9 &&
            naps("save_s") < 1.9;
    if (i + 1 == kTries) {
      EXPECT_TRUE(apart) << clocks;
    }
  }
}

// The process began two seconds before. The naps of evaluating and saving do not count.
TEST(Clocks, TheFirstCaseOfAProcessSaysHowLongItTookFromFileToModel) {
  RunOptions options = with_device(true);
  const auto before = Clock::now();
  options.process_start = before - std::chrono::seconds(2);
  const auto files = run(
      spec_of(R"({"name": "sleeper", "factors": [4, 8]})", R"(, "stop": {"epochs": 1})"), options);
  const double passed = seconds_since(before);
  const Json& clocks = files[0].footer.at("clocks");
  double clocked = -number(files[0].footer, "overlap_s");
  for (const char* key : {"start_s", "load_s", "prepare_s", "transfer_s", "train_s"})
    clocked += number(clocks, key);
  const double from_file = number(files[0].footer, "file_to_model_s");
  EXPECT_GE(from_file, 2 + clocked);
  EXPECT_LE(from_file, 2 + passed - number(clocks, "evaluate_s") - number(clocks, "save_s") +
                           number(files[0].footer.at("phases").at("factors_to_host"), "seconds_s"));
  EXPECT_TRUE(files[1].footer.at("file_to_model_s").is_null()) << "it is not the first";
  EXPECT_FALSE(files[1].footer.at("phases").contains("factors_to_host"));
  EXPECT_TRUE(run(spec_of(R"("sleeper")", R"(, "stop": {"epochs": 1})"), with_device(false))[0]
                  .footer.at("file_to_model_s")
                  .is_null());
}

TEST(Clocks, AProcessStartsItsDeviceWhileItLoads) {
  RunOptions options = with_device(false);
  std::atomic<bool> loads{false};
  options.on_range = [&](const std::string& name, bool begins) {
    if (name == "load" && begins) loads = true;
  };
  options.open_device = [&] {
    for (const auto from = Clock::now(); !loads && seconds_since(from) < 60;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(loads);
    return std::make_unique<SlowDevice>(false);
  };
  const auto files = run(
      spec_of(R"({"name": "sleeper", "factors": [4, 8]})", R"(, "stop": {"epochs": 1})"), options);
  const Json& first = files[0].footer;
  EXPECT_GT(number(first, "overlap_s"), 0);
  EXPECT_LE(number(first, "overlap_s"), number(first.at("clocks"), "start_s"));
  is_accounted_for(files[0]);
  EXPECT_EQ(files[1].footer.at("overlap_s"), 0) << "the device has started";
}

TEST(Clocks, AProcessBeganBeforeItsTests) {
  EXPECT_LT(process_start(), Clock::now());
  EXPECT_LT(seconds_since(process_start()), 24 * 3600);
}

TEST(Clocks, HaveEverySecondOfADevicesCase) {
  expect_accounted_for(
      spec_of(R"("sleeper", {"name": "sleeper", "factors": 64})", R"(, "stop": {"epochs": 3})"),
      with_device(false));
}

TEST(Clocks, OfARangeAreThoseThatTheCaseAloneEncloses) {
  Ranges ranges;
  {
    const PhaseScope all(&ranges, "case");
    {
      const PhaseScope outer(&ranges, "prepare");
      const PhaseScope inner(&ranges, "prepare");
      const PhaseScope load(&ranges, "load");
      nap();
    }
    const PhaseScope load(&ranges, "load");
  }
  EXPECT_EQ(ranges.to_json().at("prepare").at("count"), 1) << "one within itself is one";
  EXPECT_GE(ranges.clock_seconds("prepare"), kNapSeconds);
  EXPECT_GE(ranges.seconds("load"), kNapSeconds);
  EXPECT_LT(ranges.clock_seconds("load"), kNapSeconds);
  EXPECT_EQ(ranges.clock_seconds("train"), 0);
}

// ---- sharing among cases ------------------------------------------------------------------------

TEST(Sharing, IsSaidByTheCaseThatWasLentSomething) {
  const Spec spec = spec_of(R"({"name": "ruler", "sleep_ms": 0, "factors": [1, 2]})",
                            R"(, "stop": {"epochs": 1})");
  const auto files = run(spec);
  EXPECT_EQ(files[0].footer.at("shared"), Json::object()) << "it did everything itself";
  const Json& lent = files[1].footer.at("shared").at("load");
  const double parts =
      number(lent, "ratings_s") + number(lent, "split_s") + number(lent, "facts_s");
  EXPECT_GT(number(lent, "ratings_s"), 0);
  EXPECT_LE(parts, number(files[0].footer.at("clocks"), "load_s"));
}

TEST(Sharing, AStartIsOfCasesOnADevice) {
  SharedLedger ledger;
  ledger.begin_case();
  ledger.use_start(2, false);
  ledger.begin_case();
  ledger.use_start(0, false);
  EXPECT_TRUE(ledger.lent().empty());
  ledger.begin_case();
  ledger.use_start(0.1, true);
  EXPECT_EQ(to_json(ledger.lent()), parse_json(R"({"start": {"first_case_s": 2}})", "t"));
}

TEST(Sharing, IsNotDoneWhereItIsNotWanted) {
  const Spec spec = spec_of(R"({"name": "ruler", "sleep_ms": 0, "factors": [1, 2]})",
                            R"(, "stop": {"epochs": 1})");
  RunOptions options;
  options.share = false;
  const auto files = run(spec, options);
  EXPECT_FALSE(files[1].footer.at("shared").contains("load")) << files[1].footer;
}

TEST(Sharing, OfTheDataSetAloneWhereItIsCutInAnotherWay) {
  const std::string data = R"({"like": "ml-100k", "scale": 0.1, "split": [{"holdout": 0.2},
                              {"holdout": 0.3}]})";
  const Spec spec =
      spec_of(R"({"name": "ruler", "sleep_ms": 0})", R"(, "stop": {"epochs": 1})", data);
  ASSERT_EQ(spec.cases.size(), 2u);
  const auto files = run(spec);
  const Json& lent = files[1].footer.at("shared").at("load");
  EXPECT_TRUE(lent.contains("ratings_s"));
  EXPECT_FALSE(lent.contains("split_s"));
}

TEST(Sharing, CostsOfOneNameOnOneClockAreAdded) {
  const SharedCosts costs = {{"upload", 1, SharedClock::transfer},
                             {"upload", 2, SharedClock::transfer},
                             {"views", 0.5, SharedClock::prepare}};
  const Json json = to_json(costs);
  EXPECT_EQ(json, parse_json(R"({"transfer": {"upload_s": 3}, "prepare": {"views_s": 0.5}})", "t"));
  const Json footer = {{"shared", json}};
  EXPECT_EQ(shared_seconds(footer, SharedClock::transfer), 3);
  EXPECT_EQ(shared_seconds(footer, SharedClock::load), 0);
  EXPECT_EQ(shared_seconds({{"shared", nullptr}}, SharedClock::transfer), 0) << "not known";
  EXPECT_EQ(shared_seconds({{"shared", {{"transfer", 7}}}}, SharedClock::transfer), 0) << "damaged";
}

TEST(Sharing, TheLedgerKnowsWhoMadeWhatAndWhatIsGone) {
  SharedLedger ledger;
  const SharedCost upload = {"upload", 0.5, SharedClock::transfer};
  const SharedCost context = {"context", 0.25, SharedClock::start};
  ledger.made(context, SharedScope::run);
  ledger.made(upload, SharedScope::split);
  ledger.used("upload");
  EXPECT_TRUE(ledger.lent().empty()) << "it made it itself";
  ledger.begin_case();
  EXPECT_TRUE(ledger.lent().empty()) << "it has not used it";
  for (int i = 0; i < 2; ++i) ledger.used("upload");
  ASSERT_EQ(ledger.lent().size(), 1u) << "once, however often it is used";
  EXPECT_EQ(ledger.lent()[0].seconds, 0.5);
  EXPECT_EQ(ledger.lent()[0].clock, SharedClock::transfer);
  ledger.drop(SharedScope::dataset);
  EXPECT_FALSE(ledger.has("upload")) << "a split goes with its data set";
  EXPECT_TRUE(ledger.has("context"));
  EXPECT_TRUE(ledger.lent().empty());
  EXPECT_THROW(ledger.used("upload"), std::logic_error);
  ledger.made({"upload", 0.75, SharedClock::transfer}, SharedScope::split);
  ledger.used("upload");
  EXPECT_TRUE(ledger.lent().empty()) << "made anew by this case";
}

// ---- ratings are held once ----------------------------------------------------------------------

TEST(DataStore, LetsTheWholeGoOnceItIsCut) {
  const Spec spec = spec_of(R"({"name": "ruler", "sleep_ms": 0})", "",
                            R"({"like": "ml-100k", "scale": 0.1, "split": [{"holdout": 0.2},
                               {"holdout": 0.3}]})");
  DataStore store;
  const CaseData kept = store.get(spec.cases[0], true);
  EXPECT_TRUE(store.holds_whole()) << "the next case cuts it again";
  const CaseData other = store.get(spec.cases[1]);
  EXPECT_FALSE(store.holds_whole());
  EXPECT_NE(kept.split->test.nnz(), other.split->test.nnz());
  EXPECT_EQ(other.facts->mean, mean_rating(other.split->train));
  EXPECT_EQ(other.info->name, spec.cases[1].data.label());
  // For this split there is all that is needed; another needs the ratings again.
  EXPECT_EQ(store.get(spec.cases[1]).split, other.split);
  store.ledger().begin_case();
  const CaseData again = store.get(spec.cases[0]);
  EXPECT_TRUE(store.ledger().lent().empty());
  EXPECT_EQ(again.split->test.nnz(), kept.split->test.nnz());
}

TEST(DataStore, PacksTheTrainingPartOnceForCasesOnADevice) {
  const Spec spec = spec_of(R"({"name": ["ruler", "als_fused"], "factors": 8})", "",
                            R"({"like": "ml-100k", "scale": 0.1})");
  DataStore store;
  Ranges ranges;
  const CaseData host = store.get(spec.cases[0]);
  CaseData first = store.get(spec.cases[1]);
  EXPECT_EQ(first.split->train.packed(), nullptr) << "loading has only what all cases need";
  store.pack(first, 1, &ranges);
  const PackedRatings* packed = first.split->train.packed();
  ASSERT_NE(packed, nullptr);
  EXPECT_EQ(packed->count, first.split->train.nnz());
  EXPECT_EQ(host.split->train.packed(), nullptr) << "as it was";
  EXPECT_TRUE(store.ledger().lent().empty());
  store.ledger().begin_case();
  CaseData second = store.get(spec.cases[1]);
  store.pack(second, 1, &ranges);
  EXPECT_EQ(second.split->train.packed(), packed);
  EXPECT_EQ(ranges.to_json().at("pack").at("count"), 1);
  const SharedCosts lent = store.ledger().lent();
  EXPECT_TRUE(std::ranges::any_of(lent, [&](const SharedCost& cost) {
    return cost.name == "packed" && cost.clock == SharedClock::prepare && cost.seconds > 0;
  }));
}

// Whichever case of the process packs, both have the same seconds in their answers.
TEST(Clocks, PackingIsPreparationOfEveryCaseThatUsesIt) {
  const auto files =
      run(spec_of(R"({"name": "sleeper", "factors": [4, 8]})", R"(, "stop": {"epochs": 1})"),
          with_device(false));
  const Json& own = files[0].footer;
  const double packing = own.at("phases").at("pack").at("seconds_s").get<double>();
  EXPECT_LE(packing, number(own.at("clocks"), "prepare_s"));
  EXPECT_FALSE(files[1].footer.at("phases").contains("pack"));
  const double lent = number(files[1].footer.at("shared").at("prepare"), "packed_s");
  EXPECT_GT(lent, 0);
  EXPECT_LE(lent, packing);
  EXPECT_GE(*to_training_s(files[1].footer), lent);
}

TEST(DataStore, MakesUsersOfTheTrainingPartForTheFirstCaseThatLooksAtThem) {
  const Spec spec = spec_of(R"({"name": ["als_fused", "ruler"], "factors": 8})", "",
                            R"({"like": "ml-100k", "scale": 0.1})");
  DataStore store;
  const CaseData device = store.get(spec.cases[0]);
  EXPECT_FALSE(device.split->train.has_users());
  store.ledger().begin_case();
  const CaseData host = store.get(spec.cases[1]);
  EXPECT_TRUE(host.split->train.has_users());
  EXPECT_GT(host.split_s, 0);
  store.ledger().begin_case();
  EXPECT_EQ(store.get(spec.cases[1]).split_s, 0);
  const SharedCosts lent = store.ledger().lent();
  EXPECT_TRUE(std::ranges::any_of(
      lent, [&](const SharedCost& cost) { return cost.name == "users" && cost.seconds > 0; }));
}

// Evaluations of the training ratings read the users, and so does training by pairs.
TEST(DataStore, KeepsUsersOfTheTrainingPartForWhatLooksAtThem) {
  const auto has_users = [](const std::string& algorithm, const std::string& evaluate) {
    const Spec spec = spec_of(algorithm, R"(, "evaluate": {)" + evaluate + "}",
                              R"({"like": "ml-100k", "scale": 0.1})");
    return DataStore().get(spec.cases[0]).split->train.has_users();
  };
  EXPECT_FALSE(has_users(R"({"name": "als_fused"})", ""));
  EXPECT_TRUE(has_users(R"({"name": "als_fused"})", R"("train": true)"));
  EXPECT_TRUE(has_users(R"({"name": "als_fused"})", R"("user_groups": 3)"));
  EXPECT_TRUE(has_users(R"({"name": "bpr"})", ""));
  EXPECT_TRUE(has_users(R"({"name": "als_cpu"})", ""));
}

// Counts live objects.
struct Live {
  static inline int now = 0, most = 0;
  Live() { most = std::max(most, ++now); }
  ~Live() { --now; }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
};

class Counted : public Sleeper {
 public:
  void prepare(const Ratings& train, const Model&, Context&) override { nnz_ = train.nnz(); }
  std::int64_t run_epoch(const EpochArgs&, Context&) override { return nnz_; }

 private:
  Live live_;
  std::int64_t nnz_ = 0;
};

TEST(DataStore, ACasesAlgorithmIsGoneBeforeTheNextBegins) {
  Live::most = 0;
  AlgorithmInfo info = sleeper_info();
  info.name = "counted";
  register_info(info);
  register_factory("counted", [](const Params&) { return std::make_unique<Counted>(); });
  const Spec spec =
      spec_of(R"({"name": "counted", "factors": [1, 2, 3]})", R"(, "stop": {"epochs": 1})");
  const TempFolder folder;
  RunOptions options = with_device(false);
  options.folder = folder / "r";
  const auto progress = make_progress(ProgressMode::quiet, stdout);
  EXPECT_EQ(run_session(spec, options, *progress).run, 3);
  EXPECT_EQ(Live::most, 1);
  EXPECT_EQ(Live::now, 0);
}

}  // namespace
}  // namespace mf
