// These functions end a TrainingModel or an InferenceModel. What the model runs is freed when its
// last owner drops it: the host's handle, or a call during which the handle was destroyed.
#pragma once

#include <memory>

#include "engine/model/model_calls.hpp"

namespace penstock {

/// A FreeModel frees what a model runs. In a forked process, nothing is ever freed.
struct FreeModel {
  template <class Impl>
  void operator()(Impl* impl) const noexcept {
    const ModelEnd end(impl->calls());
    if (end.may_free()) delete impl;
  }
};

/// Waits until no other thread is in a call of the model, and then resets `impl`, by which a handle
/// refers to what its model runs.
template <class Impl>
void end_model(std::shared_ptr<Impl>& impl) noexcept {
  if (!impl) return;
  const ModelEnd end(impl->calls());
  impl.reset();
}

}  // namespace penstock
