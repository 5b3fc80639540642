#include "penstock/training_model.hpp"

#include <cstring>
#include <utility>

#include "engine/end_model.hpp"
#include "engine/files/weights_file.hpp"
#include "engine/host_call.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/parameter_rules.hpp"
#include "engine/model_body.hpp"
#include "engine/named_inputs.hpp"
#include "engine/names/known_names.hpp"
#include "engine/optimizer_state.hpp"
#include "engine/replica_buffers.hpp"
#include "engine/rule_metadata.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

const Tensor& named(const std::vector<NamedTensor>& tensors, const char* kind,
                    const std::string& name) {
  for (const NamedTensor& one : tensors)
    if (one.name == name) return one.tensor;
  throw Error(Errc::invalid_argument, std::string("there is no ") + kind + " named " +
                                          quoted_text(name) +
                                          instead_of(name, tensors, &NamedTensor::name));
}

/// Returns `state` in memory that is not the host's, whose deleters would run inside of some later
/// call.
std::vector<NamedTensor> copied(const std::vector<NamedTensor>& state) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : state) {
    Tensor copy;
    if (tensor) {
      const auto block = allocate_block(tensor.bytes());
      if (tensor.bytes() > 0) std::memcpy(block.get(), tensor.raw(), tensor.bytes());
      copy = Tensor::wrap(tensor.dtype(), tensor.shape(), block);
    }
    copies.push_back({name, std::move(copy)});
  }
  return copies;
}

}  // namespace

const Tensor& StepResult::output(const std::string& name) const {
  return or_out_of_memory("StepResult::output",
                          [&]() -> const Tensor& { return named(outputs, "output", name); });
}

const Tensor& StepResult::anchor(const std::string& name) const {
  return or_out_of_memory("StepResult::anchor",
                          [&]() -> const Tensor& { return named(anchors, "anchor", name); });
}

class TrainingModel::Impl : public ModelBody {
 public:
  Impl(const Model& model, const Options& options, const Optimizer& optimizer,
       const Objective& objective = {})
      : ModelBody(model, options, &optimizer, objective), model_(model), objective_(objective) {}

  const Model& model() const { return model_; }
  const Objective& objective() const { return objective_; }

  WeightsFile state_file() {
    const graph::OptimizerRule& main = *rule_of(running().optimizer().settings).rule;
    WeightsFile file{.metadata = rule_metadata(running().plan(), running().rules(), main.name)};
    for (const NamedTensor& state : other_plans().open().optimizer_state())
      file.tensors.emplace(state.name, state.tensor);
    return file;
  }

  void load_state(const std::string& path) {
    const std::string what = "optimizer state file";
    const std::string subject = what + " \"" + printable(path) + '"';
    const WeightsFile file = read_weights_file(
        path, what, [&](const WeightsHeader& header) { expect_state(header, subject); });
    std::vector<NamedTensor> state;
    for (const auto& [name, tensor] : file.tensors) state.push_back({name, tensor});
    other_plans().open().set_optimizer_state(state, subject, StateNumbers::finite);
  }

  /// Returns the plan whose replicas take `buffers`, or null if none does: if all replicas begin
  /// with the buffers of the first one. @throws Error as ModelAccess::expect_replica_buffers().
  RunningModel* plan_for(const ReplicaBuffers& buffers) {
    other_plans().open();
    if (std::ssize(buffers.buffers) + 1 != running().replicas() || buffers.buffers.empty())
      return nullptr;
    const auto [axes, shortest, longest] = running().dynamic_length();
    if (buffers.length < shortest || buffers.length > longest)
      throw Error(Errc::invalid_argument,
                  "buffers of replicas: expected those of a step of length " +
                      std::to_string(shortest) + " to " + std::to_string(longest) +
                      ", got length " + std::to_string(buffers.length));
    // No step of a model with static shapes has the length, so that none goes on with the buffers.
    if (options().static_shapes && buffers.length != longest) return nullptr;
    RunningModel& plan = other_plans().take_whole(buffers.length);
    for (const auto& of_replica : buffers.buffers) plan.expect_buffers(of_replica);
    return &plan;
  }

 private:
  void expect_state(const WeightsHeader& header, const std::string& subject) {
    expect_rules(header.metadata, running().plan(), running().rules(), subject);
    std::vector<NamedType> types;
    for (const WeightsEntry& entry : header.entries)
      types.push_back({entry.name, {entry.dtype(), entry.shape}});
    running().expect_optimizer_state(types, subject);
  }

  Model model_;
  Objective objective_;
};

TrainingModel::TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer)
    : impl_(made_as_one_call<Impl>(model, "the constructor of a TrainingModel", options,
                                   optimizer)) {}

TrainingModel::TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer,
                             const Objective& objective)
    : impl_(made_as_one_call<Impl>(model, "the constructor of a TrainingModel", options, optimizer,
                                   objective)) {}

std::shared_ptr<ModelCalls> ModelAccess::calls(const TrainingModel& model) {
  return model.impl_->calls();
}

TrainingModel ModelAccess::handle(const TrainingModel& model) {
  return TrainingModel(model.impl_);
}

const Model& ModelAccess::trained(const TrainingModel& model) {
  return model.impl_->model();
}

const Objective& ModelAccess::objective(const TrainingModel& model) {
  return model.impl_->objective();
}

TrainingModel::TrainingModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

TrainingModel::~TrainingModel() {
  end_model(impl_);
}

TrainingModel::TrainingModel(TrainingModel&&) noexcept = default;

TrainingModel& TrainingModel::operator=(TrainingModel&& other) noexcept {
  if (this == &other) return *this;
  // As the old model ends, a deleter of the host's may destroy this handle.
  std::shared_ptr<Impl> old = std::exchange(impl_, std::move(other.impl_));
  TrainingModel& result = *this;
  end_model(old);
  return result;
}

void TrainingModel::detach() {
  as_one_call(impl_, "TrainingModel::detach", [](auto& impl) { impl.other_plans().detach(); });
}
void TrainingModel::attach() {
  as_one_call(impl_, "TrainingModel::attach",
              [](auto& impl) { impl.other_plans().open().attach(); });
}
bool TrainingModel::attached() const noexcept {
  return impl_->running().any_attached();
}
const Options& TrainingModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& TrainingModel::inputs() const noexcept {
  return impl_->running().inputs();
}
StepResult TrainingModel::outline() const {
  return or_out_of_memory("TrainingModel::outline", [&] { return impl_->running().outline(); });
}
StepResult TrainingModel::step(std::span<const Tensor> inputs, std::stop_token stop) {
  Impl& impl = *impl_;
  HostCall call(impl_, "TrainingModel::step");
  try {
    StepResult result = impl.run(inputs, stop);
    call.end();
    return result;
  } catch (...) {
    call.fail();
  }
}
StepResult TrainingModel::step(const std::vector<NamedTensor>& inputs, std::stop_token stop) {
  return step(in_order("TrainingModel::step", this->inputs(), inputs), std::move(stop));
}
void TrainingModel::check_samples(std::int64_t samples) const {
  or_out_of_memory("TrainingModel::check_samples", [&] { impl_->check_samples(samples); });
}
void TrainingModel::set_optimizer(const Optimizer& optimizer) {
  as_one_call(impl_, "TrainingModel::set_optimizer",
              [&](auto& impl) { impl.other_plans().open().set_optimizer(optimizer); });
}
Optimizer TrainingModel::optimizer() const {
  return or_out_of_memory("TrainingModel::optimizer", [&] {
    impl_->calls()->expect_own_process();
    return impl_->running().optimizer();
  });
}
std::vector<NamedTensor> TrainingModel::optimizer_state() const {
  return as_one_call(impl_, "TrainingModel::optimizer_state",
                     [](auto& impl) { return impl.other_plans().open().optimizer_state(); });
}
void TrainingModel::set_optimizer_state(const std::vector<NamedTensor>& state) {
  as_one_call(impl_, "TrainingModel::set_optimizer_state", [&](auto& impl) {
    impl.other_plans().open().set_optimizer_state(copied(state), "optimizer state",
                                                  StateNumbers::finite);
  });
}
void TrainingModel::save_optimizer_state(const std::string& path) const {
  as_one_call(impl_, "TrainingModel::save_optimizer_state",
              [&](auto& impl) { write_weights_file(path, impl.state_file()); });
}
void TrainingModel::save_optimizer_state(OutputFile& file) const {
  as_one_call(impl_, "TrainingModel::save_optimizer_state",
              [&](auto& impl) { write_weights(file, impl.state_file()); });
}
void TrainingModel::load_optimizer_state(const std::string& path) {
  as_one_call(impl_, "TrainingModel::load_optimizer_state",
              [&](auto& impl) { impl.load_state(path); });
}
Tensor TrainingModel::buffer(const std::string& name, int replica) const {
  return as_one_call(impl_, "TrainingModel::buffer", [&](auto& impl) {
    const int replicas = impl.options().topology.replication_factor;
    return impl.running().read_buffer(name, replica, replicas);
  });
}
void ModelAccess::expect_optimizer(const TrainingModel& model, const Optimizer& optimizer) {
  as_one_call(model.impl_, "restore_checkpoint",
              [&](auto& impl) { impl.other_plans().open().expect_optimizer(optimizer); });
}
void ModelAccess::expect_optimizer_state(const TrainingModel& model,
                                         const std::vector<NamedTensor>& state) {
  as_one_call(model.impl_, "restore_checkpoint", [&](auto& impl) {
    impl.other_plans().open().expect_optimizer_state(state, "optimizer state", StateNumbers::any);
  });
}
void ModelAccess::set_optimizer_state(TrainingModel& model, const std::vector<NamedTensor>& state) {
  as_one_call(model.impl_, "restore_checkpoint", [&](auto& impl) {
    impl.other_plans().open().set_optimizer_state(copied(state), "optimizer state",
                                                  StateNumbers::any);
  });
}
ReplicaBuffers ModelAccess::replica_buffers(const TrainingModel& model) {
  return as_one_call(model.impl_, "make_checkpoint",
                     [](auto& impl) { return impl.other_plans().open().replica_buffers(); });
}
void ModelAccess::expect_replica_buffers(TrainingModel& model, const ReplicaBuffers& buffers) {
  as_one_call(model.impl_, "restore_checkpoint", [&](auto& impl) { impl.plan_for(buffers); });
}
void ModelAccess::set_replica_buffers(TrainingModel& model, const ReplicaBuffers& buffers) {
  as_one_call(model.impl_, "restore_checkpoint", [&](auto& impl) {
    if (RunningModel* const plan = impl.plan_for(buffers))
      plan->set_replica_buffers(buffers.buffers);
  });
}
double TrainingModel::learning_rate() const {
  return on_hosts_thread("TrainingModel::learning_rate", [&] {
    const Optimizer current = optimizer();
    return current.learning_rate() * current.schedule.at(static_cast<std::int64_t>(updates()));
  });
}
std::uint64_t TrainingModel::updates() const noexcept {
  return impl_->running().updates();
}
CallReport TrainingModel::last_call() const {
  return or_out_of_memory("TrainingModel::last_call", [&] { return impl_->last_call(); });
}
const CompileReport& TrainingModel::compile_report() const noexcept {
  return impl_->running().compile_report();
}
std::vector<StageReport> TrainingModel::stage_reports() const {
  return as_one_call(impl_, "TrainingModel::stage_reports",
                     [](auto& impl) { return impl.running().stage_reports(); });
}
std::vector<TraceEvent> TrainingModel::take_trace() {
  return as_one_call(impl_, "TrainingModel::take_trace",
                     [](auto& impl) { return impl.other_plans().take_trace(); });
}
Profile TrainingModel::profile() const {
  return as_one_call(impl_, "TrainingModel::profile",
                     [](auto& impl) { return impl.running().profile(); });
}
std::uint64_t TrainingModel::dropped_events() const noexcept {
  return impl_->running().dropped_events();
}

}  // namespace penstock
