// These tests check that memory that is missing for reports and traces costs at most reports and
// traces. No step fails because of it, no model closes, and every event that is lost is counted.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "actors/execution/trace_log.hpp"
#include "penstock/error.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::testing {
namespace {

/// This is the number of events of a call: two stages with a G of 2 and one update have ten.
constexpr std::size_t per_call = 2 * (2 + 2 + 1);

Options with_trace(bool trace) {
  Options options = options_for(2, 2, 1);
  options.runtime.trace = trace;
  return options;
}

/// Calls `call` while allocation number `number` on this thread fails, and returns whether the call
/// was refused for want of memory. Sets `reached` to whether the call made so many allocations.
bool refused(std::int64_t number, bool& reached, const std::function<void()>& call) {
  const AllocationFailures failures(number, 1, FailsOn::this_thread);
  bool was_refused = false;
  try {
    call();
  } catch (const Error& error) {
    was_refused = true;
    EXPECT_EQ(error.code(), Errc::out_of_memory) << error.what();
  }
  reached = failures.reached();
  return was_refused;
}

void expect_every_event_kept_or_counted(TrainingModel& training, std::size_t events) {
  EXPECT_EQ(training.take_trace().size() + training.dropped_events(), events);
}

/// Returns how many of the allocations of a model's second step make the step fail.
std::int64_t allocations_that_a_step_needs(bool trace) {
  std::int64_t needed = 0;
  const std::vector<Tensor> batch = samples(4, false);
  bool reached = true;
  for (std::int64_t number = 1; reached; ++number) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    TrainingModel training(plain_model(), with_trace(trace));
    training.step(batch);
    needed += refused(number, reached, [&] { training.step(batch); });
    if (trace) expect_every_event_kept_or_counted(training, training.updates() * per_call);
    EXPECT_NO_THROW(training.step(batch));
  }
  return needed;
}

TEST(TraceMemory, ThatIsMissingFailsNoStepThatWouldNotFailWithoutATrace) {
  const std::int64_t needed = allocations_that_a_step_needs(false);
  EXPECT_GT(needed, 0);
  EXPECT_EQ(allocations_that_a_step_needs(true), needed);
}

TEST(TraceMemory, ThatIsMissingLosesNoEventThatIsNotCounted) {
  const std::pair<const char*, std::function<void(TrainingModel&)>> calls[] = {
      {"stage_reports", [](TrainingModel& training) { training.stage_reports(); }},
      {"take_trace",
       [](TrainingModel& training) { EXPECT_EQ(training.take_trace().size(), per_call); }},
      {"detach", [](TrainingModel& training) { training.detach(); }}};
  for (const auto& [name, call] : calls) {
    std::int64_t refusals = 0;
    bool reached = true;
    for (std::int64_t number = 1; reached; ++number) {
      SCOPED_TRACE(name + (", allocation " + std::to_string(number)));
      TrainingModel training(plain_model(), with_trace(true));
      training.step(samples(4, false));
      const bool was_refused = refused(number, reached, [&] { call(training); });
      refusals += was_refused;
      const bool taken = name == std::string("take_trace") && !was_refused;
      expect_every_event_kept_or_counted(training, taken ? 0 : per_call);
      EXPECT_NO_THROW(training.stage_reports()) << "it is still open";
      EXPECT_NO_THROW(training.step(samples(4, false)));
    }
    EXPECT_GT(refusals, 0) << name;
  }
}

TEST(TraceMemory, OfALogThatIsMissingIsCounted) {
  for (std::int64_t number = 1; number < 4; ++number) {
    actors::TraceLog log(100);
    {
      const AllocationFailures failures(number, 1, FailsOn::this_thread);
      for (std::int64_t event = 0; event < 10; ++event) log.add({.micro_batch = event});
      EXPECT_TRUE(failures.reached());
    }
    EXPECT_EQ(log.size(), 9u);
    EXPECT_EQ(log.dropped(), 1u);
  }
}

}  // namespace
}  // namespace penstock::testing
