// Memory that runs out anywhere in the life of a running model, on any thread: calls are refused,
// actors end, and nobody waits for ever.

#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "actors/system/actor_system.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/small_engine.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using testing::fail_each_allocation;
using testing::FailureSteps;
using testing::same_bits;
using testing::SmallEngineOptions;
using testing::SmallNetwork;

const SmallEngineOptions trained{.stages = 2,
                                 .replicas = 2,
                                 .gradient_accumulation = 2,
                                 .max_grad_norm = 0.05,
                                 .offload = true,
                                 .stall_seconds = 30,
                                 .deterministic = false};

SmallEngineOptions served() {
  SmallEngineOptions options = trained;
  options.training = false;
  return options;
}

std::int64_t failing = 0;  // the first allocation that fails in this attempt

/// Does `call`, which may be refused for want of memory, or because an earlier call was.
template <class Call>
void or_out_of_memory(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Errc::out_of_memory || error.code() == Errc::closed)
        << "allocation " << failing << ": " << error.what();
  }
}

/// A training and an inference on the same threads, with the numbers that they start from.
struct Life {
  const SmallNetwork training{trained}, inference{served()};
  const std::vector<Tensor> first = training.first_variables();
  const std::vector<Tensor> served_first = inference.first_variables();
  const std::vector<Tensor> inputs = training.inputs(2), samples = inference.inputs(2);

  /// Lives on the threads of `system`, or of its own if there is none. Returns the weights after
  /// two updates, if there is enough memory for everything.
  Variables run(std::shared_ptr<ActorSystem> system) const {
    Variables weights;
    or_out_of_memory([&] {
      if (!system) system = std::make_shared<ActorSystem>(SystemOptions{.threads = 2});
      PipelineRuntime trainer(training.setup(), training.rules(), system);
      or_out_of_memory([&] { trainer.write_variables(first); });
      or_out_of_memory([&] { trainer.step(inputs, training.micro_batches(2)); });
      or_out_of_memory([&] { weights = trainer.read_variables(); });
      or_out_of_memory([&] {
        PipelineRuntime server(inference.setup(), {}, trainer.shared_system());
        server.write_variables(served_first);
        server.step(samples, inference.micro_batches(2));
        server.read_status();
      });
      or_out_of_memory([&] { trainer.read_optimizer(); });
      or_out_of_memory([&] { EXPECT_TRUE(trainer.end()); });
    });
    return weights;
  }
};

void expect_each_failure_is_survived(const FailureSteps& steps,
                                     const std::shared_ptr<ActorSystem>& system) {
  const Life life;
  const Variables expected = life.run(system);
  ASSERT_FALSE(expected.empty());
  const std::size_t threads = testing::thread_count();
  const std::int64_t failures = fail_each_allocation(
      [&](std::int64_t first) {
        failing = first;
        life.run(system);
      },
      steps);
  EXPECT_GT(failures, 100);
  EXPECT_TRUE(testing::threads_fall_to(threads));
  EXPECT_TRUE(same_bits(life.run(system), expected)) << "a fresh model";
}

TEST(PipelineMemory, ThatIsMissingOnceEndsNoMoreThanTheCallOrTheModel) {
  expect_each_failure_is_survived({}, nullptr);
}

// On threads that are there: CAF's constructor of a system may end the process if memory is missing
// for long, which ActorSystem prevents only by making sure of memory beforehand.
TEST(PipelineMemory, ThatIsMissingForAWhileDoesNotEither) {
  const auto system = std::make_shared<ActorSystem>(SystemOptions{.threads = 2});
  for (const std::int64_t count : {2, 5, 20, 100'000})
    expect_each_failure_is_survived({.count = count, .stride = 9, .first = 1 + count % 9}, system);
}

}  // namespace
}  // namespace penstock::actors
