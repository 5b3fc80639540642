// as_one_call: how every call of a TrainingModel or an InferenceModel runs. It is the one call of
// its Model; and at both of its ends, the inputs of earlier calls, and its own, that the engine has
// done with are released on the thread that calls.
#pragma once

#include <string_view>

#include "engine/model/model_calls.hpp"
#include "engine/running_model.hpp"
#include "engine/values/out_of_memory.hpp"

namespace penstock {

class ReturnedInputs {
 public:
  explicit ReturnedInputs(RunningModel& model) noexcept : model_(model) { model_.release_inputs(); }
  ~ReturnedInputs() { model_.release_inputs(); }
  ReturnedInputs(const ReturnedInputs&) = delete;
  ReturnedInputs& operator=(const ReturnedInputs&) = delete;

 private:
  RunningModel& model_;
};

/// Returns what `call` returns. The log of `model` is told afterwards.
/// @throws Error busy or closed as ModelCall; out_of_memory naming the call, if memory runs out in
/// it; what `call` throws.
auto as_one_call(ModelCalls& calls, RunningModel& model, std::string_view name, const auto& call) {
  const ModelCall under_way(calls, name);
  const ReturnedInputs inputs(model);
  return model.log().after([&] {
    const ModelCall::Undisturbed alone(under_way);
    return or_out_of_memory(name, call);
  });
}

}  // namespace penstock
