#include "penstock/inference_model.hpp"

#include "engine/end_model.hpp"
#include "engine/model/model_access.hpp"
#include "engine/one_call.hpp"
#include "engine/published.hpp"
#include "engine/rows.hpp"
#include "engine/running_model.hpp"
#include "engine/short_plans.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/compile/step_inputs.hpp"
#include "graph/compile/targets.hpp"
#include "graph/values/count_text.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {

class InferenceModel::Impl {
 public:
  Impl(const Model& model, const Options& options)
      : calls_(ModelAccess::calls(model)),
        options_(options),
        training_inputs_(graph::step_inputs(ModelAccess::graph(model))),
        targets_(graph::targets_of(ModelAccess::graph(model))),
        running_(model, options, nullptr) {}

  const std::shared_ptr<ModelCalls>& calls() const { return calls_; }

  StepResult run(std::span<const Tensor> inputs, const std::stop_token& stop) {
    const Stopwatch watch;
    const std::int64_t rows = running_.check(inputs);
    expect_rows(rows);
    CallReport report;
    try {
      StepResult result = computed(inputs, rows, stop, report);
      report.seconds = watch.seconds();
      last_call_.set(std::move(report));
      return result;
    } catch (const Error& error) {
      if (error.code() != Errc::cancelled) throw;
      throw Error(Errc::cancelled, "run: was asked to stop before it had run on all of its " +
                                       count_text(rows, "sample") + ", and returns nothing");
    }
  }

  CallReport last_call() const { return last_call_.get(); }

  std::int64_t samples_per_run() const { return running_.compile_report().call.samples(); }

  const Options& options() const { return options_; }
  const std::vector<std::string>& inputs() const { return running_.inputs(); }
  const std::vector<std::string>& training_inputs() const { return training_inputs_; }
  const graph::Targets& targets() const { return targets_; }
  RunningModel& running() { return running_; }
  void check_samples(std::int64_t samples) const { expect_rows(samples); }
  ShortPlans& short_plans() { return short_plans_; }

 private:
  StepResult computed(std::span<const Tensor> inputs, std::int64_t rows,
                      const std::stop_token& stop, CallReport& report) {
    short_plans_.open();
    expect_not_stopped(stop);
    if (rows % round() != 0) return in_parts(inputs, rows, stop, report);
    StepResult result = running_.run(inputs, rows / round(), stop);
    report = running_.take_last_run();
    return result;
  }

  /// Micro-batches of every replica, then whole ones of one replica, then a shorter one.
  StepResult in_parts(std::span<const Tensor> inputs, std::int64_t rows,
                      const std::stop_token& stop, CallReport& report) {
    const std::int64_t batch = options_.batch_size;
    const std::int64_t of_all = rows / round() * round(), whole = rows / batch * batch;
    struct Part {
      RunningModel* plan;
      std::int64_t begin, end, micro_batches;
    };
    // First: what cannot be compiled, or joined, runs nothing.
    std::vector<Part> parts;
    if (of_all > 0) parts.push_back({&running_, 0, of_all, of_all / round()});
    if (const std::int64_t count = (whole - of_all) / batch; count > 0)
      parts.push_back({&short_plan(rows, whole - of_all, count), of_all, whole, count});
    if (whole < rows) parts.push_back({&short_plan(rows, rows - whole, 1), whole, rows, 1});
    std::vector<StepResult> results;
    for (const auto& [plan, begin, end, micro_batches] : parts) {
      expect_not_stopped(stop);
      results.push_back(plan->run(rows_of(inputs, begin, end), micro_batches, stop));
    }
    report = parts.front().plan->take_last_run();
    return joined(std::move(results));
  }

  static StepResult joined(std::vector<StepResult> parts) {
    StepResult result = std::move(parts.front());
    const auto append = [](std::vector<NamedTensor>& tensors,
                           const std::vector<NamedTensor>& more) {
      for (std::size_t i = 0; i < tensors.size(); ++i)
        tensors[i].tensor = join_rows({{tensors[i].tensor, more[i].tensor}});
    };
    MicroBatches& before = result.rows.micro_batches;
    for (const StepResult& part : std::span(parts).subspan(1)) {
      append(result.outputs, part.outputs);
      append(result.anchors, part.anchors);
      const MicroBatches& own = part.rows.micro_batches;
      if (own.samples == before.samples)
        before.count += own.count;
      else
        result.rows.shorter = own;
    }
    return result;
  }

  std::int64_t round() const {
    return std::int64_t{options_.batch_size} * options_.topology.input_groups();
  }

  std::string product() const {
    const bool grouped = options_.topology.input_group_size > 1;
    return std::string("batch size x device iterations x ") +
           (grouped ? "input groups" : "replicas");
  }

  void expect_rows(std::int64_t rows) const {
    const std::int64_t most = samples_per_run();
    if (rows < 1 || rows > most)
      throw Error(Errc::shape_mismatch, "run: expected 1 to " + std::to_string(most) +
                                            " samples (" + product() + "), got " +
                                            std::to_string(rows));
    if (options_.static_shapes && rows != most)
      throw Error(Errc::shape_mismatch,
                  "run: expected " + std::to_string(most) + " samples (" + product() +
                      "), for options.static_shapes is set, got " + std::to_string(rows));
    if (rows % round() == 0) return;
    if (options_.topology.input_group_size > 1)
      throw Error(Errc::shape_mismatch, "run: expected a multiple of " + std::to_string(round()) +
                                            " samples, for replicas share their inputs "
                                            "(options.topology.input_group_size), got " +
                                            std::to_string(rows));
    expect_all_of_a_rest(options_.output.mode, rows);
    for (const Anchor& anchor : options_.output.anchors) expect_all_of_a_rest(anchor.mode, rows);
  }

  void expect_all_of_a_rest(OutputMode mode, std::int64_t rows) const {
    if (mode != OutputMode::automatic && mode != OutputMode::all)
      throw Error(Errc::shape_mismatch, "run: output mode " + std::string(to_string(mode)) +
                                            " needs a multiple of " + std::to_string(round()) +
                                            " samples, got " + std::to_string(rows));
  }

  /// The plan of one replica for `rest` of `rows` samples in so many micro-batches.
  RunningModel& short_plan(std::int64_t rows, std::int64_t rest, std::int64_t micro_batches) {
    const std::int64_t batch = rest / micro_batches;
    const UnfilledRows unfilled{
        .call = "run",
        .rows = rows,
        .rest = rest,
        .unfilled = "micro-batch for every replica (" + std::to_string(round()) + ")"};
    const auto fits = [&](const auto& plan) { return plan->plan().batch == batch; };
    return short_plans_.take(unfilled, fits, [&] {
      Options options = for_fewer_samples(options_, batch);
      options.device_iterations = static_cast<int>(micro_batches);
      return make_fit(options, false, running_.log(), [&](const Options& own) {
        return std::make_unique<RunningModel>(running_, own, nullptr);
      });
    });
  }

  std::shared_ptr<ModelCalls> calls_;
  Options options_;
  std::vector<std::string> training_inputs_;
  graph::Targets targets_;
  RunningModel running_;
  ShortPlans short_plans_{running_};
  Published<CallReport> last_call_;
};

InferenceModel::InferenceModel(const Model& model, const Options& options)
    : impl_(made_as_one_call<Impl>(model, "the constructor of an InferenceModel", options)) {}

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
  end_model(impl_);
  impl_ = std::move(other.impl_);
  return *this;
}

void InferenceModel::detach() {
  as_one_call(impl_, "InferenceModel::detach", [](auto& impl) { impl.short_plans().detach(); });
}
void InferenceModel::attach() {
  as_one_call(impl_, "InferenceModel::attach",
              [](auto& impl) { impl.short_plans().open().attach(); });
}
bool InferenceModel::attached() const noexcept {
  return impl_->running().any_attached();
}
const Options& InferenceModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& InferenceModel::inputs() const noexcept {
  return impl_->inputs();
}
const std::vector<std::string>& InferenceModel::training_inputs() const noexcept {
  return impl_->training_inputs();
}
StepResult InferenceModel::outline() const {
  return or_out_of_memory("InferenceModel::outline", [&] { return impl_->running().outline(); });
}
std::int64_t InferenceModel::samples_per_run() const noexcept {
  return impl_->samples_per_run();
}
StepResult InferenceModel::run(std::span<const Tensor> inputs, std::stop_token stop) {
  return as_one_call(impl_, "InferenceModel::run",
                     [&](auto& impl) { return impl.run(inputs, stop); });
}
void InferenceModel::check_samples(std::int64_t samples) const {
  or_out_of_memory("InferenceModel::check_samples", [&] { impl_->check_samples(samples); });
}
std::uint64_t InferenceModel::weight_uploads() const noexcept {
  return impl_->running().weight_uploads();
}
CallReport InferenceModel::last_call() const {
  return or_out_of_memory("InferenceModel::last_call", [&] {
    impl_->calls()->expect_own_process();
    return impl_->last_call();
  });
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
                     [](auto& impl) { return impl.short_plans().take_trace(); });
}
std::uint64_t InferenceModel::dropped_events() const noexcept {
  return impl_->running().dropped_events();
}

}  // namespace penstock
