// A HostCall lives from the first line to the last of a call of a TrainingModel or an
// InferenceModel. While it lives, no other thread can call the Model, the calling thread has the
// floating-point environment of CanonicalFloats, and lines of the log wait. At its begin and at its
// end, inputs of this call and of earlier ones that the engine no longer needs are released on the
// calling thread. The inputs' deleters are the host's, and may destroy the handle whose function
// makes the call. After the constructor, that function may use the model, which the call keeps, but
// not the handle. If the call is the last to keep the model, the model ends inside the call.
//
//   Impl& impl = *impl_;
//   HostCall call(impl_, "TrainingModel::step");
//   try {
//     StepResult result = impl.run(inputs, stop);
//     call.end();
//     return result;
//   } catch (...) {
//     call.fail();
//   }
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "engine/compile_request.hpp"
#include "engine/end_model.hpp"
#include "engine/log/log.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_calls.hpp"
#include "engine/model_body.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {

class HostCall {
 public:
  /// Begins the call `name`, a literal, of `model`, which it keeps until the call has ended.
  /// @throws Error busy or closed as ModelCall; busy while a layer is being added; out_of_memory.
  HostCall(std::shared_ptr<ModelBody> model, std::string_view name);
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  /// Ends a call that has done its work. Lines that wait are told to the log of the model, and to
  /// logs of other models of the same `Model`. The logs' functions may destroy the host's handle of
  /// the model.
  /// @throws what the log of the called model throws. What logs of other models throw is dropped,
  /// so that the call returns its result.
  void end();
  /// Ends a call that has failed: rethrow_to_host() throws the exception that is being handled. The
  /// destructor tells the logs.
  [[noreturn]] void fail() const { rethrow_to_host(name_); }

 private:
  /// ReturnedInputs release inputs of the host's when a call begins and when it ends. In a process
  /// that was forked inside the call, nothing is released at the end.
  class ReturnedInputs {
   public:
    /// Releases inputs at the begin of the call `name`. @throws Error busy while a layer is being
    /// added; closed in a process that a deleter of the host's has forked from the model's.
    ReturnedInputs(ModelBody& model, std::string_view name);
    ~ReturnedInputs();
    ReturnedInputs(const ReturnedInputs&) = delete;
    ReturnedInputs& operator=(const ReturnedInputs&) = delete;

   private:
    ModelBody& model_;
  };

  const MemoryWatch watch_;
  const std::string_view name_;
  const std::shared_ptr<ModelCalls> calls_;
  const ModelCall under_way_;
  const std::shared_ptr<ModelBody> model_;
  const ReturnedInputs inputs_;
  Log::Held lines_;
  std::optional<ModelCall::Undisturbed> alone_;  // `alone_` is empty after end().
};

/// Makes a HostCall of one expression: calls `call` with `*model`, and returns the result.
/// @throws Error as the constructor of HostCall and HostCall::end(); what `call` throws, as
/// rethrow_to_host() does.
template <class Impl>
auto as_one_call(const std::shared_ptr<Impl>& model, std::string_view name, const auto& call) {
  Impl& impl = *model;
  HostCall under_way(model, name);
  try {
    if constexpr (std::is_void_v<decltype(call(impl))>) {
      call(impl);
      under_way.end();
    } else {
      auto result = call(impl);
      under_way.end();
      return result;
    }
  } catch (...) {
    under_way.fail();
  }
}

/// Makes the `Impl` that a TrainingModel or an InferenceModel runs, of `model` and `settings`. The
/// log is told afterwards how the model was compiled. The host's progress function may destroy the
/// handle `model`, or assign to it.
/// @throws Error as as_one_call() and the constructor of `Impl`.
template <class Impl>
std::shared_ptr<Impl> made_as_one_call(const Model& model, std::string_view name,
                                       const auto&... settings) {
  return or_out_of_memory(name, [&] {
    const Model kept = model;
    const std::shared_ptr<ModelCalls> calls = ModelAccess::calls(kept);
    const ModelCall under_way(*calls, name);
    calls->expect_grown(name);
    std::shared_ptr<Impl> made;
    {
      const ModelCall::Undisturbed alone(under_way);
      made = std::shared_ptr<Impl>(new Impl(kept, settings...), FreeModel());
      // If the host's function forks this process, `made` is not freed in the child.
      tell_ready(made->options());
    }
    made->running().log().after(*calls, [&] { made->running().log_compilation(); });
    return made;
  });
}

}  // namespace penstock
