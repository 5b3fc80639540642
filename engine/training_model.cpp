#include "penstock/training_model.hpp"

#include <utility>

#include "engine/files/weights_file.hpp"
#include "engine/model/optimizer_rules.hpp"
#include "engine/running_model.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

const Tensor& named(const std::vector<NamedTensor>& tensors, const char* kind,
                    const std::string& name) {
  for (const NamedTensor& one : tensors)
    if (one.name == name) return one.tensor;
  throw Error(Errc::invalid_argument,
              std::string("there is no ") + kind + " named \"" + name + "\"");
}

}  // namespace

const Tensor& StepResult::output(const std::string& name) const {
  return named(outputs, "output", name);
}

const Tensor& StepResult::anchor(const std::string& name) const {
  return named(anchors, "anchor", name);
}

class TrainingModel::Impl {
 public:
  Impl(const Model& model, const Options& options, const Optimizer& optimizer)
      : options_(options), optimizer_(optimizer), running_(model, options, &optimizer) {}

  StepResult step(std::span<const Tensor> inputs) {
    const std::int64_t updates = updates_in(running_.check(inputs));
    return running_.run(inputs, updates * options_.training.gradient_accumulation);
  }

  void set_optimizer(const Optimizer& optimizer) {
    running_.set_rules(optimizer);
    optimizer_ = optimizer;
  }

  WeightsFile state_file() {
    WeightsFile file;
    file.metadata[rule_key] = rule_name();
    for (const NamedTensor& state : running_.optimizer_state())
      file.tensors.emplace(state.name, state.tensor);
    return file;
  }

  void load_state(const std::string& path) {
    const std::string what = "optimizer state file", who = what + " \"" + path + '"';
    const WeightsFile file = read_weights_file(path, what);
    const auto rule = file.metadata.find(rule_key);
    if (rule == file.metadata.end() || rule->second != rule_name())
      throw Error(
          Errc::invalid_data,
          who + ": expected the state of " + rule_name() + ", got " +
              (rule == file.metadata.end() ? "a file of no optimizer" : "that of " + rule->second));
    std::vector<NamedTensor> state;
    for (const auto& [name, tensor] : file.tensors) state.push_back({name, tensor});
    running_.set_optimizer_state(state, who);
  }

  void set_state(const std::vector<NamedTensor>& state) {
    running_.set_optimizer_state(state, "optimizer state");
  }

  const Options& options() const { return options_; }
  const std::vector<std::string>& inputs() const { return running_.inputs(); }
  const Optimizer& optimizer() const { return optimizer_; }
  RunningModel& running() { return running_; }

 private:
  std::int64_t updates_in(std::int64_t rows) const {
    const std::int64_t per_update = options_.samples_per_step() / options_.device_iterations;
    if (rows > 0 && rows % per_update == 0 && rows / per_update <= options_.device_iterations)
      return rows / per_update;
    throw Error(Errc::shape_mismatch,
                "step: expected a multiple of " + std::to_string(per_update) +
                    " samples (batch size x gradient accumulation x replicas), at most " +
                    std::to_string(options_.samples_per_step()) + ", got " + std::to_string(rows));
  }

  static constexpr const char* rule_key = "optimizer";
  std::string rule_name() const { return std::string(rule_of(optimizer_.settings).rule->name); }

  Options options_;
  Optimizer optimizer_;
  RunningModel running_;
};

TrainingModel::TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer)
    : impl_(std::make_unique<Impl>(model, options, optimizer)) {}
TrainingModel::~TrainingModel() = default;
TrainingModel::TrainingModel(TrainingModel&&) noexcept = default;
TrainingModel& TrainingModel::operator=(TrainingModel&&) noexcept = default;

const Options& TrainingModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& TrainingModel::inputs() const noexcept {
  return impl_->inputs();
}
StepResult TrainingModel::step(std::span<const Tensor> inputs) {
  return impl_->step(inputs);
}
void TrainingModel::set_optimizer(const Optimizer& optimizer) {
  impl_->set_optimizer(optimizer);
}
const Optimizer& TrainingModel::optimizer() const noexcept {
  return impl_->optimizer();
}
std::vector<NamedTensor> TrainingModel::optimizer_state() const {
  return impl_->running().optimizer_state();
}
void TrainingModel::set_optimizer_state(const std::vector<NamedTensor>& state) {
  impl_->set_state(state);
}
void TrainingModel::save_optimizer_state(const std::string& path) const {
  write_weights_file(path, impl_->state_file());
}
void TrainingModel::save_optimizer_state(OutputFile& file) const {
  write_weights(file, impl_->state_file());
}
void TrainingModel::load_optimizer_state(const std::string& path) {
  impl_->load_state(path);
}
Tensor TrainingModel::buffer(const std::string& name, int replica) const {
  return impl_->running().read_buffer(name, replica, impl_->options().topology.replication_factor);
}
double TrainingModel::learning_rate() const {
  const Optimizer& optimizer = impl_->optimizer();
  return optimizer.learning_rate() *
         optimizer.schedule.at(static_cast<std::int64_t>(impl_->running().updates()));
}
std::uint64_t TrainingModel::updates() const noexcept {
  return impl_->running().updates();
}
const CompileReport& TrainingModel::compile_report() const noexcept {
  return impl_->running().compile_report();
}
std::vector<StageReport> TrainingModel::stage_reports() const {
  return impl_->running().stage_reports();
}
std::vector<TraceEvent> TrainingModel::take_trace() {
  std::vector<TraceEvent> events;
  impl_->running().append_trace(events);
  return in_order_of_time(std::move(events));
}

}  // namespace penstock
