#include "penstock/inference_model.hpp"

#include <utility>

#include "engine/end_model.hpp"
#include "engine/host_call.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model_body.hpp"
#include "engine/named_inputs.hpp"
#include "graph/compile/model_inputs.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/objective.hpp"

namespace penstock {

class InferenceModel::Impl : public ModelBody {
 public:
  Impl(const Model& model, const Options& options, const std::vector<std::string>& outputs)
      : Impl(model, options, Objective{.outputs = outputs}) {}
  Impl(const Model& model, const Options& options, const Objective& objective = {})
      : ModelBody(model, options, nullptr, objective),
        training_inputs_(graph::step_inputs(ModelAccess::graph(model))),
        targets_(graph::targets_of(ModelAccess::graph_of(model, objective))) {}

  const std::vector<std::string>& training_inputs() const { return training_inputs_; }
  const graph::Targets& targets() const { return targets_; }

 private:
  std::vector<std::string> training_inputs_;
  graph::Targets targets_;
};

InferenceModel::InferenceModel(const Model& model, const Options& options)
    : impl_(made_as_one_call<Impl>(model, "the constructor of an InferenceModel", options)) {}

InferenceModel::InferenceModel(const Model& model, const Options& options,
                               const std::vector<std::string>& outputs)
    : impl_(made_as_one_call<Impl>(model, "the constructor of an InferenceModel", options,
                                   outputs)) {}

std::shared_ptr<ModelCalls> ModelAccess::calls(const InferenceModel& model) {
  return model.impl_->calls();
}

InferenceModel ModelAccess::handle(const InferenceModel& model) {
  return InferenceModel(model.impl_);
}

const graph::Targets& ModelAccess::targets(const InferenceModel& model) {
  return model.impl_->targets();
}

InferenceModel::InferenceModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

InferenceModel::~InferenceModel() {
  end_model(impl_);
}

InferenceModel::InferenceModel(InferenceModel&&) noexcept = default;

InferenceModel& InferenceModel::operator=(InferenceModel&& other) noexcept {
  if (this == &other) return *this;
  // As the old model ends, a deleter of the host's may destroy this handle.
  std::shared_ptr<Impl> old = std::exchange(impl_, std::move(other.impl_));
  InferenceModel& result = *this;
  end_model(old);
  return result;
}

void InferenceModel::detach() {
  as_one_call(impl_, "InferenceModel::detach", [](auto& impl) { impl.other_plans().detach(); });
}
void InferenceModel::attach() {
  as_one_call(impl_, "InferenceModel::attach",
              [](auto& impl) { impl.other_plans().open().attach(); });
}
bool InferenceModel::attached() const noexcept {
  return impl_->running().any_attached();
}
const Options& InferenceModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& InferenceModel::inputs() const noexcept {
  return impl_->running().inputs();
}
const std::vector<std::string>& InferenceModel::training_inputs() const noexcept {
  return impl_->training_inputs();
}
StepResult InferenceModel::outline() const {
  return or_out_of_memory("InferenceModel::outline", [&] { return impl_->running().outline(); });
}
std::int64_t InferenceModel::samples_per_run() const noexcept {
  return impl_->call_size().samples();
}
StepResult InferenceModel::run(std::span<const Tensor> inputs, std::stop_token stop) {
  Impl& impl = *impl_;
  HostCall call(impl_, "InferenceModel::run");
  try {
    StepResult result = impl.run(inputs, stop);
    call.end();
    return result;
  } catch (...) {
    call.fail();
  }
}
StepResult InferenceModel::run(const std::vector<NamedTensor>& inputs, std::stop_token stop) {
  return run(in_order("InferenceModel::run", this->inputs(), inputs), std::move(stop));
}
void InferenceModel::check_samples(std::int64_t samples) const {
  or_out_of_memory("InferenceModel::check_samples", [&] { impl_->check_samples(samples); });
}
std::uint64_t InferenceModel::weight_uploads() const noexcept {
  return impl_->running().weight_uploads();
}
CallReport InferenceModel::last_call() const {
  return or_out_of_memory("InferenceModel::last_call", [&] { return impl_->last_call(); });
}
const CompileReport& InferenceModel::compile_report() const noexcept {
  return impl_->running().compile_report();
}
std::vector<StageReport> InferenceModel::stage_reports() const {
  return as_one_call(impl_, "InferenceModel::stage_reports",
                     [](auto& impl) { return impl.running().stage_reports(); });
}
std::vector<TraceEvent> InferenceModel::take_trace() {
  return as_one_call(impl_, "InferenceModel::take_trace",
                     [](auto& impl) { return impl.other_plans().take_trace(); });
}
Profile InferenceModel::profile() const {
  return as_one_call(impl_, "InferenceModel::profile",
                     [](auto& impl) { return impl.running().profile(); });
}
std::uint64_t InferenceModel::dropped_events() const noexcept {
  return impl_->running().dropped_events();
}

}  // namespace penstock
