#include "penstock/inference_model.hpp"

#include "engine/fit/stopwatch.hpp"
#include "engine/model/model_access.hpp"
#include "engine/running_model.hpp"
#include "engine/short_plans.hpp"
#include "engine/values/rows.hpp"
#include "graph/step_inputs.hpp"
#include "penstock/error.hpp"

namespace penstock {

class InferenceModel::Impl {
 public:
  Impl(const Model& model, const Options& options)
      : options_(options),
        training_inputs_(graph::step_inputs(ModelAccess::graph(model))),
        running_(model, options, nullptr) {}

  /// What `call` returns that is made of it; its log is told afterwards.
  auto telling(const auto& call) {
    return running_.log().after([&] { return call(*this); });
  }

  StepResult run(std::span<const Tensor> inputs) {
    const Stopwatch watch;
    StepResult result = computed(inputs);
    call_.seconds = watch.seconds();
    return result;
  }

  const CallReport& last_call() const { return call_; }

  std::int64_t samples_per_run() const { return round() * options_.device_iterations; }

  const Options& options() const { return options_; }
  const std::vector<std::string>& inputs() const { return running_.inputs(); }
  const std::vector<std::string>& training_inputs() const { return training_inputs_; }
  RunningModel& running() { return running_; }
  void check_samples(std::int64_t samples) const { expect_rows(samples); }
  ShortPlans& short_plans() { return short_plans_; }

 private:
  StepResult computed(std::span<const Tensor> inputs) {
    const std::int64_t rows = running_.check(inputs);
    expect_rows(rows);
    short_plans_.open();
    const std::int64_t micro_batches = rows / round();
    const std::int64_t whole = micro_batches * round();
    if (whole == rows) {
      StepResult result = running_.run(inputs, micro_batches);
      call_ = running_.last_run();
      return result;
    }
    RunningModel& rest =
        short_plan({.call = "run",
                    .rows = rows,
                    .rest = rows - whole,
                    .unfilled = "micro-batch for every replica (" + std::to_string(round()) + ")"});
    const StepResult tail =
        rest.run(rows_of(inputs, whole, rows), (rows - whole) / rest.plan().batch);
    call_ = rest.last_run();
    if (whole == 0) return tail;
    StepResult result = running_.run(rows_of(inputs, 0, whole), micro_batches);
    call_ = running_.last_run();
    result.rows.shorter = tail.rows.micro_batches;
    for (std::size_t i = 0; i < result.outputs.size(); ++i)
      result.outputs[i].tensor = join_rows({{result.outputs[i].tensor, tail.outputs[i].tensor}});
    for (std::size_t i = 0; i < result.anchors.size(); ++i)
      result.anchors[i].tensor = join_rows({{result.anchors[i].tensor, tail.anchors[i].tensor}});
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

  /// The plan for what does not fill a micro-batch for every replica: equal ones, as large as they
  /// can be.
  RunningModel& short_plan(const UnfilledRows& rows) {
    const std::int64_t batch = equal_micro_batch(rows.rest, options_.batch_size);
    const auto fits = [&](const auto& plan) { return plan->plan().batch == batch; };
    return short_plans_.take(rows, fits, [&] {
      Options options = options_;
      options.batch_size = static_cast<int>(batch);
      options.topology.replication_factor = 1;
      return std::make_unique<RunningModel>(running_, options, nullptr);
    });
  }

  Options options_;
  std::vector<std::string> training_inputs_;
  RunningModel running_;
  ShortPlans short_plans_{running_};
  CallReport call_;
};

InferenceModel::InferenceModel(const Model& model, const Options& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
InferenceModel::~InferenceModel() = default;
InferenceModel::InferenceModel(InferenceModel&&) noexcept = default;
InferenceModel& InferenceModel::operator=(InferenceModel&&) noexcept = default;

void InferenceModel::detach() {
  impl_->telling([](auto& impl) { impl.short_plans().detach(); });
}
void InferenceModel::attach() {
  impl_->telling([](auto& impl) { impl.short_plans().open().attach(); });
}
bool InferenceModel::attached() const noexcept {
  return impl_->short_plans().attached();
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
  return impl_->running().outline();
}
std::int64_t InferenceModel::samples_per_run() const noexcept {
  return impl_->samples_per_run();
}
StepResult InferenceModel::run(std::span<const Tensor> inputs) {
  return impl_->telling([&](auto& impl) { return impl.run(inputs); });
}
void InferenceModel::check_samples(std::int64_t samples) const {
  impl_->check_samples(samples);
}
std::uint64_t InferenceModel::weight_uploads() const noexcept {
  return impl_->short_plans().weight_uploads();
}
const CallReport& InferenceModel::last_call() const noexcept {
  return impl_->last_call();
}
const CompileReport& InferenceModel::compile_report() const noexcept {
  return impl_->running().compile_report();
}
std::vector<StageReport> InferenceModel::stage_reports() const {
  return impl_->telling([](auto& impl) { return impl.running().stage_reports(); });
}
std::vector<TraceEvent> InferenceModel::take_trace() {
  return impl_->telling([](auto& impl) { return impl.short_plans().take_trace(); });
}

}  // namespace penstock
