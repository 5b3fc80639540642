// In these tests, memory runs out anywhere in the life of a running model, on any thread. Calls may
// be refused and actors may end, but nobody waits forever, and the weights are always those of a
// whole number of updates.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actors/system/actor_system.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::DeterministicRun;
using testing::FailureSteps;
using testing::refusal;
using testing::run_step;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngineOptions;
using testing::SmallNetwork;

constexpr std::size_t updates = 2;  // One Life has this many updates.

const SmallEngineOptions trained{.stages = 2,
                                 .replicas = 2,
                                 .gradient_accumulation = updates,
                                 .max_grad_norm = 0.05,
                                 .offload = true,
                                 .stall_seconds = 30,
                                 .deterministic = false};

/// Returns options with every round that an update can have.
SmallEngineOptions trained_in_shards() {
  SmallEngineOptions options = trained;
  options.shards = true;
  options.rule = "lamb";
  return options;
}

/// Returns options with which one stage after another does its part of an update.
SmallEngineOptions trained_sequentially() {
  SmallEngineOptions options = trained;
  options.schedule = "sequential";
  return options;
}

/// Returns options with which the second stage's optimizer adds its sums to the first one's.
SmallEngineOptions trained_with_a_tied_weight() {
  SmallEngineOptions options = trained;
  options.tied = true;
  return options;
}

SmallEngineOptions served() {
  SmallEngineOptions options = trained;
  options.training = false;
  return options;
}

std::int64_t failing = 0;  // This is the number of the first allocation that fails in the attempt.

/// A Calls makes the calls of one model. A call may be refused for lack of memory, or because an
/// earlier call was refused.
class Calls {
 public:
  /// Returns whether `call` was not refused.
  bool make(const auto& call) {
    try {
      call();
      return true;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Errc::out_of_memory || (error.code() == Errc::closed && refused_))
          << "allocation " << failing << ": " << error.what();
    }
    refused_ = true;
    return false;
  }

 private:
  bool refused_ = false;
};

/// A Left is what Life::live() leaves behind.
struct Left {
  std::unique_ptr<PipelineRuntime> trainer;  ///< This is null if there was no memory for it.
  bool has_weights = false;                  ///< If this is true, the first weights were written.
};

/// A Life is a training and an inference on the same threads, with the numbers from which they
/// start.
class Life {
 public:
  explicit Life(const SmallEngineOptions& options) : training_(options) {
    PipelineRuntime trainer(training_.setup(), training_.rules(), SystemOptions{.threads = 2});
    trainer.write_variables(first_);
    after_[0] = trainer.read_variables();
    for (std::size_t update = 0; update < updates; ++update) {
      run_step(trainer, window(update), training_.micro_batches(1));
      after_[update + 1] = trainer.read_variables();
    }
  }

  /// Makes all calls of a training and of an inference, on the threads of `system` or, if `system`
  /// is null, on those of a new system.
  Left live(std::shared_ptr<ActorSystem> system) const {
    Left left;
    Calls calls;
    const bool begun = calls.make([&] {
      if (!system) system = std::make_shared<ActorSystem>(SystemOptions{.threads = 2});
      left.trainer =
          std::make_unique<PipelineRuntime>(training_.setup(), training_.rules(), system);
    });
    if (!begun) return left;
    PipelineRuntime& trainer = *left.trainer;
    left.has_weights = calls.make([&] { trainer.write_variables(first_); });
    calls.make([&] { run_step(trainer, inputs_, training_.micro_batches(updates)); });
    calls.make([&] { trainer.read_variables(); });
    Calls().make([&] { serve(trainer.shared_system()); });
    calls.make([&] { trainer.read_status(); });
    calls.make([&] { trainer.read_optimizer(); });
    return left;
  }

  /// Checks that the weights can be read and are those after a whole number of updates, and that
  /// all updates were done if the life was `undisturbed`. This is called once there is memory
  /// again.
  void expect_whole(const Left& left, bool undisturbed) const {
    if (!left.trainer) return;
    const std::uint64_t done = left.trainer->updates();
    ASSERT_LE(done, updates);
    EXPECT_TRUE(done == updates || !undisturbed) << done << " updates";
    if (left.has_weights) {
      EXPECT_TRUE(same_bits(left.trainer->read_variables(), after_[done])) << done << " updates";
    }
    EXPECT_TRUE(left.trainer->end());
  }

 private:
  std::vector<Tensor> window(std::size_t update) const {
    std::vector<Tensor> rows;
    for (const Tensor& input : inputs_) {
      const auto each = input.shape()[0] / static_cast<std::int64_t>(updates);
      const auto begin = static_cast<std::int64_t>(update) * each;
      rows.push_back(input.rows(begin, begin + each));
    }
    return rows;
  }

  void serve(const std::shared_ptr<ActorSystem>& system) const {
    PipelineRuntime server(inference_.setup(), {}, system);
    server.write_variables(served_first_);
    run_step(server, samples_, inference_.micro_batches(2));
    server.read_status();
  }

  const SmallNetwork training_, inference_{served()};
  const std::vector<Tensor> first_ = training_.first_variables();
  const std::vector<Tensor> served_first_ = inference_.first_variables();
  const std::vector<Tensor> inputs_ = training_.inputs(updates), samples_ = inference_.inputs(2);
  std::array<Variables, updates + 1> after_;  // These are the variables after 0, 1, ... updates.
};

void expect_each_failure_is_survived(const Life& life, const FailureSteps& steps,
                                     const std::shared_ptr<ActorSystem>& system) {
  life.expect_whole(life.live(system), true);
  const std::size_t threads = testing::thread_count();
  std::int64_t failures = 0;
  bool reached = true;
  for (failing = steps.first; reached; failing += steps.stride, ++failures) {
    SCOPED_TRACE("allocation " + std::to_string(failing));
    Left left;
    {
      const AllocationFailures allocations(failing, steps.count);
      left = life.live(system);
      reached = allocations.reached();
    }
    ASSERT_NO_THROW(life.expect_whole(left, !reached));
  }
  EXPECT_GT(failures, 100);
  EXPECT_TRUE(testing::threads_fall_to(threads));
  life.expect_whole(life.live(system), true);
}

TEST(PipelineMemory, ThatIsMissingOnceLeavesTheWeightsOfAWholeNumberOfUpdates) {
  for (const SmallEngineOptions& options :
       {trained, trained_in_shards(), trained_sequentially(), trained_with_a_tied_weight()})
    expect_each_failure_is_survived(Life(options), {}, nullptr);
}

// The system and its threads exist before memory is missing: CAF's constructor of a system may end
// the process if memory is missing for long. ActorSystem prevents that only by making sure of
// memory beforehand.
TEST(PipelineMemory, ThatIsMissingForAWhileDoesSoToo) {
  const auto system = std::make_shared<ActorSystem>(SystemOptions{.threads = 2});
  const Life life(trained);
  for (const std::int64_t count : {2, 5, 20, 100'000})
    expect_each_failure_is_survived(life, {.count = count, .stride = 9, .first = 1 + count % 9},
                                    system);
}

/// A HeldRound names the round of an update that an IPU holds back, and keeps the IPU's work of
/// that round once the round has been reached.
struct HeldRound {
  UpdateRound round = UpdateRound::apply;
  std::optional<RunUpdate> work = {};
};

/// Returns the behavior of an actor that takes the place of `ipu` for an optimizer. The actor keeps
/// the work of the held round, and passes all other work on to `ipu`.
DeviceHandle::behavior_type device_that_holds(DeviceHandle::pointer self, const DeviceHandle& ipu,
                                              HeldRound* held) {
  return {[](RunProgram&) {}, [](BringWeights&) {},
          [=](RunUpdate& request) {
            if (request.order.round == held->round)
              held->work = std::move(request);
            else
              self->send(ipu, std::move(request));
          }};
}

/// A HeldUpdate is an update in which nothing moves any more, because the last stage has reached a
/// round that its IPU holds back.
class HeldUpdate {
 public:
  HeldUpdate(const SmallEngineOptions& options, UpdateRound round) : cast_(options), held_{round} {
    const std::size_t last = cast_.plan().stages.size() - 1;
    ipu_ = cast_.device(last);
    holder_ = cast_.system().spawn(RunsOn::workers, device_that_holds, ipu_, &held_);
    OptimizerLinks links = cast_.optimizer_links(last);
    links.device = holder_;
    cast_.introduce(last, std::move(links));
    cast_.begin_windows(1);
    DeterministicRun(cast_.system()).run();
  }
  ~HeldUpdate() { caf::anon_send_exit(holder_, caf::exit_reason::user_shutdown); }
  HeldUpdate(const HeldUpdate&) = delete;
  HeldUpdate& operator=(const HeldUpdate&) = delete;

  /// Returns whether the update has the round that is held back.
  bool holds() const { return held_.work.has_value(); }
  HostCalls& host() { return cast_.host(); }
  Variables first_variables() const { return cast_.first_variables(); }
  /// Lets the watchdog look once, while all allocations from number `first` on fail. Returns
  /// whether any allocation failed.
  bool look(std::int64_t first) {
    DeterministicRun order(cast_.system());
    order.make_room();
    cast_.call_watchdog(cast_.host().pulse.beats());
    const AllocationFailures allocations(first, 1'000'000);
    order.run();
    return allocations.reached();
  }
  /// Lets the update go on. Returns the weights after it.
  Variables end() {
    caf::anon_send(ipu_, *std::exchange(held_.work, std::nullopt));
    DeterministicRun(cast_.system()).run();
    return cast_.variables_after_end();
  }

 private:
  SmallCast cast_;
  HeldRound held_;
  DeviceHandle ipu_, holder_;
};

/// Calls `look_at(held, first)` for every round of every kind of update, with `first` counting up
/// from 1 until `look_at` returns false. Whatever the watchdog has found, an update that has begun
/// has to end whole.
void for_each_allocation_of_a_look(const auto& look_at) {
  std::set<UpdateRound> seen;
  for (const SmallEngineOptions& options :
       {trained, trained_in_shards(), trained_sequentially(), trained_with_a_tied_weight()})
    for (const UpdateRound round : {UpdateRound::reduce, UpdateRound::measure, UpdateRound::follow,
                                    UpdateRound::apply, UpdateRound::gather}) {
      HeldUpdate undisturbed(options, round);
      if (!undisturbed.holds()) continue;
      seen.insert(round);
      const Variables expected = undisturbed.end();
      bool reached = true;
      for (std::int64_t first = 1; reached; ++first) {
        SCOPED_TRACE(options.schedule + ", " + name_of(round) + ", allocation " +
                     std::to_string(first));
        HeldUpdate held(options, round);
        reached = look_at(held, first);
        const bool begins = held.host().updates.under_way() || !held.host().failure.failed();
        EXPECT_TRUE(same_bits(held.end(), begins ? expected : undisturbed.first_variables()));
      }
    }
  EXPECT_EQ(seen.size(), update_rounds);
}

TEST(PipelineMemory, ThatIsMissingForWordsOfAWaitCutsNoUpdate) {
  for_each_allocation_of_a_look([](HeldUpdate& held, std::int64_t first) {
    const bool reached = held.look(first);
    EXPECT_TRUE(reached || held.host().failure.failed()) << "all have said what they wait for";
    if (held.host().failure.failed()) {
      EXPECT_NE(refusal(Errc::stalled, [&] { held.host().wait(0); }), "accepted");
    }
    return reached;
  });
}

// At its first look, the watchdog asks the actors what they wait for. At its second look, it
// reports the answers that it has by then.
TEST(PipelineMemory, ThatIsMissingForWordsOfAStallLeavesItAStall) {
  for_each_allocation_of_a_look([](HeldUpdate& held, std::int64_t first) {
    EXPECT_TRUE(held.look(2));
    const bool reached = held.look(first);
    const std::string text = refusal(Errc::stalled, [&] { held.host().wait(0); });
    EXPECT_EQ(text.find("nothing has moved for "), 0U) << text;
    EXPECT_EQ(text.find(" there is no memory to say") != text.npos, reached) << text;
    EXPECT_EQ(text.find(" actors gave no answer") != text.npos, !reached) << text;
    return reached;
  });
}

}  // namespace
}  // namespace penstock::actors
