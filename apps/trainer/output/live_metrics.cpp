#include "apps/trainer/output/live_metrics.hpp"

#include <cmath>

#include "apps/trainer/options/shortest_text.hpp"
#include "penstock/version.hpp"

namespace trainer {
namespace {

/// Returns a number as Prometheus reads it.
std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  return shortest_text(number);
}

/// Returns a metric of one number, with the lines that describe it.
std::string metric(const std::string& name, const std::string& type, const std::string& help,
                   double value) {
  return "# HELP penstock_" + name + ' ' + help + "\n# TYPE penstock_" + name + ' ' + type +
         "\npenstock_" + name + ' ' + number_text(value) + '\n';
}

}  // namespace

void LiveMetrics::note(const StepMetrics& step) {
  const std::lock_guard lock(mutex_);
  ++steps_;
  samples_ += step.samples;
  last_step_ = step;
}

void LiveMetrics::note(const RunMetrics& run) {
  const std::lock_guard lock(mutex_);
  test_accuracy_ = run.test_accuracy;
  validation_loss_ = run.validation_loss;
}

std::string LiveMetrics::page() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP penstock_info The version of Penstock that trains.\n"
      "# TYPE penstock_info gauge\npenstock_info{version=\"";
  text.append(penstock::version).append("\"} 1\n");
  const auto counter = [&](const char* name, const char* help, auto value) {
    text += metric(name, "counter", help, static_cast<double>(value));
  };
  const auto gauge = [&](const char* name, const char* help, auto value) {
    text += metric(name, "gauge", help, static_cast<double>(value));
  };
  counter("steps_total", "Steps of this run that are done.", steps_);
  counter("samples_total", "Samples of all these steps.", samples_);
  if (last_step_) {
    counter("updates_total", "Weight updates of this run that are done.", last_step_->updates);
    gauge("epoch", "Epoch of the last step, counted from 1.", last_step_->epoch);
    gauge("loss", "Mean loss of the last step.", last_step_->loss);
    if (last_step_->accuracy)
      gauge("accuracy", "Accuracy of the last step, as a fraction.", *last_step_->accuracy);
    gauge("learning_rate", "Learning rate of the next weight update.", last_step_->learning_rate);
    gauge("samples_per_second", "Samples per second of the last step.",
          last_step_->samples_per_second);
  }
  if (test_accuracy_)
    gauge("test_accuracy", "Accuracy on the test set, as a fraction.", *test_accuracy_);
  if (validation_loss_)
    gauge("validation_loss", "Mean loss on the rest of the text.", *validation_loss_);
  return text;
}

}  // namespace trainer
