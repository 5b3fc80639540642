#include <algorithm>

#include "engine/fit/fields.hpp"
#include "engine/values/join_rows.hpp"
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
    throw Error(Errc::shape_mismatch, "predict: expected a row of output \"" + output.name +
                                          "\" for each of " + std::to_string(samples) +
                                          " samples, got " + to_string(shape));
  }

  std::vector<std::string> names_;
  std::vector<std::vector<Tensor>> parts_;  // by output
};

/// Accumulation has no meaning in inference.
std::int64_t samples_per_call(const Options& options) {
  return std::int64_t{options.batch_size} * options.device_iterations *
         options.topology.replication_factor;
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

std::vector<Tensor> rows(std::vector<Tensor> tensors, std::int64_t begin, std::int64_t end) {
  for (Tensor& tensor : tensors) tensor = tensor.rows(begin, end);
  return tensors;
}

}  // namespace

std::vector<NamedTensor> predict(InferenceModel& model, DataLoader& data) {
  Predictions predictions;
  for (const Batch& batch : data)
    predictions.add(model.run(first_fields(batch, model.inputs())), batch.front().shape()[0]);
  if (predictions.empty()) refuse_empty("predict");
  return predictions.joined();
}

std::vector<NamedTensor> predict(InferenceModel& model, const std::vector<Tensor>& inputs) {
  Predictions predictions;
  const std::int64_t most = samples_per_call(model.options());
  const std::int64_t samples = samples_in(inputs);
  std::int64_t begin = 0;
  for (; samples - begin > most; begin += most)
    predictions.add(model.run(rows(inputs, begin, begin + most)), most);
  predictions.add(model.run(begin == 0 ? inputs : rows(inputs, begin, samples)), samples - begin);
  return predictions.joined();
}

}  // namespace penstock
