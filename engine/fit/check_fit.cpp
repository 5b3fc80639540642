#include "engine/fit/check_fit.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/fit/callback_states.hpp"
#include "engine/fit/check_runs.hpp"
#include "engine/fit/inference_fields.hpp"
#include "engine/fit/scores.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Errc::invalid_argument, "fit: " + what);
}

void expect_positive(std::int64_t value, const std::string& name) {
  if (value <= 0) refuse(name + ": expected 1 or more, got " + std::to_string(value));
}

void check(const FitOptions& options) {
  check(std::span(options.metrics));
  expect_positive(options.epochs, "epochs");
  expect_positive(options.steps_per_epoch.value_or(1), "steps_per_epoch");
  expect_positive(options.max_updates.value_or(1), "max_updates");
  expect_positive(options.checkpoints.every_updates, "checkpoints.every_updates");
  if (options.checkpoints.save || options.checkpoints.resume) check_states(options.callbacks);
  if (options.checkpoints.save) Scores(options.metrics, true).check_savable();
  if (!options.validation_model != !options.validation_data)
    refuse("validation_model and validation_data: expected both or neither, got only validation_" +
           std::string(options.validation_model ? "model" : "data"));
  if (options.validation_model && options.metrics.empty())
    refuse(
        "validation_model: expected metrics, got none, so that nothing would be measured; "
        "mean_of(\"loss\") is the loss of a model that has it as the output \"loss\"");
}

/// Checks that each batch, except for an epoch's last one, has the samples of a whole step: fewer
/// samples would be divided into other micro-batches. A batch sampler may make smaller batches,
/// too.
void check_batches(const Options& model, const DataLoader& data) {
  const std::int64_t expected = model.samples_per_step(), got = data.samples_per_batch();
  if (got == expected || (data.has_batch_sampler() && got < expected)) return;
  refuse("data: expected batches of " + std::to_string(expected) +
         " samples, what a step takes (batch size x gradient accumulation x device iterations x "
         "replicas), got batches of " +
         std::to_string(got) + "; DataLoader(dataset, model.options()) makes such ones");
}

struct ShortStep {
  std::int64_t samples = 0;
  std::string why;
};

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Returns how many steps certainly run unless `max_updates` ends the training. If a callback may
/// stop the training, only the first step, or only the steps of the first epoch, are certain. The
/// result is 0 if it is unknown how many steps an epoch has.
std::int64_t certain_steps(const DataLoader& data, const FitOptions& options) {
  const std::int64_t epoch = options.steps_per_epoch.value_or(data.batches());
  const auto any = [&](auto hook) {
    return std::ranges::any_of(options.callbacks, [&](const FitCallback& callback) {
      return static_cast<bool>(callback.*hook);
    });
  };
  if (any(&FitCallback::on_step_end)) return std::min<std::int64_t>(epoch, 1);
  if (any(&FitCallback::on_epoch_end)) return epoch;
  return epoch > no_end / options.epochs ? no_end : epoch * options.epochs;
}

/// Returns the first step that is known to have fewer samples than a full step, or nothing if there
/// is none.
std::optional<ShortStep> first_short_step(const Options& model, const DataLoader& data,
                                          const FitOptions& options) {
  if (data.has_batch_sampler()) return std::nullopt;
  const std::int64_t full = model.samples_per_step(), per_call = model.device_iterations;
  const std::int64_t per_update = full / per_call, batches = data.batches();
  const std::int64_t steps = certain_steps(data, options);
  const std::int64_t most = options.max_updates.value_or(no_end);
  const std::int64_t last = data.last_batch_samples();
  const bool ends_short = batches > 0 && batches <= steps && last < full;
  const std::int64_t before = ends_short ? (batches - 1) * per_call : 0;
  if (ends_short && most > before) {
    const std::int64_t allowed = std::min((last + per_update - 1) / per_update, most - before);
    return ShortStep{std::min(last, allowed * per_update),
                     "an epoch's last one; DataLoaderOptions::drop_last = true leaves it out"};
  }
  if (options.max_updates && most % per_call != 0 && most / per_call < steps)
    return ShortStep{most % per_call * per_update, "the last one, which max_updates cuts short"};
  return std::nullopt;
}

void check_short_step(const TrainingModel& model, const DataLoader& data,
                      const FitOptions& options) {
  const auto step = first_short_step(model.options(), data, options);
  if (!step) return;
  try {
    model.check_samples(step->samples);
  } catch (const Error& error) {
    if (error.code() != Errc::shape_mismatch) throw;  // The error may be a lack of memory.
    refuse("data: a step will have " + count_text(step->samples, "sample") + ", " + step->why +
           ": " + error.what());
  }
}

/// Returns the metrics that are computed of training steps: all but "loss", which every step
/// returns.
std::vector<Metric> metrics_of_steps(const FitOptions& options) {
  std::vector<Metric> metrics;
  std::ranges::copy_if(options.metrics, std::back_inserter(metrics),
                       [](const Metric& metric) { return metric.name != "loss"; });
  return metrics;
}

void check_validation(const TrainingModel& model, const InferenceModel& validation,
                      const FitOptions& options, const std::stop_token& stop) {
  check(options.metrics, validation.outline(), "fit: validation_model", stop);
  const DataLoader& data = *options.validation_data;
  check_runs(validation, data, InferenceFields(validation, data.fields(), model.inputs()),
             "fit: validation_data");
}

}  // namespace

std::vector<std::string> value_names(const FitOptions& options) {
  std::vector<std::string> names{"loss"};
  for (const Metric& metric : options.metrics)
    if (metric.name != "loss") names.push_back(metric.name);
  if (options.validation_model)
    for (const Metric& metric : options.metrics) names.push_back("val_" + metric.name);
  return names;
}

void check_fit(const TrainingModel& model, const InferenceModel* validation_model,
               const DataLoader& data, const FitOptions& options, const std::stop_token& stop) {
  check(options);
  check_batches(model.options(), data);
  check_short_step(model, data, options);
  check(metrics_of_steps(options), model.outline(), "fit", stop);
  if (validation_model) check_validation(model, *validation_model, options, stop);
}

}  // namespace penstock
