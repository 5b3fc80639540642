#include "penstock/inference_model.hpp"

#include <algorithm>
#include <utility>

#include "engine/fit/stopwatch.hpp"
#include "engine/running_model.hpp"
#include "engine/values/rows.hpp"
#include "penstock/error.hpp"

namespace penstock {

class InferenceModel::Impl {
 public:
  Impl(const Model& model, const Options& options)
      : options_(options), running_(model, options, nullptr) {}

  bool attached() const {
    return running_.attached() ||
           std::ranges::any_of(rests_, [](const auto& rest) { return rest->attached(); });
  }

  void detach() {
    if (running_.attached() || !attached()) running_.detach();
    while (!rests_.empty()) forget(*rests_.back());
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
  RunningModel& running() { return running_; }

  std::uint64_t weight_uploads() const {
    std::uint64_t uploads = running_.weight_uploads() + past_uploads_;
    for (const auto& rest : rests_) uploads += rest->weight_uploads();
    return uploads;
  }

  std::vector<TraceEvent> take_trace() {
    std::vector<TraceEvent> events = std::exchange(past_trace_, {});
    running_.append_trace(events);
    for (const auto& rest : rests_) rest->append_trace(events);
    return in_order_of_time(std::move(events));
  }

 private:
  StepResult computed(std::span<const Tensor> inputs) {
    const std::int64_t rows = running_.check(inputs);
    expect_rows(rows);
    const std::int64_t micro_batches = rows / round();
    const std::int64_t whole = micro_batches * round();
    if (whole == rows) {
      StepResult result = running_.run(inputs, micro_batches);
      call_ = running_.last_run();
      return result;
    }
    RunningModel& rest = short_plan(rows, rows - whole);
    const StepResult tail = rest.run(rows_of(inputs, whole, rows), 1);
    call_ = rest.last_run();
    if (whole == 0) return tail;
    StepResult result = running_.run(rows_of(inputs, 0, whole), micro_batches);
    call_ = running_.last_run();
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

  /// Of the last of `rows` samples. What is refused was asked for by their number.
  RunningModel& short_plan(std::int64_t rows, std::int64_t rest) try {
    RunningModel& plan = rest_of(rest);
    if (rest < rows) running_.expect_same_rows(plan);
    return plan;
  } catch (const Error& error) {
    throw Error(error.code(), "run of " + std::to_string(rows) + " samples, of which " +
                                  std::to_string(rest) +
                                  " fill no micro-batch for every replica (" +
                                  std::to_string(round()) + "): " + error.what());
  }

  /// The plan for what does not fill a micro-batch for every replica: one shorter micro-batch of
  /// `rows`. The few that were used last are kept.
  RunningModel& rest_of(std::int64_t rows) {
    const auto found =
        std::ranges::find(rests_, rows, [](const auto& rest) { return rest->plan().batch; });
    if (found != rests_.end()) {
      std::rotate(rests_.begin(), found, found + 1);
    } else {
      Options options = options_;
      options.batch_size = static_cast<int>(rows);
      options.topology.replication_factor = 1;
      rests_.insert(rests_.begin(), std::make_unique<RunningModel>(running_, options, nullptr));
      if (rests_.size() > most_rests) forget(*rests_.back());
    }
    return *rests_.front();
  }

  void forget(RunningModel& oldest) {
    past_uploads_ += oldest.weight_uploads();
    oldest.append_trace(past_trace_);
    rests_.pop_back();
  }

  Options options_;
  RunningModel running_;
  static constexpr std::size_t most_rests = 4;
  std::vector<std::unique_ptr<RunningModel>> rests_;  // the one used last first
  CallReport call_;
  std::uint64_t past_uploads_ = 0;  // of those that are forgotten
  std::vector<TraceEvent> past_trace_;
};

InferenceModel::InferenceModel(const Model& model, const Options& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
InferenceModel::~InferenceModel() = default;
InferenceModel::InferenceModel(InferenceModel&&) noexcept = default;
InferenceModel& InferenceModel::operator=(InferenceModel&&) noexcept = default;

void InferenceModel::detach() {
  impl_->detach();
}
void InferenceModel::attach() {
  impl_->running().attach();
}
bool InferenceModel::attached() const noexcept {
  return impl_->attached();
}
const Options& InferenceModel::options() const noexcept {
  return impl_->options();
}
const std::vector<std::string>& InferenceModel::inputs() const noexcept {
  return impl_->inputs();
}
StepResult InferenceModel::outline() const {
  return impl_->running().outline();
}
std::int64_t InferenceModel::samples_per_run() const noexcept {
  return impl_->samples_per_run();
}
StepResult InferenceModel::run(std::span<const Tensor> inputs) {
  return impl_->run(inputs);
}
std::uint64_t InferenceModel::weight_uploads() const noexcept {
  return impl_->weight_uploads();
}
const CallReport& InferenceModel::last_call() const noexcept {
  return impl_->last_call();
}
const CompileReport& InferenceModel::compile_report() const noexcept {
  return impl_->running().compile_report();
}
std::vector<StageReport> InferenceModel::stage_reports() const {
  return impl_->running().stage_reports();
}
std::vector<TraceEvent> InferenceModel::take_trace() {
  return impl_->take_trace();
}

}  // namespace penstock
