#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fit/check_runs.hpp"
#include "engine/fit/field_match.hpp"
#include "engine/fit/fields.hpp"
#include "engine/fit/inference_fields.hpp"
#include "engine/fit/loader_note.hpp"
#include "engine/fit/prediction_inputs.hpp"
#include "engine/model/model_access.hpp"
#include "engine/rows.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace penstock {
namespace {

/// Predictions are what several calls of the model returned, one after the other.
class Predictions {
 public:
  Predictions(InferenceModel& model, PredictionInputs& inputs) : model_(model), inputs_(inputs) {}

  /// Runs the model on the rows of a batch from which `fields` chooses the inputs, in as many calls
  /// as it takes.
  void run_batch(const Batch& batch, InferenceFields& fields, const std::stop_token& stop) {
    in_runs(batch, batch.front().shape()[0], model_.samples_per_run(),
            [&](const Batch& part) { run(fields.of(part), part.front().shape()[0], stop); });
  }

  /// Runs the model on the caller's `callers_inputs` for `samples` samples, and keeps the
  /// prediction.
  void run(std::span<const Tensor> callers_inputs, std::int64_t samples,
           const std::stop_token& stop) {
    StepResult result = model_.run(inputs_.completed(callers_inputs, samples), stop);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < result.outputs.size(); ++i)
      if (inputs_.returns(i)) add(kept++, std::move(result.outputs[i]), samples);
  }

  std::vector<NamedTensor> joined() const {
    std::vector<NamedTensor> outputs;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      outputs.push_back({names_[i], join_rows(parts_[i])});
    return outputs;
  }

  /// Returns what joined() returns, and is empty then.
  std::vector<NamedTensor> take() {
    std::vector<NamedTensor> outputs = joined();
    parts_.clear();
    names_.clear();
    return outputs;
  }

 private:
  void add(std::size_t position, NamedTensor output, std::int64_t samples) {
    expect_rows(output, samples);
    if (position == parts_.size()) {
      names_.push_back(output.name);
      parts_.emplace_back();
    }
    parts_[position].push_back(std::move(output.tensor));
  }

  static void expect_rows(const NamedTensor& output, std::int64_t samples) {
    const Shape& shape = output.tensor.shape();
    if (shape.rank() > 0 && shape[0] == samples) return;
    throw Error(Errc::shape_mismatch,
                "predict: expected a row of output " + quoted_text(output.name) + " for each of " +
                    std::to_string(samples) + " samples, got " + to_string(shape));
  }

  InferenceModel& model_;
  PredictionInputs& inputs_;
  std::vector<std::string> names_;
  std::vector<std::vector<Tensor>> parts_;  // `parts_` has the parts of each returned output.
};

/// Checks that outputs have one row for each sample. If several replicas share their inputs,
/// outputs have as many rows for a sample.
void expect_own_inputs(const InferenceModel& model) {
  const int group = model.options().topology.input_group_size;
  if (group > 1)
    throw Error(Errc::invalid_argument,
                "predict: expected replicas with inputs of their own, but "
                "options.topology.input_group_size is " +
                    std::to_string(group) + ", and a sample has as many rows; call " +
                    "InferenceModel::run(), which returns them all");
}

/// Returns the number of rows that all tensors have, or 0 if they have different numbers: then the
/// model's call reports what is wrong.
std::int64_t samples_in(const std::vector<Tensor>& inputs) {
  std::int64_t samples = -1;
  for (const Tensor& tensor : inputs) {
    const std::int64_t rows = tensor && tensor.shape().rank() > 0 ? tensor.shape()[0] : 0;
    samples = samples < 0 || samples == rows ? rows : 0;
  }
  return std::max<std::int64_t>(samples, 0);
}

/// Calls `run` with the model, the PredictionInputs of a caller who has a tensor for each of
/// `fields()`, and empty Predictions. Returns what `run` returns. All this counts as one call of
/// the model, `name`.
auto predicting(InferenceModel& model, const char* name, const auto& fields, const auto& run) {
  return or_out_of_memory(name, [&] {
    const auto calls = ModelAccess::calls(model);
    const ModelCall call(*calls, name);
    InferenceModel kept = ModelAccess::handle(model);  // The host's functions may destroy `model`.
    expect_own_inputs(kept);
    PredictionInputs inputs(kept, fields());
    Predictions predictions(kept, inputs);
    return run(kept, inputs, predictions);
  });
}

/// Calls `use(samples)` after each batch of an epoch of `data`, whose samples' predictions have
/// then been added to `predictions`, until `use` returns false.
void predict_epoch(InferenceModel& model, DataLoader& data, const PredictionInputs& inputs,
                   Predictions& predictions, const char* name, const std::stop_token& stop,
                   const auto& use) {
  InferenceFields fields(model, data.fields(), inputs.names(), {});
  check_runs(model, data, fields, std::string(name) + ": data");
  LoaderNote note(model);
  note.tell(data);
  data.start_epoch();
  bool goes_on = true, any = false;
  while (goes_on) {
    const std::optional<Batch> batch = data.next(stop);
    if (!batch) break;
    any = true;
    predictions.run_batch(*batch, fields, stop);
    goes_on = use(batch->front().shape()[0]);
  }
  if (!any) refuse_empty(name);
  note.tell(data);
}

}  // namespace

std::vector<NamedTensor> predict(InferenceModel& model, DataLoader& data, std::stop_token stop) {
  const auto run = [&](InferenceModel& kept, const PredictionInputs& inputs,
                       Predictions& predictions) {
    predict_epoch(kept, data, inputs, predictions, "predict", stop,
                  [](std::int64_t) { return true; });
    return predictions.joined();
  };
  return predicting(
      model, "predict", [&] { return field_names(data.fields()); }, run);
}

std::vector<NamedTensor> predict(InferenceModel& model,
                                 std::shared_ptr<const IterableDataset> dataset,
                                 std::stop_token stop) {
  InferenceModel kept = ModelAccess::handle(model);  // The dataset's functions may destroy `model`.
  DataLoader data(std::move(dataset), kept.samples_per_run(), {.drop_last = false, .workers = 1});
  return predict(kept, data, std::move(stop));
}

std::int64_t predict_batches(
    InferenceModel& model, DataLoader& data,
    const std::function<Next(const std::vector<NamedTensor>& outputs)>& on_outputs,
    std::stop_token stop) {
  const auto run = [&](InferenceModel& kept, const PredictionInputs& inputs,
                       Predictions& predictions) {
    if (!on_outputs)
      throw Error(Errc::invalid_argument,
                  "predict_batches: expected a function that takes the outputs of a batch and "
                  "returns Next::go_on or Next::stop, got an empty on_outputs");
    std::int64_t samples = 0;
    predict_epoch(kept, data, inputs, predictions, "predict_batches", stop, [&](std::int64_t more) {
      samples += more;
      const std::vector<NamedTensor> outputs = predictions.take();
      return call_host([&] { return on_outputs(outputs); }) == Next::go_on;
    });
    return samples;
  };
  return predicting(
      model, "predict_batches", [&] { return field_names(data.fields()); }, run);
}

std::vector<NamedTensor> predict(InferenceModel& model, const std::vector<Tensor>& inputs,
                                 std::stop_token stop) {
  const auto run = [&](InferenceModel& kept, const PredictionInputs&, Predictions& predictions) {
    const std::int64_t samples = samples_in(inputs);
    in_runs(inputs, samples, kept.samples_per_run(), [&](const std::vector<Tensor>& part) {
      predictions.run(part, samples_in(part), stop);
    });
    return predictions.joined();
  };
  return predicting(
      model, "predict", [&] { return std::vector<std::string>(inputs.size()); }, run);
}

}  // namespace penstock
