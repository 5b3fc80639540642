#include "engine/running_model.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/execution/output_collector.hpp"
#include "engine/actor_setup.hpp"
#include "engine/compile_for_host.hpp"
#include "engine/compile_request.hpp"
#include "engine/idle_options.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/variable_attributes.hpp"
#include "engine/optimizer_state.hpp"
#include "engine/output_sizes.hpp"
#include "engine/profile/call_times.hpp"
#include "engine/profile/make_profile.hpp"
#include "engine/update_rules.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/report_text.hpp"

namespace penstock {
RunningModel::RunningModel(const Model& model, const Options& options, const Optimizer* optimizer,
                           const Objective& objective)
    : RunningModel(ModelAccess::weights(model),
                   std::make_shared<const graph::Graph>(ModelAccess::graph_of(model, objective)),
                   options, optimizer, ModelAccess::calls(model).get(), nullptr) {}

RunningModel::RunningModel(RunningModel& host, const Options& options, std::int64_t length)
    : RunningModel(
          host.weights_,
          length == host.length()
              ? host.graph_
              : std::make_shared<const graph::Graph>(graph_of_length(*host.graph_, length)),
          options, host.first_optimizer_ ? &*host.first_optimizer_ : nullptr, nullptr, &host) {}

RunningModel::RunningModel(std::shared_ptr<ParameterStore> weights,
                           std::shared_ptr<const graph::Graph> graph, const Options& options,
                           const Optimizer* optimizer, const LogScope* scope, RunningModel* host_of)
    : weights_(std::move(weights)),
      graph_(std::move(graph)),
      system_options_{.threads = options.runtime.threads},
      recovery_(options.recovery),
      may_be_shown_(options.runtime.monitor),
      host_of_(host_of),
      occupants_(host_of ? host_of->occupants_ : std::make_shared<IpuOccupants>()),
      uploads_(host_of ? host_of->uploads_ : std::make_shared<std::atomic<std::uint64_t>>(0)),
      lent_(host_of ? host_of->lent_ : std::make_shared<LentTensors>()) {
  const Stopwatch watch;
  options.validate();
  log_ = host_of ? host_of->log_ : Log(options.runtime, *scope);
  const graph::CompileRequest request =
      compile_request(options, optimizer, parameter_names(), host_of != nullptr);
  auto [compiled, cache_warning] = compile_for_host(*graph_, request, options.runtime);
  plan_ = std::make_shared<const graph::Plan>(std::move(compiled.plan));
  title_ = quoted_text(plan_->name);
  report_ = std::move(compiled.report);
  report_.call = optimizer ? size_of_step(options) : size_of_run(options);
  const std::int64_t micro_batches = report_.call.micro_batches_per_replica();
  if (host_of) report_.warnings.clear();  // The host has not set these options.
  if (!host_of)
    for (std::string& note : idle_options(options, micro_batches))
      report_.warnings.push_back(std::move(note));
  if (!cache_warning.empty()) report_.warnings.push_back(std::move(cache_warning));
  ipu_bytes_ = graph::needed_bytes(*plan_, options.topology.replication_factor, request.memory);
  ipu_limit_ = options.topology.ipu_memory_bytes;
  for (const graph::TensorInfo& input : plan_->inputs) inputs_.push_back(input.name);
  for (const Anchor& anchor : options.output.anchors) anchors_.push_back(anchor.name);

  for (const graph::VariableInfo& variable : plan_->variables)
    store_index_.push_back(weights_->position(variable.name));

  setup_ = actor_setup(options, plan_);
  setup_.profile = setup_.trace && !host_of;  // A profile covers full calls only.
  setup_.updates =
      host_of ? host_of->setup_.updates : std::make_shared<std::atomic<std::uint64_t>>(0);
  gauge_ = host_of ? host_of->gauge_
                   : std::make_shared<ModelGauge>(plan_->name, plan_->training, setup_.updates);
  report_.outputs = output_sizes(setup_, anchors_, micro_batches);
  rows_ = {.mode = setup_.outputs.mode,
           .period = static_cast<int>(setup_.outputs.period),
           .round = plan_->batch * setup_.replicas,
           .copies = options.topology.input_group_size};
  gradient_parts_ = actors::gradient_parts(setup_);
  trace_ = ModelTrace(setup_, host_of ? &host_of->trace_ : nullptr);
  if (optimizer) {
    rules_ = update_rules(*optimizer, *plan_, parameter_names(), gradient_parts_);
    first_optimizer_ = *optimizer;
    optimizer_.set(*optimizer);
  }
  const Stopwatch starting;
  const auto steps = static_cast<int>(report_.steps.size());
  if (request.progress) request.progress("start actors", steps, steps);
  if (occupants_->have_room_for(ipu_bytes_, ipu_limit_)) start_actors();
  report_.steps.push_back({"start actors", starting.seconds()});
  report_.seconds = watch.seconds();
  if (host_of) log_compilation();
}

void RunningModel::log_compilation() const {
  if (!log_.takes(LogLevel::warning)) return;
  if (log_.takes(LogLevel::info)) {
    log_(LogLevel::info,
         "compiled " + title_ + " for " + (plan_->training ? "training" : "inference"));
    log_(LogLevel::info, to_string(report_));  // The report includes the warnings.
    if (!not_shown_because_.empty())
      log_(LogLevel::debug, {title_, ": penstock-monitor cannot see it: ", not_shown_because_});
    return;
  }
  for (const std::string& warning : report_.warnings) log_(LogLevel::warning, warning);
}

void RunningModel::start_actors() {
  std::weak_ptr<actors::ActorSystem>& shared = host_of_ ? host_of_->system_ : system_;
  // The system must live until make_room_for() has returned, which may detach its only model.
  const std::shared_ptr<actors::ActorSystem> system = shared.lock();
  occupants_->make_room_for(ipu_bytes_, ipu_limit_);
  auto runtime = system
                     ? std::make_unique<actors::PipelineRuntime>(setup_, rules_, system)
                     : std::make_unique<actors::PipelineRuntime>(setup_, rules_, system_options_);
  stay_ = std::make_unique<IpuStay>(occupants_, ipu_bytes_, [this] { detach(); });
  shared = runtime->shared_system();
  runtime_ = std::move(runtime);
  show_to_monitor();
}

void RunningModel::show_to_monitor() noexcept {
  if (!may_be_shown_ || !environment_allows_monitor()) return;
  try {
    shown_ = std::make_unique<MonitorStay>(
        ShownPipeline{gauge_, shown_ipus(setup_, ipu_bytes_), ipu_limit_, runtime_.get()});
  } catch (const std::exception& error) {
    try {
      not_shown_because_ = error.what();
    } catch (const std::bad_alloc&) {
      // If there is no memory for the text, the log is not told.
    }
  }
}

actors::PipelineRuntime& RunningModel::runtime() {
  attach();
  return *runtime_;
}

void RunningModel::prepare_to_end() noexcept {
  if (const auto system = system_.lock()) actors::prepare_to_end(*system);
}

// The model's threads are waited for in any case. They end before the weights are read, so that no
// weights are lost only because an IPU is still at work.
RunningModel::~RunningModel() {
  if (runtime_) runtime_->end_for_good();
  if (host_of_ && buffers_holder() == this) buffers_holder() = nullptr;
  weights_->detach(*this);
}

std::vector<std::string> RunningModel::parameter_names() const {
  std::vector<std::string> names;
  for (const graph::Variable& variable : graph_->variables)
    if (const graph::Value& value = graph_->value(variable.value);
        value.kind == graph::ValueKind::parameter)
      names.push_back(value.name);
  return names;
}

void RunningModel::take_optimizer_of_host() {
  if (rules_number_ != host_of_->rules_number_)
    set_rules(host_of_->optimizer(), host_of_->rules_number_);
}

actors::UpdateRules RunningModel::checked_rules(const Optimizer& optimizer) const {
  actors::UpdateRules rules = update_rules(optimizer, *plan_, parameter_names(), gradient_parts_);
  expect_rules_kept(*first_optimizer_, optimizer, parameter_names());
  expect_same_state(*plan_, rules_, rules);
  expect_constants_kept(*first_optimizer_, optimizer, parameter_names());
  return rules;
}

void RunningModel::set_rules(const Optimizer& optimizer, std::uint64_t number) {
  std::optional<Optimizer> newest = optimizer;
  actors::UpdateRules rules = checked_rules(optimizer);
  if (runtime_) ask([&](auto& actors) { actors.set_rules(rules); });
  rules_ = std::move(rules);
  rules_number_ = number;
  optimizer_.set(std::move(newest));
  log_(host_of_ ? LogLevel::debug : LogLevel::info,
       "optimizer: new constants from the next update on");
}

std::vector<NamedTensor> RunningModel::optimizer_state() {
  return named_state(*plan_, rules_, optimizer_tensors());
}

void RunningModel::set_optimizer_state(std::span<const NamedTensor> named,
                                       const std::string& subject, StateNumbers numbers) {
  write_optimizer(tensors_of(*plan_, rules_, named, subject, numbers));
  log_(LogLevel::info, {"optimizer: state of update ", std::to_string(updates()), " restored"});
}

void RunningModel::expect_optimizer_state(std::span<const NamedTensor> named,
                                          const std::string& subject, StateNumbers numbers) const {
  tensors_of(*plan_, rules_, named, subject, numbers);
}

void RunningModel::expect_optimizer_state(std::span<const NamedType> types,
                                          const std::string& subject) const {
  expect_state_types(*plan_, rules_, types, subject);
}

actors::OptimizerTensors RunningModel::optimizer_tensors() {
  RunningModel& holder = *state_holder();
  if (holder.kept_state_) return *holder.kept_state_;
  return holder.ask([](auto& actors) { return actors.read_optimizer(); });
}

void RunningModel::fetch_optimizer_state() {
  if (!holds_optimizer_state()) write_optimizer(optimizer_tensors());
}

void RunningModel::write_optimizer(actors::OptimizerTensors state) {
  if (runtime_)
    ask([&](auto& actors) { actors.write_optimizer(state); });
  else
    kept_state_ = std::move(state);
  if (kept_state_) *setup_.updates = static_cast<std::uint64_t>(kept_state_->updates);
  RunningModel* const before = std::exchange(state_holder(), this);
  if (before != this) before->kept_state_.reset();
}

StepResult RunningModel::run(std::span<const Tensor> inputs, std::int64_t micro_batches,
                             const std::stop_token& stop) {
  const std::int64_t begin_ns = steady_ns();
  prepare_run();
  const std::int64_t prepared_ns = steady_ns();
  const Stopwatch watch;
  actors::StepOutcome outcome;
  std::vector<Recovery> recoveries;
  try {
    outcome = run_to_end(inputs, micro_batches, stop, recoveries);
  } catch (...) {
    trace_.leave(steady_ns());
    throw;
  }
  StepResult result = result_of(outcome);
  count_rows(result.rows, micro_batches);
  const double seconds = watch.seconds();
  const std::int64_t end_ns = steady_ns();
  last_run_ = {.seconds = static_cast<double>(end_ns - begin_ns) * 1e-9,
               .recoveries = std::move(recoveries)};
  try {
    tell_run(micro_batches, seconds);
    const std::int64_t samples = inputs.empty() ? 0 : inputs.front().shape()[0];
    if (setup_.trace) note_run({begin_ns, prepared_ns, end_ns, micro_batches, samples});
  } catch (const std::exception&) {
    // The run itself has succeeded. If the model has failed since, the next call or the log says
    // so.
  }
  trace_.leave(steady_ns());
  return result;
}

void RunningModel::count_rows(OutputRows& rows, std::int64_t micro_batches) const {
  rows.micro_batches = {
      .count = actors::count_returned(setup_.outputs, micro_batches) * setup_.replicas,
      .samples = plan_->batch};
  if (setup_.outputs.mode == OutputMode::sum) rows.summed = micro_batches;
}

void RunningModel::tell_run(std::int64_t micro_batches, double seconds) const {
  if (log_.takes(LogLevel::debug))
    log_(LogLevel::debug, {title_, ": ", std::to_string(micro_batches),
                           " micro-batches per replica done in ", decimal_text(seconds, 6), " s"});
}

void RunningModel::note_run(const RunSpan& run) {
  const StageNotes notes = ask_stages();
  // Parts of a run that has gone on after a failure were done twice, and others by other actors.
  if (!last_run_.recoveries.empty()) return;
  const std::int64_t micro_batches = run.micro_batches;
  CallSpan call{
      .first_micro_batch = trace_.numbered(runtime_->micro_batches_begun() - micro_batches),
      .micro_batches = micro_batches,
      .replicas = setup_.replicas,
      .begin_ns = run.prepared_ns,
      .end_ns = run.end_ns};
  trace_.add_call(call, run.samples, notes);
  // Without the dropped events, the others do not show the whole call.
  if (notes.dropped > 0) return;
  call.begin_ns = run.begin_ns;
  const auto returns = [&](std::size_t output, std::int64_t micro_batch) {
    return actors::is_returned(selection_of(output), micro_batch, micro_batches);
  };
  last_run_ = report_on_call(*plan_, call, returns, notes.events);
}

const actors::OutputSelection& RunningModel::selection_of(std::size_t output) const {
  const auto anchor = std::ranges::find(plan_->anchors, static_cast<std::int32_t>(output));
  if (anchor == plan_->anchors.end()) return setup_.outputs;
  return setup_.anchors[static_cast<std::size_t>(anchor - plan_->anchors.begin())];
}

void RunningModel::expect_same_rows(const RunningModel& remainder) const {
  for (std::size_t i = 0; i < plan_->outputs.size(); ++i) {
    if (selection_of(i).mode != OutputMode::all) continue;
    const auto& [name, whole] = plan_->outputs[i];
    const Shape &shape = whole.shape, &shorter = remainder.plan_->outputs[i].type.shape;
    if (shape.rank() == 0 || shape.with(0, shorter[0]) == shorter) continue;
    throw Error(Errc::shape_mismatch,
                "output " + quoted_text(name) + ": its rows are of " + to_string(shape) +
                    " in micro-batches of " + std::to_string(plan_->batch) + " samples and of " +
                    to_string(shorter) + " in those of " + std::to_string(remainder.plan_->batch) +
                    ", which cannot be put one after the other");
  }
}

void RunningModel::upload_weights() {
  const std::vector<Tensor>& newest = weights_->newest();
  const std::uint64_t version = weights_->version();
  std::vector<Tensor> values;
  for (const std::size_t index : store_index_) values.push_back(newest[index]);
  ask([&](auto& actors) { actors.write_variables(values); });
  held_version_ = version;
  ++*uploads_;
  log_(LogLevel::debug, {title_, ": weights copied to the IPUs"});
}

std::vector<Tensor> RunningModel::read_weights() {
  // ask() is not used, because a failure is to be told when this model is called, and not while the
  // host's Model reads weights.
  return runtime().read_variables();
}

void RunningModel::weights_taken() {
  log_(LogLevel::debug, {title_, ": weights read back from the IPUs"});
}

StepResult RunningModel::outline() const {
  return result_of({.outputs = std::vector<Tensor>(plan_->outputs.size()),
                    .mean_loss = std::numeric_limits<double>::quiet_NaN()});
}

StepResult RunningModel::result_of(const actors::StepOutcome& outcome) const {
  const actors::Outputs& outputs = outcome.outputs;
  StepResult result{.rows = rows_, .mean_loss = outcome.mean_loss};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    if (plan_->loss == position)
      result.loss = outputs[i];
    else if (std::ranges::count(plan_->anchors, position) == 0)
      result.outputs.push_back({plan_->outputs[i].name, outputs[i]});
  }
  for (std::size_t k = 0; k < anchors_.size(); ++k)
    result.anchors.push_back({anchors_[k], outputs[static_cast<std::size_t>(plan_->anchors[k])]});
  return result;
}

StageNotes RunningModel::ask_stages() {
  if (!runtime_) return {};
  return trace_.take(ask([](auto& actors) { return actors.read_status(); }));
}

std::vector<StageReport> RunningModel::stage_reports() {
  return ask_stages().reports;
}

void RunningModel::note_program_times() {
  if (!runtime_) return;
  const auto programs = ask([](auto& actors) { return actors.take_program_times(); });
  trace_.add_actors(programs, runtime_->take_host_events());
}

Profile RunningModel::profile() {
  if (!trace_.profile())
    throw Error(Errc::invalid_argument,
                "profile: expected options.runtime.trace to be true for model " + title_ +
                    ", got false: nothing was recorded");
  attach();
  const std::vector<StageReport> reports = stage_reports();
  note_program_times();
  const int cores = actors::worker_threads({});
  return make_profile(*trace_.profile(), trace_.events(),
                      {.plan = *plan_,
                       .compile = report_,
                       .stages = reports,
                       .processors = report_.threads > 0 ? std::min(report_.threads, cores) : cores,
                       .ipu_memory_bytes = ipu_limit_});
}

std::vector<TraceEvent> RunningModel::take_trace() {
  ask_stages();
  return trace_.take_events();
}

}  // namespace penstock
