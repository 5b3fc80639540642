// end_model: what the destructors of TrainingModel and InferenceModel do.
#pragma once

#include <memory>

#include "engine/model/model_calls.hpp"

namespace penstock {

/// Ends what `impl` runs and frees it, once the call of another thread has returned. In a forked
/// process it is left as it is, for good.
template <class Impl>
void end_model(std::unique_ptr<Impl>& impl) noexcept {
  if (!impl) return;
  const ModelEnd end(impl->calls());
  if (end.may_free())
    impl.reset();
  else
    static_cast<void>(impl.release());
}

}  // namespace penstock
