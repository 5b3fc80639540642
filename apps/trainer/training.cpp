#include "apps/trainer/training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/trainer/accuracy.hpp"
#include "apps/trainer/stopwatch.hpp"

namespace trainer {
namespace {

std::int64_t updates_left(const TrainingPlan& plan, std::int64_t updates) {
  return plan.max_updates.value_or(std::numeric_limits<std::int64_t>::max()) - updates;
}

/// The first rows of every tensor.
penstock::Batch first_rows(penstock::Batch batch, std::int64_t count) {
  for (penstock::Tensor& tensor : batch) tensor = tensor.rows(0, count);
  return batch;
}

class TrainingLoop {
 public:
  TrainingLoop(penstock::DataLoader& loader, const TrainingPlan& plan, const std::string& scores,
               const TrainingStep& step, const TrainingEvents& events)
      : loader_(loader), plan_(plan), scores_(scores), step_(step), events_(events) {}

  double run() {
    for (int epoch = 1; epoch <= plan_.epochs && !finished(); ++epoch) run_epoch(epoch);
    return static_cast<double>(samples_) / seconds_;
  }

 private:
  bool finished() const { return updates_left(plan_, updates_) <= 0; }

  void run_epoch(int epoch) {
    loader_.start_epoch();
    events_.on_epoch(epoch, plan_.steps(loader_.batches(), updates_));
    for (std::int64_t step = 1; !finished(); ++step) {
      const Stopwatch watch;
      std::optional<penstock::Batch> batch = loader_.next();
      if (!batch) return;
      StepMetrics metrics = run_step(shortened(std::move(*batch)), watch);
      metrics.epoch = epoch;
      metrics.step = step;
      events_.on_step(metrics);
    }
  }

  penstock::Batch shortened(penstock::Batch batch) const {
    const std::int64_t samples = batch.front().shape()[0];
    const std::int64_t allowed = updates_left(plan_, updates_);
    if (samples / plan_.samples_per_update <= allowed) return batch;
    return first_rows(std::move(batch), allowed * plan_.samples_per_update);
  }

  StepMetrics run_step(const penstock::Batch& batch, const Stopwatch& watch) {
    if (!first_step_) first_step_.emplace();
    const penstock::StepResult result = step_(batch);
    seconds_ = first_step_->seconds();

    const penstock::Tensor& labels = batch.back();
    const std::int64_t samples = labels.elements();
    samples_ += samples;
    updates_ += samples / plan_.samples_per_update;
    StepMetrics metrics;
    metrics.updates = static_cast<std::uint64_t>(updates_);
    const auto losses = result.loss.as<float>();
    metrics.losses.assign(losses.begin(), losses.end());
    metrics.accuracy = static_cast<double>(count_correct(result.output(scores_), labels)) /
                       static_cast<double>(samples);
    metrics.samples_per_second = watch.per_second(samples);
    return metrics;
  }

  penstock::DataLoader& loader_;
  const TrainingPlan& plan_;
  const std::string& scores_;
  const TrainingStep& step_;
  const TrainingEvents& events_;
  std::optional<Stopwatch> first_step_;
  double seconds_ = 0;  ///< from the first step's call to the last one's return
  std::int64_t samples_ = 0;
  std::int64_t updates_ = 0;
};

}  // namespace

std::int64_t TrainingPlan::steps(std::int64_t batches, std::int64_t updates) const {
  const std::int64_t per_step = samples_per_step / samples_per_update;
  const std::int64_t left = updates_left(*this, updates);
  return std::min(batches, left / per_step + (left % per_step != 0));
}

double train(penstock::DataLoader& loader, const TrainingPlan& plan, const std::string& scores,
             const TrainingStep& step, const TrainingEvents& events) {
  return TrainingLoop(loader, plan, scores, step, events).run();
}

}  // namespace trainer
