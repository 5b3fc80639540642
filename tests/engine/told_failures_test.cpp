// These tests check that a model's failure reaches its host with the code of the failure, whatever
// memory is missing on the way, and that the model goes on afterwards.
#include <gtest/gtest.h>

#include <string_view>
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
/// host is told of the failure once, by that call or by the next one, if the log was told of it,
/// and that the call after it succeeds.
template <class AModel>
void expect_told_once() {
  const auto unusable = samples(full, 9), usable = samples(full);
  bool reached = true;
  for (std::int64_t number = 1; reached; ++number) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    ASSERT_LT(number, 5000);
    int logged = 0, told = 0;
    Options options = with_limit(0);
    options.runtime.log = [&logged](std::string_view) { ++logged; };
    options.runtime.log_level = LogLevel::error;
    AModel model(network(), options);
    {
      const AllocationFailures failures(number, 1, FailsOn::this_thread);
      const Errc code = code_of_call(model, unusable);
      ASSERT_TRUE(code == Errc::stage_failed || code == Errc::out_of_memory);
      told += code == Errc::stage_failed;
      reached = failures.reached();
    }
    try {
      call(model, usable);
    } catch (const Error& error) {
      ASSERT_EQ(to_string(error.code()), to_string(Errc::stage_failed));
      ++told;
    }
    ASSERT_GE(told, logged) << "the log was told of a failure of which no call has told";
    ASSERT_LE(told, 1);
    ASSERT_NO_THROW(call(model, usable));
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
