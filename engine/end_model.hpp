// A TrainingModel or an InferenceModel ends in this way: what it runs is freed with the last of
// those who share it. That is the host's handle, or a call in which the handle was destroyed.
#pragma once

#include <memory>

#include "engine/model/model_calls.hpp"

namespace penstock {

/// Frees what a model runs. In a forked process it is left as it is, for good.
struct FreeModel {
  template <class Impl>
  void operator()(Impl* impl) const noexcept {
    const ModelEnd end(impl->calls());
    if (end.may_free()) delete impl;
  }
};

/// Drops what a handle's model runs, once the call of another thread has returned.
template <class Impl>
void end_model(std::shared_ptr<Impl>& impl) noexcept {
  if (!impl) return;
  const ModelEnd end(impl->calls());
  impl.reset();
}

}  // namespace penstock
