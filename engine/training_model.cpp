#include "penstock/training_model.hpp"

#include <algorithm>

#include "engine/end_model.hpp"
#include "engine/files/weights_file.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/optimizer_rules.hpp"
#include "engine/one_call.hpp"
#include "engine/optimizer_state.hpp"
#include "engine/published.hpp"
#include "engine/rows.hpp"
#include "engine/running_model.hpp"
#include "engine/short_plans.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/count_text.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

const Tensor& named(const std::vector<NamedTensor>& tensors, const char* kind,
                    const std::string& name) {
  for (const NamedTensor& one : tensors)
    if (one.name == name) return one.tensor;
  throw Error(Errc::invalid_argument,
              std::string("there is no ") + kind + " named " + quoted_text(name));
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

class TrainingModel::Impl {
 public:
  Impl(const Model& model, const Options& options, const Optimizer& optimizer)
      : model_(model),
        calls_(ModelAccess::calls(model)),
        options_(options),
        first_optimizer_(optimizer),
        optimizer_(optimizer),
        running_(model, options, &optimizer) {}

  const Model& model() const { return model_; }
  const std::shared_ptr<ModelCalls>& calls() const { return calls_; }

  StepResult step(std::span<const Tensor> inputs, const std::stop_token& stop) {
    const Stopwatch watch;
    const std::int64_t rows = running_.check(inputs);
    expect_rows(rows);
    const std::uint64_t before = running_.updates();
    CallReport report;
    try {
      StepResult result = or_out_of_memory("TrainingModel::step",
                                           [&] { return trained(inputs, rows, stop, report); });
      report.seconds = watch.seconds();
      last_call_.set(std::move(report));
      return result;
    } catch (const Error& error) {
      const auto progress = [&] {
        return " has done " + std::to_string(running_.updates() - before) + " of " +
               count_text((rows + per_update() - 1) / per_update(), "update");
      };
      if (error.code() == Errc::cancelled)
        throw Error(error.code(),
                    "step: was asked to stop, and" + progress() + "; the model goes on from there");
      if (error.code() == Errc::out_of_memory)
        throw Error(error.code(), error.what() + ("; the step" + progress()));
      throw;
    }
  }

  CallReport last_call() const { return last_call_.get(); }

  void set_optimizer(const Optimizer& optimizer) {
    Optimizer copy = optimizer;
    short_plans_.open().set_rules(optimizer, optimizers_set_ + 1);
    ++optimizers_set_;
    optimizer_.set(std::move(copy));
  }

  WeightsFile state_file() {
    WeightsFile file;
    file.metadata[rule_key] = rule_name();
    for (const NamedTensor& state : short_plans_.open().optimizer_state())
      file.tensors.emplace(state.name, state.tensor);
    return file;
  }

  void load_state(const std::string& path) {
    const std::string what = "optimizer state file";
    const std::string who = what + " \"" + printable(path) + '"';
    const WeightsFile file = read_weights_file(
        path, what, [&](const WeightsHeader& header) { expect_state(header, who); });
    std::vector<NamedTensor> state;
    for (const auto& [name, tensor] : file.tensors) state.push_back({name, tensor});
    short_plans_.open().set_optimizer_state(state, who);
  }

  void set_state(const std::vector<NamedTensor>& state) {
    short_plans_.open().set_optimizer_state(state, "optimizer state");
  }

  const Options& options() const { return options_; }
  const std::vector<std::string>& inputs() const { return running_.inputs(); }
  Optimizer optimizer() const { return optimizer_.get(); }
  RunningModel& running() { return running_; }
  void check_samples(std::int64_t samples) const { expect_rows(samples); }
  ShortPlans& short_plans() { return short_plans_; }

 private:
  void expect_state(const WeightsHeader& header, const std::string& who) {
    const auto rule = header.metadata.find(rule_key);
    if (rule == header.metadata.end() || rule->second != rule_name())
      throw Error(Errc::invalid_data,
                  who + ": expected the state of " + rule_name() + ", got " +
                      (rule == header.metadata.end()
                           ? "a file of no optimizer"
                           : "that of " + printable(shortened(rule->second, 100))));
    std::vector<NamedType> types;
    for (const WeightsEntry& entry : header.entries)
      types.push_back({entry.name, {entry.dtype, entry.shape}});
    running_.expect_optimizer_state(types, who);
  }

  StepResult trained(std::span<const Tensor> inputs, std::int64_t rows, const std::stop_token& stop,
                     CallReport& report) {
    short_plans_.open();
    expect_not_stopped(stop);
    const std::int64_t updates = rows / per_update(), whole = updates * per_update();
    const auto run_whole = [&](std::span<const Tensor> of) {
      StepResult result = running_.run(of, updates * options_.training.gradient_accumulation, stop);
      report = running_.take_last_run();
      return result;
    };
    if (whole == rows) return run_whole(inputs);
    // First: what cannot be compiled, or joined, changes nothing.
    RunningModel& rest =
        short_plan({.call = "step",
                    .rows = rows,
                    .rest = rows - whole,
                    .unfilled = "update (one takes " + std::to_string(per_update()) + ")"});
    rest.set_rules(optimizer(), optimizers_set_);
    if (whole == 0) {
      StepResult result = rest.run(inputs, rest.gradient_accumulation(), stop);
      report = rest.take_last_run();
      return result;
    }
    const StepResult first = run_whole(rows_of(inputs, 0, whole));
    expect_not_stopped(stop);
    StepResult last = rest.run(rows_of(inputs, whole, rows), rest.gradient_accumulation(), stop);
    last.mean_loss = (first.mean_loss * static_cast<double>(whole) +
                      last.mean_loss * static_cast<double>(rows - whole)) /
                     static_cast<double>(rows);
    return joined(first, std::move(last));
  }

  std::int64_t per_update() const {
    return options_.samples_per_step() / options_.device_iterations;
  }

  void expect_rows(std::int64_t rows) const {
    const auto refuse = [&](const std::string& expected) {
      throw Error(Errc::shape_mismatch,
                  "step: expected " + expected + ", got " + std::to_string(rows));
    };
    const std::int64_t most = options_.samples_per_step();
    const auto full = [&] {
      return std::to_string(most) +
             " samples (batch size x gradient accumulation x device iterations x replicas)";
    };
    if (options_.static_shapes && rows != most)
      refuse(full() + ", for options.static_shapes is set");
    if (rows < 1 || rows > most) refuse("1 to " + full());
    if (rows % per_update() == 0) return;
    const auto multiple = "a multiple of " + std::to_string(per_update()) + " samples, for ";
    if (options_.topology.input_group_size > 1)
      refuse(multiple + "replicas share their inputs (options.topology.input_group_size)");
    expect_mode_of_a_rest(options_.output.mode, multiple, refuse);
    for (const Anchor& anchor : options_.output.anchors)
      expect_mode_of_a_rest(anchor.mode, multiple, refuse);
  }

  /// Selections and sums of micro-batches of two sizes would be neither.
  static void expect_mode_of_a_rest(OutputMode mode, const std::string& multiple,
                                    const auto& refuse) {
    if (mode == OutputMode::every_n || mode == OutputMode::sum)
      refuse(multiple + "the output mode is " + std::string(to_string(mode)));
  }

  /// The plan for one update with what does not fill one: in equal micro-batches, as large as they
  /// can be.
  RunningModel& short_plan(const UnfilledRows& rows) {
    const std::int64_t batch = equal_micro_batch(rows.rest, options_.batch_size);
    const std::int64_t micro_batches = rows.rest / batch;
    Options options = for_fewer_samples(options_, batch);
    options.device_iterations = 1;
    options.training.gradient_accumulation = static_cast<int>(micro_batches);
    // A turn of many small micro-batches would hold them all at once.
    if (micro_batches > options_.training.gradient_accumulation)
      options.topology.phased.batch_serial = false;
    const auto fits = [&](const auto& rest) {
      return rest->plan().batch == batch && rest->gradient_accumulation() == micro_batches;
    };
    return short_plans_.take(rows, fits, [&] {
      return make_fit(options, true, running_.log(), [&](const Options& own) {
        return std::make_unique<RunningModel>(running_, own, &first_optimizer_);
      });
    });
  }

  /// What a call returns whose last update was `last`: all of both, or what is of the last one.
  StepResult joined(const StepResult& first, StepResult last) const {
    const auto join = [](OutputMode mode, const Tensor& before, Tensor& tensor) {
      if (mode == OutputMode::all) tensor = join_rows({{before, tensor}});
    };
    const OutputMode mode = first.rows.mode;
    if (mode == OutputMode::all) {
      const MicroBatches shorter = last.rows.micro_batches;
      last.rows = first.rows;
      last.rows.shorter = shorter;
    }
    join(mode, first.loss, last.loss);
    for (std::size_t i = 0; i < last.outputs.size(); ++i)
      join(mode, first.outputs[i].tensor, last.outputs[i].tensor);
    for (std::size_t i = 0; i < last.anchors.size(); ++i) {
      const OutputMode own = options_.output.anchors[i].mode;
      join(own == OutputMode::automatic ? mode : own, first.anchors[i].tensor,
           last.anchors[i].tensor);
    }
    return last;
  }

  static constexpr const char* rule_key = "optimizer";
  std::string rule_name() const { return std::string(rule_of(optimizer().settings).rule->name); }

  Model model_;
  std::shared_ptr<ModelCalls> calls_;
  Options options_;
  Optimizer first_optimizer_;  // says what may change
  Published<Optimizer> optimizer_;
  std::uint64_t optimizers_set_ = 0;  // after the first one
  RunningModel running_;
  ShortPlans short_plans_{running_};
  Published<CallReport> last_call_;
};

TrainingModel::TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer)
    : impl_(made_as_one_call<Impl>(model, "the constructor of a TrainingModel", options,
                                   optimizer)) {}

std::shared_ptr<ModelCalls> ModelAccess::calls(const TrainingModel& model) {
  return model.impl_->calls();
}

TrainingModel ModelAccess::handle(const TrainingModel& model) {
  return TrainingModel(model.impl_);
}

const Model& ModelAccess::trained(const TrainingModel& model) {
  return model.impl_->model();
}

TrainingModel::TrainingModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

TrainingModel::~TrainingModel() {
  end_model(impl_);
}

TrainingModel::TrainingModel(TrainingModel&&) noexcept = default;

TrainingModel& TrainingModel::operator=(TrainingModel&& other) noexcept {
  if (this == &other) return *this;
  end_model(impl_);
  impl_ = std::move(other.impl_);
  return *this;
}

void TrainingModel::detach() {
  as_one_call(impl_, "TrainingModel::detach", [](auto& impl) { impl.short_plans().detach(); });
}
void TrainingModel::attach() {
  as_one_call(impl_, "TrainingModel::attach",
              [](auto& impl) { impl.short_plans().open().attach(); });
}
bool TrainingModel::attached() const noexcept {
  return impl_->running().any_attached();
}
const Options& TrainingModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& TrainingModel::inputs() const noexcept {
  return impl_->inputs();
}
StepResult TrainingModel::outline() const {
  return or_out_of_memory("TrainingModel::outline", [&] { return impl_->running().outline(); });
}
StepResult TrainingModel::step(std::span<const Tensor> inputs, std::stop_token stop) {
  return as_one_call(impl_, "TrainingModel::step",
                     [&](auto& impl) { return impl.step(inputs, stop); });
}
void TrainingModel::check_samples(std::int64_t samples) const {
  or_out_of_memory("TrainingModel::check_samples", [&] { impl_->check_samples(samples); });
}
void TrainingModel::set_optimizer(const Optimizer& optimizer) {
  as_one_call(impl_, "TrainingModel::set_optimizer",
              [&](auto& impl) { impl.set_optimizer(optimizer); });
}
Optimizer TrainingModel::optimizer() const {
  return or_out_of_memory("TrainingModel::optimizer", [&] {
    impl_->calls()->expect_own_process();
    return impl_->optimizer();
  });
}
std::vector<NamedTensor> TrainingModel::optimizer_state() const {
  return as_one_call(impl_, "TrainingModel::optimizer_state",
                     [](auto& impl) { return impl.short_plans().open().optimizer_state(); });
}
void TrainingModel::set_optimizer_state(const std::vector<NamedTensor>& state) {
  as_one_call(impl_, "TrainingModel::set_optimizer_state",
              [&](auto& impl) { impl.set_state(state); });
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
  return or_out_of_memory("TrainingModel::last_call", [&] {
    impl_->calls()->expect_own_process();
    return impl_->last_call();
  });
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
                     [](auto& impl) { return impl.short_plans().take_trace(); });
}
std::uint64_t TrainingModel::dropped_events() const noexcept {
  return impl_->running().dropped_events();
}

}  // namespace penstock
