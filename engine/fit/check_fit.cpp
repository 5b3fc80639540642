#include "engine/fit/check_fit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/fit/inference_fields.hpp"
#include "engine/fit/scores.hpp"
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
  if (!options.validation_model != !options.validation_data)
    refuse("validation_model and validation_data: expected both or neither, got only validation_" +
           std::string(options.validation_model ? "model" : "data"));
}

/// Whole steps, but for an epoch's last one: fewer samples would be cut to other micro-batches. A
/// batch sampler decides on the size itself.
void check_batches(const Options& model, const DataLoader& data) {
  const std::int64_t expected = model.samples_per_step(), got = data.samples_per_batch();
  if (got == expected || (data.has_batch_sampler() && got < expected)) return;
  refuse("data: expected batches of " + std::to_string(expected) +
         " samples, what a step takes (batch size x gradient accumulation x device iterations x "
         "replicas), got batches of " +
         std::to_string(got) + "; DataLoader(dataset, model.options()) makes such ones");
}

void check_validation(const TrainingModel& model, const FitOptions& options) {
  const InferenceModel& validation = *options.validation_model;
  check(options.metrics, validation.outline(), "fit: validation_model");
  InferenceFields(validation, model.inputs())
      .check(options.validation_data->fields().size(), "fit: validation_data");
}

std::vector<std::string> value_names(const FitOptions& options) {
  std::vector<std::string> names, of_metrics;
  for (const Metric& metric : options.metrics) of_metrics.push_back(metric.name);
  if (std::ranges::find(of_metrics, "loss") == of_metrics.end()) names.push_back("loss");
  names.insert(names.end(), of_metrics.begin(), of_metrics.end());
  if (options.validation_model)
    for (const std::string& name : of_metrics) names.push_back("val_" + name);
  return names;
}

}  // namespace

void check_fit(const TrainingModel& model, const DataLoader& data, const FitOptions& options) {
  check(options);
  check_batches(model.options(), data);
  check(options.metrics, model.outline(), "fit");
  if (options.validation_model) check_validation(model, options);
  for (const FitCallback& callback : options.callbacks)
    if (callback.on_fit_begin) callback.on_fit_begin(value_names(options));
}

}  // namespace penstock
