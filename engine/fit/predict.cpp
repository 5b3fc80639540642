#include <algorithm>
#include <optional>

#include "engine/fit/check_runs.hpp"
#include "engine/fit/fields.hpp"
#include "engine/fit/inference_fields.hpp"
#include "engine/fit/loader_note.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/printable.hpp"
#include "graph/values/rows.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace penstock {
namespace {

/// What several calls returned, one after the other.
class Predictions {
 public:
  void add(StepResult result, std::int64_t samples) {
    parts_.resize(result.outputs.size());
    names_.resize(result.outputs.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      expect_rows(result.outputs[i], samples);
      names_[i] = result.outputs[i].name;
      parts_[i].push_back(std::move(result.outputs[i].tensor));
    }
  }

  bool empty() const { return parts_.empty(); }

  std::vector<NamedTensor> joined() const {
    std::vector<NamedTensor> outputs;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      outputs.push_back({names_[i], join_rows(parts_[i])});
    return outputs;
  }

 private:
  static void expect_rows(const NamedTensor& output, std::int64_t samples) {
    const Shape& shape = output.tensor.shape();
    if (shape.rank() > 0 && shape[0] == samples) return;
    throw Error(Errc::shape_mismatch,
                "predict: expected a row of output " + quoted_text(output.name) + " for each of " +
                    std::to_string(samples) + " samples, got " + to_string(shape));
  }

  std::vector<std::string> names_;
  std::vector<std::vector<Tensor>> parts_;  // by output
};

/// Outputs have a row for each replica.
void expect_own_inputs(const InferenceModel& model) {
  const int group = model.options().topology.input_group_size;
  if (group > 1)
    throw Error(Errc::invalid_argument,
                "predict: expected replicas with inputs of their own, but "
                "options.topology.input_group_size is " +
                    std::to_string(group) + ", and a sample has as many rows; call " +
                    "InferenceModel::run(), which returns them all");
}

/// 0 where they disagree: the model says what is wrong with them as they are.
std::int64_t samples_in(const std::vector<Tensor>& inputs) {
  std::int64_t samples = -1;
  for (const Tensor& tensor : inputs) {
    const std::int64_t rows = tensor && tensor.shape().rank() > 0 ? tensor.shape()[0] : 0;
    samples = samples < 0 || samples == rows ? rows : 0;
  }
  return std::max<std::int64_t>(samples, 0);
}

/// Returns what `run`, which is given the model and the predictions, has added to these in one call
/// of the model.
std::vector<NamedTensor> predicting(InferenceModel& model, const auto& run) {
  return or_out_of_memory("predict", [&] {
    const auto calls = ModelAccess::calls(model);
    const ModelCall call(*calls, "predict");
    InferenceModel kept = ModelAccess::handle(model);  // the host's functions may destroy `model`
    expect_own_inputs(kept);
    Predictions predictions;
    run(kept, predictions);
    return predictions.joined();
  });
}

}  // namespace

std::vector<NamedTensor> predict(InferenceModel& model, DataLoader& data, std::stop_token stop) {
  return predicting(model, [&](InferenceModel& kept, Predictions& predictions) {
    InferenceFields fields(kept, data.fields());
    check_runs(kept, data, fields, "predict: data");
    LoaderNote note(kept);
    note.tell(data);
    data.start_epoch();
    while (const std::optional<Batch> batch = data.next(stop))
      in_runs(*batch, batch->front().shape()[0], kept.samples_per_run(), [&](const Batch& part) {
        predictions.add(kept.run(fields.of(part), stop), part.front().shape()[0]);
      });
    if (predictions.empty()) refuse_empty("predict");
    note.tell(data);
  });
}

std::vector<NamedTensor> predict(InferenceModel& model, const std::vector<Tensor>& inputs,
                                 std::stop_token stop) {
  return predicting(model, [&](InferenceModel& kept, Predictions& predictions) {
    const std::int64_t samples = samples_in(inputs);
    in_runs(inputs, samples, kept.samples_per_run(), [&](const std::vector<Tensor>& part) {
      predictions.add(kept.run(part, stop), samples_in(part));
    });
  });
}

}  // namespace penstock
