// These tests check that a model's failure reaches its host with the code of the failure, whatever
// memory is missing on the way.
#include <gtest/gtest.h>

#include <vector>

#include "penstock/error.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::testing {
namespace {

StepResult call(TrainingModel& model, const std::vector<Tensor>& inputs) {
  return model.step(inputs);
}

StepResult call(InferenceModel& model, const std::vector<Tensor>& inputs) {
  return model.run(inputs);
}

/// Returns the code of the Error that a call with `inputs` throws.
template <class AModel>
Errc code_of_call(AModel& model, const std::vector<Tensor>& inputs) {
  try {
    call(model, inputs);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "the call has thrown nothing";
  return Errc::internal;
}

/// Makes a call that fails, with each of the host's allocations failing in turn. Expects that the
/// host is told of the failure once, by that call or by the next one, before it is told that the
/// model is closed.
template <class AModel>
void expect_told_once() {
  const auto unusable = samples(full, 9), usable = samples(full);
  bool reached = true;
  for (std::int64_t number = 1; reached; ++number) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    ASSERT_LT(number, 5000);
    AModel model(network(), with_limit(0));
    Errc first;
    {
      const AllocationFailures failures(number, 1, FailsOn::this_thread);
      first = code_of_call(model, unusable);
      reached = failures.reached();
    }
    if (first == Errc::out_of_memory) first = code_of_call(model, unusable);
    ASSERT_EQ(to_string(first), to_string(Errc::stage_failed));
    ASSERT_EQ(to_string(code_of_call(model, usable)), to_string(Errc::closed));
  }
}

TEST(ToldFailures, OfTrainingComeUnderTheirOwnCodeOnce) {
  expect_told_once<TrainingModel>();
}

TEST(ToldFailures, OfInferenceComeUnderTheirOwnCodeOnce) {
  expect_told_once<InferenceModel>();
}

}  // namespace
}  // namespace penstock::testing
