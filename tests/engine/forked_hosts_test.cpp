// These tests fork a process that has models. In the child, calls of these models are refused,
// their destructors return, and new models work.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock::testing {
namespace {

/// A Host has a Model and what runs it, whatever has happened to them.
struct Host {
  std::optional<Model> model{network()};
  std::optional<TrainingModel> training{std::in_place, *model, with_limit(0), Sgd{}};
  std::optional<InferenceModel> serving{std::in_place, *model, with_limit(0)};
};

Tensor trained_anew() {
  const Model model = network();
  TrainingModel training(model, with_limit(0), Sgd{.learning_rate = 0.1});
  for (const std::int64_t count : {full, remainder}) training.step(samples(count));
  return model.weight("fc.weight");
}

bool all_closed(Host& host) {
  const std::function<void()> calls[] = {[&] { host.training->step(samples(full)); },
                                         [&] { host.training->optimizer_state(); },
                                         [&] { host.training->detach(); },
                                         [&] { host.training->attach(); },
                                         [&] { host.training->optimizer(); },
                                         [&] { host.training->last_call(); },
                                         [&] { host.serving->run(samples(full)); },
                                         [&] { host.serving->stage_reports(); },
                                         [&] { host.model->weight("fc.weight"); },
                                         [&] { host.model->save_weights("never-written"); },
                                         [&] { host.model->clone(); },
                                         [&] { host.model->input("more", {4}); },
                                         [&] { TrainingModel(*host.model, with_limit(0)); }};
  bool all = true;
  for (const auto& call : calls)
    all &= refusal(Errc::closed, call).find("belongs to the process that made it") !=
           std::string::npos;
  return all;
}

/// Checks in the child that the host's models are closed, can be destroyed, and are no obstacle to
/// new ones. Returns 0, or the number of what is wrong. Under the thread sanitizer, which does not
/// start the threads of new models in the child, no new models are made.
int child_of(Host& host, const Tensor& expected) {
  if (!all_closed(host)) return 1;
  host.training->updates();
  host.training->attached();
  if (!thread_sanitized)
    // This destroys the model that was there before.
    *host.training = TrainingModel(network(), with_limit(0));
  host.training.reset();
  host.serving.reset();
  host.model.reset();
  return thread_sanitized || same_bits(trained_anew(), expected) ? 0 : 2;
}

void expect_left_alone(Host& host) {
  const Tensor expected = trained_anew();
  EXPECT_EQ(exit_code_of_fork([&] { return child_of(host, expected); }), 0);
}

TEST(ForkedHosts, LeaveModelsAloneThatWereConstructed) {
  Host host;
  expect_left_alone(host);
  host.training->step(samples(full));
}

TEST(ForkedHosts, LeaveModelsAloneThatHaveCalls) {
  Host host;
  const Tensor before = host.model->weight("fc.weight");
  for (const std::int64_t count : {full, remainder}) {
    host.training->step(samples(count));
    host.serving->run(samples(count));
  }
  expect_left_alone(host);
  // The newest weights can still be read.
  EXPECT_FALSE(same_bits(host.model->weight("fc.weight"), before));
}

TEST(ForkedHosts, LeaveModelsAloneThatAreDetached) {
  Host host;
  host.training->step(samples(full));
  host.training->detach();
  host.serving->detach();
  expect_left_alone(host);
  host.training->step(samples(full));
}

TEST(ForkedHosts, LeaveModelsAloneThatHaveFailed) {
  Host host;
  EXPECT_NE(refusal(Errc::stage_failed, [&] { host.training->step(samples(full, 9)); }),
            "accepted");
  expect_left_alone(host);
}

// The fork may happen while locks are held and lists are half changed. Under AddressSanitizer one
// of the locks may be the allocator's, for which the child would wait for ever.
TEST(ForkedHosts, LeaveModelsAloneThatAreInACallOfAnotherThread) {
  if (address_sanitized) return;
  Host host;
  const Tensor expected = trained_anew();
  std::atomic<bool> end{false};
  auto training = std::async(std::launch::async, [&] {
    std::uint64_t steps = 0;
    for (; !end; ++steps) {
      host.training->step(samples(full));
      host.serving->run(samples(full));
      host.model->weight("fc.weight");
    }
    return steps;
  });
  for (int time = 0; time < 10; ++time)
    EXPECT_EQ(exit_code_of_fork([&] { return child_of(host, expected); }), 0);
  end = true;
  EXPECT_EQ(host.training->updates(), training.get());
}

/// Forks while another thread makes and destroys models by `make`. Returns how many models were
/// made.
int made_while_forking(const std::function<void()>& make, const Tensor& expected) {
  Host host;
  std::atomic<bool> end{false};
  auto making = std::async(std::launch::async, [&] {
    int made = 0;
    for (; !end; ++made) make();
    return made;
  });
  for (int time = 0; time < 10; ++time)
    EXPECT_EQ(exit_code_of_fork([&] { return child_of(host, expected); }), 0);
  end = true;
  return making.get();
}

TEST(ForkedHosts, LeaveModelsAloneThatAnotherThreadConstructsOrDestroys) {
  if (address_sanitized) return;
  const Tensor expected = trained_anew();
  const Model model = network();
  EXPECT_GT(made_while_forking([&] { TrainingModel(model, with_limit(0), Sgd{}); }, expected), 0);
  EXPECT_GT(made_while_forking([&] { InferenceModel(network(), with_limit(0)); }, expected), 0);
  TrainingModel(model, with_limit(0), Sgd{}).step(samples(full));
}

// A function of the host's that the engine calls may fork the process.
TEST(ForkedHosts, MayForkInsideACall) {
  const Tensor expected = trained_anew();
  Host host;
  bool armed = false;
  int code = -2;
  Options options = with_limit(0);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view) {
    if (!std::exchange(armed, false)) return;
    code = exit_code_of_fork([&] { return child_of(host, expected); });
  };
  host.training.emplace(*host.model, options, Sgd{});
  armed = true;
  host.training->step(samples(full));
  EXPECT_EQ(code, 0);
}

TEST(ForkedHosts, MayForkInsideAConstructor) {
  const Tensor expected = trained_anew();
  Host host;
  std::vector<int> codes;
  Options options = with_limit(0);
  options.runtime.compile_progress = [&](const CompileProgress&) {
    codes.push_back(exit_code_of_fork([&] { return child_of(host, expected); }));
  };
  TrainingModel training(*host.model, options, Sgd{});
  EXPECT_EQ(codes, std::vector<int>(codes.size(), 0));
  EXPECT_GT(codes.size(), 1U);
  training.step(samples(full));
}

struct Left {};

/// Forks the process. The child leaves the call by an exception, and the parent returns the child's
/// exit code.
int code_of_a_child_that_leaves() {
  const pid_t id = forked();
  if (id == 0) throw Left();
  return exit_code_of(id);
}

/// Constructs a model whose progress function forks in phase number `phase`, counted from 0, and
/// calls `leave` in the child. Returns the child's exit code, or nothing if there are not so many
/// phases. The code is 7 if the exception of `leave` leaves the constructor, and 8 if the
/// constructor is refused in the child.
std::optional<int> code_of_a_constructor_left(int phase, const std::function<void()>& leave) {
  Host host;
  std::optional<int> result;
  bool is_child = false;
  Options options = with_limit(0);
  options.runtime.compile_progress = [&](const CompileProgress&) {
    if (phase-- != 0) return;
    const pid_t id = forked();
    if (id != 0) {
      result = exit_code_of(id);
      return;
    }
    is_child = true;
    leave();
  };
  try {
    TrainingModel training(*host.model, options, Sgd{});
    if (is_child) ::_exit(1);
    training.step(samples(full));
  } catch (const Left&) {
    if (is_child) ::_exit(all_closed(host) ? 7 : 2);
  } catch (const Error& error) {
    if (is_child) ::_exit(error.code() == Errc::closed && all_closed(host) ? 8 : 3);
    ADD_FAILURE() << error.what();
  }
  return result;
}

TEST(ForkedHosts, AreRefusedAModelInWhoseConstructionTheyForked) {
  int phases = 0;
  for (;; ++phases) {
    const auto code = code_of_a_constructor_left(phases, [] { throw Left(); });
    if (!code) break;
    EXPECT_EQ(code, 7) << phases;
    EXPECT_EQ(code_of_a_constructor_left(phases, [] {}), 8) << phases;
  }
  EXPECT_GT(phases, 1);
}

// In the child, an input must not come back through locks that threads of the parent's engine may
// hold.
TEST(ForkedHosts, ReleaseNoInputWhenTheyLeaveACallInTheChild) {
  Host host;
  bool armed = false;
  int code = -2, deleted = 0;
  Options options = with_limit(0);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view) {
    if (std::exchange(armed, false)) code = code_of_a_child_that_leaves();
  };
  host.training.emplace(*host.model, options, Sgd{});
  const Tensor x = samples(full)[0];
  Tensor input = Tensor::wrap(x.dtype(), x.shape(),
                              std::shared_ptr<const std::byte>(x.raw(), [&](auto*) { ++deleted; }));
  std::vector<Tensor> inputs{std::move(input), samples(full)[1]};
  armed = true;
  try {
    host.training->step(std::exchange(inputs, {}));
  } catch (const Left&) {
    ::_exit(deleted);
  }
  EXPECT_EQ(code, 0);
  EXPECT_EQ(deleted, 1);
}

/// A ForkingDeleters makes a step whose log drops the samples and makes another step. The samples
/// are released when that step begins, and the first deleter that runs forks the process.
struct ForkingDeleters {
  int deleted = 0, deleted_inside = 0;
  bool is_child = false;
  std::optional<int> code_of_child;

  ForkingDeleters() {
    Host host;
    std::vector<Tensor> inputs = samples(full);
    bool armed = false;
    Options options = with_limit(0);
    options.runtime.log_level = LogLevel::debug;
    options.runtime.log = [&](std::string_view) {
      if (!std::exchange(armed, false)) return;
      inputs.clear();
      step_inside(*host.training);
    };
    host.training.emplace(*host.model, options, Sgd{});
    for (Tensor& input : inputs) {
      const std::shared_ptr<const std::byte> elements(
          input.raw(), [this, kept = input](auto*) { was_deleted(); });
      input = Tensor::wrap(input.dtype(), input.shape(), elements);
    }
    armed = true;
    host.training->step(inputs);
  }

 private:
  void step_inside(TrainingModel& training) {
    is_inside_ = true;
    try {
      training.step(samples(full));
      if (is_child) ::_exit(101);
    } catch (const Error& error) {
      if (is_child) ::_exit(error.code() == Errc::closed ? deleted : 102);
    }
    is_inside_ = false;
  }
  void was_deleted() {
    ++deleted;
    if (!is_inside_ || ++deleted_inside > 1) return;
    const pid_t id = forked();
    is_child = id == 0;
    if (!is_child) code_of_child = exit_code_of(id);
  }

  bool is_inside_ = false;
};

TEST(ForkedHosts, AreRefusedTheCallAtWhoseBeginningADeleterForked) {
  for (int attempts = 0; attempts < 1000; ++attempts) {
    const ForkingDeleters forking;
    EXPECT_EQ(forking.deleted, 2);
    EXPECT_EQ(forking.code_of_child.value_or(1), 1) << "deleters in the child";
    if (forking.deleted_inside == 2) return;
  }
  FAIL() << "no step was given both samples back in time";
}

TEST(ForkedHosts, LeaveAnOpenBlockAlone) {
  Model model = network();
  std::unique_ptr<BlockScope> block(new BlockScope(model.block("b")));
  EXPECT_EQ(exit_code_of_fork([&] {
              block.reset();
              return 0;
            }),
            0);
  block.reset();
  model.begin_block("c");  // No block is open any more, so that this one can begin.
}

}  // namespace
}  // namespace penstock::testing
