#include "apps/trainer/output/metrics.hpp"

#include <algorithm>

#include "apps/trainer/output/json_line.hpp"

namespace trainer {
namespace {

void write(JsonLine& json, const char* name, const std::optional<double>& value) {
  if (value) json.field(name, *value);
}

void write(JsonLine& json, const penstock::OffloadReport& moved) {
  json.begin_object()
      .field("bytes", moved.bytes)
      .field("loads", moved.loads)
      .field("stores", moved.stores)
      .field("loaded_bytes", moved.loaded_bytes)
      .field("stored_bytes", moved.stored_bytes)
      .field("padding_bytes", moved.padding_bytes)
      .end_object();
}

void write(JsonLine& json, const penstock::CollectiveReport& collectives) {
  json.begin_object()
      .field("all_reduces", collectives.all_reduces)
      .field("reduce_scatters", collectives.reduce_scatters)
      .field("all_gathers", collectives.all_gathers)
      .field("all_reduced_bytes", collectives.all_reduced_bytes)
      .field("scattered_bytes", collectives.scattered_bytes)
      .field("gathered_bytes", collectives.gathered_bytes)
      .end_object();
}

void write(JsonLine& json, const penstock::StageReport& stage) {
  json.begin_object()
      .field("replica", stage.replica)
      .field("stage", stage.stage)
      .field("ipu", stage.ipu)
      .field("forward_runs", stage.forward_runs)
      .field("backward_runs", stage.backward_runs)
      .field("recomputed_runs", stage.recomputed_runs)
      .field("max_in_flight", stage.max_in_flight)
      .field("busy_seconds", stage.busy_seconds)
      .field("sent_bytes", stage.sent_bytes)
      .field("peak_bytes", stage.peak_bytes)
      .field("shared_bytes", stage.shared_bytes)
      .field("optimizer_bytes_on_ipu", stage.optimizer_bytes_on_ipu)
      .field("padding_bytes", stage.padding_bytes)
      .field("bytes_shared_by_replicas", stage.bytes_shared_by_replicas)
      .key("offloaded_optimizer_state");
  write(json, stage.optimizer_state);
  json.key("offloaded_accumulators");
  write(json, stage.accumulators);
  json.key("collectives");
  write(json, stage.collectives);
  json.key("offloaded_activations");
  write(json, stage.activations);
  json.key("offloaded_weights");
  write(json, stage.weights);
  json.field("forward_weight_loads", stage.forward_weight_loads)
      .field("backward_weight_loads", stage.backward_weight_loads)
      .end_object();
}

}  // namespace

std::optional<double> find_value(const std::vector<penstock::NamedValue>& values,
                                 const std::string& name) {
  const auto found = std::ranges::find(values, name, &penstock::NamedValue::name);
  return found == values.end() ? std::nullopt : std::optional(found->value);
}

StepMetrics step_metrics(const penstock::StepRecord& record, const penstock::StepResult& result) {
  const auto losses = result.loss.as<float>();
  return {.epoch = record.epoch,
          .step = record.step,
          .updates = record.updates,
          .loss = result.mean_loss,
          .losses = {losses.begin(), losses.end()},
          .accuracy = find_value(record.values, "accuracy"),
          .samples_per_second = record.samples_per_second};
}

std::string to_json(const StepMetrics& step) {
  JsonLine json;
  json.begin_object()
      .field("epoch", step.epoch)
      .field("step", step.step)
      .field("updates", step.updates)
      .field("loss", step.loss)
      .key("losses")
      .begin_array();
  for (const float loss : step.losses) json.value(double{loss});
  json.end_array();
  write(json, "accuracy", step.accuracy);
  return json.field("samples_per_second", step.samples_per_second).end_object().text();
}

std::string to_json(const RunMetrics& run) {
  JsonLine json;
  json.begin_object()
      .key("summary")
      .begin_object()
      .field("compile_seconds", run.compile_seconds)
      .field("plans_from_cache", run.plans_from_cache)
      .field("train_samples_per_second", run.train_samples_per_second)
      .field("train_waited_seconds", run.train_waited_seconds)
      .field("inference_samples_per_second", run.inference_samples_per_second);
  write(json, "test_accuracy", run.test_accuracy);
  write(json, "validation_loss", run.validation_loss);
  write(json, "tokens_per_second", run.tokens_per_second);
  json.field("peak_rss_bytes", run.peak_rss_bytes).key("stages").begin_array();
  for (const penstock::StageReport& stage : run.stages) write(json, stage);
  return json.end_array().end_object().end_object().text();
}

}  // namespace trainer
