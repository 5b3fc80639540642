#include "engine/host_call.hpp"

#include <utility>

namespace penstock {

HostCall::HostCall(std::shared_ptr<ModelBody> model, std::string_view name) try
    : name_(name),
      calls_(model->calls()),
      under_way_(*calls_, name),
      model_(std::move(model)),
      inputs_(*model_, name),
      lines_(*calls_, model_->running().log()) {
  alone_.emplace(under_way_);
} catch (...) {
  rethrow_to_host(name);
}

void HostCall::end() {
  alone_.reset();
  lines_.release();
}

HostCall::ReturnedInputs::ReturnedInputs(ModelBody& model, std::string_view name) : model_(model) {
  // A call that is refused runs no function of the host's.
  model.calls()->expect_grown(name);
  model.running().release_inputs();
  // One of the host's deleters may have forked this process.
  model.calls()->expect_own_process();
}

HostCall::ReturnedInputs::~ReturnedInputs() {
  if (model_.calls()->in_own_process()) model_.running().release_inputs();
}

}  // namespace penstock
