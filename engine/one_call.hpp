// as_one_call says how every call of a TrainingModel or an InferenceModel runs, and
// made_as_one_call how each is made. It is the one call of its Model. At both ends of a call,
// inputs of its own and of earlier ones that the engine has done with are released on the thread
// that calls.
#pragma once

#include <memory>
#include <string_view>

#include "engine/end_model.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_calls.hpp"
#include "engine/running_model.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {

class ReturnedInputs {
 public:
  /// @throws Error closed in a process that was forked from the model's.
  ReturnedInputs(RunningModel& model, const ModelCalls& calls) : model_(model), calls_(calls) {
    calls_.expect_own_process();
    model_.release_inputs();
  }
  /// In a process that was forked inside the call, the inputs are left as they are.
  ~ReturnedInputs() {
    if (calls_.in_own_process()) model_.release_inputs();
  }
  ReturnedInputs(const ReturnedInputs&) = delete;
  ReturnedInputs& operator=(const ReturnedInputs&) = delete;

 private:
  RunningModel& model_;
  const ModelCalls& calls_;
};

/// Returns what `call` returns, to which `*model` is given. The log of the model, and logs of other
/// models of the same `Model` that have lines, are told afterwards. They may destroy the handle
/// that holds `model`, which lives until the call has ended.
/// @throws Error busy or closed as ModelCall; busy while a layer is being added; out_of_memory
/// naming the call, if memory runs out in it; what `call` throws, else what the log of the called
/// model throws. What logs of other models throw is dropped: the result is not theirs to take.
template <class Impl>
auto as_one_call(const std::shared_ptr<Impl>& model, std::string_view name, const auto& call) {
  return or_out_of_memory(name, [&] {
    const std::shared_ptr<ModelCalls> calls = model->calls();
    const ModelCall under_way(*calls, name);
    calls->expect_grown(name);
    const std::shared_ptr<Impl> kept = model;
    const ReturnedInputs inputs(kept->running(), *calls);
    return kept->running().log().after(*calls, [&] {
      const ModelCall::Undisturbed alone(under_way);
      return or_out_of_memory(name, [&] { return call(*kept); });
    });
  });
}

/// Returns an `Impl`, made of `model` and `settings`, which is what a TrainingModel or an
/// InferenceModel runs. Its log is told afterwards how it was compiled.
/// @throws Error as as_one_call() and the constructor of `Impl`.
template <class Impl>
std::shared_ptr<Impl> made_as_one_call(const Model& model, std::string_view name,
                                       const auto&... settings) {
  return or_out_of_memory(name, [&] {
    const std::shared_ptr<ModelCalls> calls = ModelAccess::calls(model);
    const ModelCall under_way(*calls, name);
    calls->expect_grown(name);
    std::shared_ptr<Impl> made;
    {
      const ModelCall::Undisturbed alone(under_way);
      made = std::shared_ptr<Impl>(new Impl(model, settings...), FreeModel());
    }
    made->running().log().after(*calls, [&] { made->running().log_compilation(); });
    return made;
  });
}

}  // namespace penstock
