// A host may round as it likes, let floating-point exceptions trap, and block signals. These tests
// check that models train, infer, save and load with the same bits, and leave the host's settings
// as they are.
#include <gtest/gtest.h>
#include <signal.h>

#include <cfenv>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/temporary_directory.hpp"

#if defined(__GLIBC__) && defined(__x86_64__)

namespace penstock::testing {
namespace {

/// An Environment has what a host may set for its thread, and the floating-point exceptions that
/// were raised there.
struct Environment {
  int rounding = 0;
  int traps = 0;
  int raised = 0;
  /// This is the control word of the vector units: rounding, traps, and denormals.
  unsigned vector_control = 0;
  std::vector<bool> blocked_signals = {};

  static Environment now() {
    Environment all{.rounding = std::fegetround(),
                    .traps = fegetexcept(),
                    .raised = std::fetestexcept(FE_ALL_EXCEPT),
                    .vector_control = __builtin_ia32_stmxcsr()};
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int number = 1; number < NSIG; ++number)
      all.blocked_signals.push_back(sigismember(&blocked, number) == 1);
    return all;
  }
  bool operator==(const Environment&) const = default;
};

/// A Host does with models what a host does, and collects the bytes of everything that it gets from
/// them.
class Host {
 public:
  /// All functions that this host gives to the engine call `disturb`, if there is one.
  explicit Host(const TemporaryDirectory& directory, std::function<void()> disturb = {})
      : weights_(directory / "weights"), state_(directory / "state"), disturb_(std::move(disturb)) {
    if (!disturb_) return;
    options_.runtime.compile_progress = [this](const CompileProgress&) { disturb_(); };
    options_.runtime.log = [this](std::string_view) { disturb_(); };
    options_.runtime.log_level = LogLevel::debug;
    for (Metric& metric : metrics_) {
      metric.score = [this, inner = metric.score](const StepResult& result, const Batch& batch) {
        const Score score = inner(result, batch);
        disturb_();
        return score;
      };
      metric.check = [this, inner = metric.check](const StepResult& outline) {
        if (inner) inner(outline);
        disturb_();
      };
    }
  }

  /// Makes every call, and returns the bytes that the calls gave. The samples and options were made
  /// in the usual environment.
  const std::string& run() {
    std::optional<Model> model;
    std::optional<TrainingModel> training;
    std::optional<InferenceModel> serving;
    call("make the models", [&] {
      model.emplace(tied_model());
      training.emplace(*model, options_, optimizer_);
      serving.emplace(*model, options_);
    });
    call("step", [&] { add(training->step(rows_)); });
    call("short step", [&] { add(training->step(few_rows_)); });
    call("run", [&] { add(serving->run(images_)); });
    call("short run", [&] { add(serving->run(few_images_)); });
    call("save", [&] {
      model->save_weights(weights_);
      training->save_optimizer_state(state_);
      bytes_ += file_content(weights_) + file_content(state_);
    });
    call("detach", [&] { training->detach(); });
    call("load", [&] {
      model->load_weights(weights_);
      training->load_optimizer_state(state_);
    });
    call("set_optimizer", [&] { training->set_optimizer(optimizer_); });
    call("learning_rate", [&] { add(training->learning_rate()); });
    call("fit", [&] { fit_both(*training, *serving); });
    call("evaluate and predict", [&] {
      DataLoader data(dataset_, 8);
      add(evaluate(*serving, data, metrics_, disturb_).values);
      for (const NamedTensor& each : predict(*serving, images_)) add(each.tensor);
    });
    call("read all", [&] {
      for (const ParameterInfo& info : model->parameters()) add(model->weight(info.name));
      for (const NamedTensor& each : training->optimizer_state()) add(each.tensor);
      add(training->buffer("norm.running_mean", 1));
    });
    call("end the models", [&] {
      serving.reset();
      training.reset();
      model.reset();
    });
    return bytes_;
  }

 private:
  void call(const char* name, const std::function<void()>& calls) {
    const Environment before = Environment::now();
    calls();
    EXPECT_TRUE(Environment::now() == before) << name << " has changed the host's environment";
  }

  void fit_both(TrainingModel& training, InferenceModel& serving) {
    DataLoader data(dataset_, 16, {.shuffle = true, .workers = 2}), validation(dataset_, 16);
    const History history = fit(training, data,
                                {.epochs = 2,
                                 .metrics = metrics_,
                                 .validation_model = &serving,
                                 .validation_data = &validation,
                                 .callbacks = disturbing_callbacks()});
    for (const EpochRecord& epoch : history.epochs) add(epoch.values);
  }

  std::vector<FitCallback> disturbing_callbacks() const {
    if (!disturb_) return {};
    return {{.set_model = [this](const Model&) { disturb_(); },
             .on_fit_begin = [this](const std::vector<std::string>&) { disturb_(); },
             .on_epoch_begin = [this](int, std::int64_t) { disturb_(); },
             .on_step_begin = [this](const Batch&) { disturb_(); },
             .on_step_end =
                 [this](const StepRecord&, const StepResult&) {
                   disturb_();
                   return Next::go_on;
                 },
             .on_epoch_end =
                 [this](const EpochRecord&) {
                   disturb_();
                   return Next::go_on;
                 },
             .on_fit_end = [this](const History&) { disturb_(); }}};
  }

  void add(const Tensor& tensor) {
    bytes_.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  void add(double number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(const std::vector<NamedValue>& values) {
    for (const NamedValue& each : values) add(each.value);
  }
  void add(const StepResult& result) {
    add(result.mean_loss);
    for (const NamedTensor& each : result.outputs) add(each.tensor);
  }

  static Options chosen_options() {
    Options options = options_for(2, 2, 2);
    options.topology.replication_factor = 2;
    return options;
  }
  static Optimizer chosen_optimizer() {
    Optimizer optimizer = AdamW{.learning_rate = 0.05, .weight_decay = 0.01};
    optimizer.max_grad_norm = 0.3;
    optimizer.schedule = LearningRateSchedule::cosine(30, 0.1);
    return optimizer;
  }

  const std::string weights_, state_;
  Options options_ = chosen_options();
  const Optimizer optimizer_ = chosen_optimizer();
  const std::vector<Tensor> rows_ = samples(16, true), few_rows_ = samples(14, true);
  const std::vector<Tensor> images_{rows_[0].rows(0, 8)}, few_images_{rows_[0].rows(0, 7)};
  const std::shared_ptr<const Dataset> dataset_ = tensor_dataset(samples(44, true, 2));
  std::vector<Metric> metrics_{accuracy("y"), mean_of("y")};
  std::string bytes_;
  const std::function<void()> disturb_;
};

using SetUp = std::function<void()>;

/// Expects that a host gets the bytes `expected` on a thread that has called `set_up`. If a
/// floating-point exception traps, the test's process ends.
void expect_bytes(const std::string& expected, const SetUp& set_up) {
  std::thread([&] {
    const TemporaryDirectory directory;
    Host host(directory);
    std::feclearexcept(FE_ALL_EXCEPT);
    set_up();
    const bool same = host.run() == expected;
    std::fesetenv(FE_DFL_ENV);
    EXPECT_TRUE(same) << "the bytes differ";
  }).join();
}

std::string usual_bytes() {
  const TemporaryDirectory directory;
  return Host(directory).run();
}

TEST(HostEnvironment, OfAnyRoundingAndTrapsIsLeftAloneAndChangesNoBitOfAModel) {
  const std::string expected = usual_bytes();
  ASSERT_GT(expected.size(), 1000U);
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    for (const int traps : {0, FE_ALL_EXCEPT}) {
      SCOPED_TRACE(std::to_string(rounding) + ", " + std::to_string(traps));
      expect_bytes(expected, [&] {
        std::fesetround(rounding);
        feenableexcept(traps);
      });
    }
}

TEST(HostEnvironment, ThatAFunctionOfTheHostsLeavesBehindChangesNoBitOfAModel) {
  const std::string expected = usual_bytes();
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    for (const int traps : {0, FE_ALL_EXCEPT}) {
      SCOPED_TRACE(std::to_string(rounding) + ", " + std::to_string(traps));
      const TemporaryDirectory directory;
      int functions = 0;
      Host host(directory, [&] {
        ++functions;
        std::fesetround(rounding);
        feenableexcept(traps);
      });
      EXPECT_TRUE(host.run() == expected) << "the bytes differ";
      EXPECT_GT(functions, 40);
    }
}

TEST(HostEnvironment, ThatFlushesDenormalsIsLeftAloneAndChangesNoBitOfAModel) {
  constexpr unsigned both_flushes = 0x8040;
  expect_bytes(usual_bytes(),
               [] { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | both_flushes); });
}

TEST(HostEnvironment, OfAnySignalMaskIsLeftAloneAndChangesNoBitOfAModel) {
  const std::string expected = usual_bytes();
  for (const int how : {SIG_BLOCK, SIG_UNBLOCK}) {
    SCOPED_TRACE(how);
    expect_bytes(expected, [&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(how, &all, nullptr);
    });
  }
}

}  // namespace
}  // namespace penstock::testing

#endif
