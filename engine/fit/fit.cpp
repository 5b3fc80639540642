#include "penstock/fit.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/fit/fields.hpp"
#include "engine/fit/scores.hpp"
#include "engine/fit/stopwatch.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

void expect_positive(std::int64_t value, const char* name) {
  if (value > 0) return;
  throw Error(Errc::invalid_argument,
              std::string("fit: ") + name + ": expected 1 or more, got " + std::to_string(value));
}

void check(const FitOptions& options) {
  check(std::span(options.metrics));
  expect_positive(options.epochs, "epochs");
  expect_positive(options.steps_per_epoch.value_or(1), "steps_per_epoch");
  expect_positive(options.max_updates.value_or(1), "max_updates");
  if (!options.validation_model != !options.validation_data)
    throw Error(Errc::invalid_argument,
                std::string("fit: validation_model and validation_data: expected both or neither, "
                            "got only validation_") +
                    (options.validation_model ? "model" : "data"));
}

Batch first_rows(Batch batch, std::int64_t count) {
  for (Tensor& tensor : batch) tensor = tensor.rows(0, count);
  return batch;
}

class Fitting {
 public:
  Fitting(TrainingModel& model, DataLoader& data, const FitOptions& options)
      : model_(model),
        data_(data),
        first_update_(model.updates()),
        options_(options),
        per_step_(model.options().samples_per_step()),
        per_update_(per_step_ / model.options().device_iterations) {}

  History run() {
    for (int epoch = 1; epoch <= options_.epochs && !finished(); ++epoch) run_epoch(epoch);
    history_.updates = updates();
    history_.samples_per_second = static_cast<double>(samples_) / seconds_;
    return std::move(history_);
  }

 private:
  std::uint64_t updates() const { return model_.updates() - first_update_; }
  std::int64_t updates_left() const {
    return options_.max_updates.value_or(std::numeric_limits<std::int64_t>::max()) -
           static_cast<std::int64_t>(updates());
  }
  bool finished() const { return stopped_ || updates_left() <= 0; }

  void run_epoch(int epoch) {
    if (epoch == 1 || !options_.steps_per_epoch) data_.start_epoch();
    const std::int64_t steps = announced_steps();
    for (const FitCallback& callback : options_.callbacks)
      if (callback.on_epoch_begin) callback.on_epoch_begin(epoch, steps);
    Scores scores(options_.metrics);
    EpochRecord record{.epoch = epoch};
    const Stopwatch watch;
    while (!finished() && record.steps != options_.steps_per_epoch && run_step(record, scores)) {
    }
    if (record.steps == 0 && !finished()) refuse_empty("fit");
    record.seconds = watch.seconds();
    end_epoch(std::move(record), scores);
  }

  /// How many steps the epoch will have if no callback ends it; 0 if the data do not say.
  std::int64_t announced_steps() const {
    const std::int64_t per_step = per_step_ / per_update_;
    const std::int64_t left = updates_left();
    return std::min(options_.steps_per_epoch.value_or(data_.batches()),
                    left / per_step + (left % per_step != 0));
  }

  /// @returns whether there was a batch for it.
  bool run_step(EpochRecord& epoch, Scores& scores) {
    const Stopwatch watch;
    std::optional<Batch> batch = next_batch();
    if (!batch) return false;
    const Batch given = shortened(std::move(*batch));
    for (const FitCallback& callback : options_.callbacks)
      if (callback.on_step_begin) callback.on_step_begin(given);
    const StepResult result = trained(given);
    epoch.updates = updates();
    ++epoch.steps;
    Scores of_step(options_.metrics);
    of_step.add(result, given);
    scores += of_step;
    tell_step(epoch, result, of_step, watch.per_second(given.front().shape()[0]));
    return true;
  }

  std::optional<Batch> next_batch() {
    std::optional<Batch> batch = data_.next();
    if (batch || !options_.steps_per_epoch) return batch;
    data_.start_epoch();
    if (!(batch = data_.next())) refuse_empty("fit");
    return batch;
  }

  Batch shortened(Batch batch) const {
    const std::int64_t allowed = updates_left();
    const std::int64_t rows = batch.front().shape()[0];
    if (rows / per_update_ + (rows % per_update_ != 0) <= allowed) return batch;
    return first_rows(std::move(batch), allowed * per_update_);
  }

  StepResult trained(const Batch& batch) {
    if (!first_step_) first_step_.emplace();
    StepResult result = model_.step(first_fields(batch, model_.inputs()));
    seconds_ = first_step_->seconds() - evaluating_seconds_;
    samples_ += batch.front().shape()[0];
    return result;
  }

  void tell_step(const EpochRecord& epoch, const StepResult& result, const Scores& scores,
                 double samples_per_second) {
    if (options_.callbacks.empty()) return;
    const StepRecord record{.epoch = epoch.epoch,
                            .step = epoch.steps,
                            .updates = epoch.updates,
                            .values = scores.means(),
                            .samples_per_second = samples_per_second};
    for (const FitCallback& callback : options_.callbacks)
      if (callback.on_step_end) stopped_ |= callback.on_step_end(record, result) == Next::stop;
  }

  void end_epoch(EpochRecord record, const Scores& scores) {
    record.values = scores.means();
    if (options_.validation_model) {
      const Stopwatch watch;
      const Evaluation validation =
          evaluate(*options_.validation_model, *options_.validation_data, options_.metrics);
      for (const NamedValue& value : validation.values)
        record.values.push_back({"val_" + value.name, value.value});
      evaluating_seconds_ += watch.seconds();
    }
    for (const FitCallback& callback : options_.callbacks)
      if (callback.on_epoch_end) stopped_ |= callback.on_epoch_end(record) == Next::stop;
    history_.epochs.push_back(std::move(record));
  }

  TrainingModel& model_;
  DataLoader& data_;
  const std::uint64_t first_update_;
  const FitOptions& options_;
  const std::int64_t per_step_;    // samples
  const std::int64_t per_update_;  // samples
  std::int64_t samples_ = 0;
  bool stopped_ = false;
  std::optional<Stopwatch> first_step_;
  double seconds_ = 0;  // from the first step's call to the last one's return, evaluation apart
  double evaluating_seconds_ = 0;
  History history_;
};

}  // namespace

double value_of(const std::vector<NamedValue>& values, const std::string& name) {
  for (const NamedValue& value : values)
    if (value.name == name) return value.value;
  std::string names;
  for (const NamedValue& value : values) names += (names.empty() ? "" : ", ") + value.name;
  throw Error(Errc::invalid_argument,
              "there is no value named \"" + name + "\"; there are: " + names);
}

History fit(TrainingModel& model, DataLoader& data, const FitOptions& options) {
  check(options);
  return Fitting(model, data, options).run();
}

}  // namespace penstock
