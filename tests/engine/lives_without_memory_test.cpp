// Whichever allocation fails in the life of a training and an inference of one model, on whatever
// thread: their host sees Errors of a lack of memory and of models that this has closed, and
// nothing else.
#include <gtest/gtest.h>

#include <string>

#include "penstock/error.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

std::int64_t failing = 0;  // the first allocation that fails in this attempt

/// Makes `call`, which may be refused for want of memory, or because an earlier call was.
template <class Call>
void or_refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Errc::out_of_memory || error.code() == Errc::closed)
        << "allocation " << failing << ": " << to_string(error.code()) << ": " << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "allocation " << failing << ": no Error: " << error.what();
  }
}

Options two_stages_two_replicas() {
  Options options = options_for(2, 2, 1);
  options.topology.replication_factor = 2;
  options.training.offload.optimizer_state.on = true;
  options.training.offload.activations.on = true;
  options.runtime.stall_seconds = 30;
  return options;
}

/// What the host has beforehand.
struct Host {
  const Model untrained = plain_model();
  const Options options = two_stages_two_replicas();
  const Optimizer optimizer = AdamW{.learning_rate = 0.1};
  // Vectors that are made here, since one that a call is given would be the test's own allocation.
  const std::vector<Tensor> inputs = samples(8, false), questions{samples(4, false)[0]};

  /// The weight after an update, if there is memory for everything.
  Tensor live() const {
    Tensor weight;
    or_refused([&] {
      const Model model = untrained.clone();
      TrainingModel training(model, options, optimizer);
      or_refused([&] { training.step(inputs); });
      or_refused([&] {
        InferenceModel inference(model, options);
        inference.run(questions);
      });
      or_refused([&] { weight = model.weight("fc1.weight"); });
      or_refused([&] { training.detach(); });
    });
    return weight;
  }
};

TEST(LivesWithoutMemory, EndInErrorsOfThatKindOnlyAndLeaveTheNextModelAlone) {
  const Host host;
  const Tensor expected = host.live();
  ASSERT_TRUE(expected);
  const std::size_t threads = thread_count();
  const std::int64_t failures = fail_each_allocation([&](std::int64_t first) {
    failing = first;
    host.live();
  });
  EXPECT_GT(failures, 100);
  EXPECT_TRUE(threads_fall_to(threads));
  const Tensor next = host.live();
  ASSERT_TRUE(next);
  EXPECT_TRUE(same_bits(next, expected));
}

}  // namespace
}  // namespace penstock::testing
