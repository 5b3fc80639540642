#include "engine/host_call.hpp"

namespace penstock {

HostCall::HostCall(ModelBody& model, std::string_view name) try
    : name_(name),
      calls_(model.calls()),
      under_way_(*calls_, name),
      model_(model.shared_from_this()),
      inputs_(*model_),
      lines_(*calls_, model_->running().log()) {
  calls_->expect_grown(name);
  alone_.emplace(under_way_);
} catch (...) {
  rethrow_to_host(name);
}

void HostCall::end() {
  alone_.reset();
  lines_.release();
}

HostCall::ReturnedInputs::ReturnedInputs(ModelBody& model) : model_(model) {
  model.calls()->expect_own_process();
  model.running().release_inputs();
}

HostCall::ReturnedInputs::~ReturnedInputs() {
  if (model_.calls()->in_own_process()) model_.running().release_inputs();
}

}  // namespace penstock
