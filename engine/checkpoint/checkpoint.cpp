#include "penstock/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/checkpoint/checkpoint_content.hpp"
#include "engine/files/weights_file.hpp"
#include "engine/fit/best_epoch.hpp"
#include "engine/model/model_access.hpp"
#include "engine/replica_buffers.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"

namespace penstock {
namespace {

constexpr const char* checkpoint_subject = "checkpoint";

[[noreturn]] void refuse(Errc code, const std::string& what) {
  throw Error(code, std::string(checkpoint_subject) + ": " + what);
}

/// Checks that the option `name` has the value that it had in the training that was saved.
template <class Value>
void expect_same(const char* name, const Value& saved, const Value& now) {
  if (saved == now) return;
  const auto text = [](const Value& value) {
    if constexpr (std::is_enum_v<Value>)
      return std::string(to_string(value));
    else
      return std::to_string(value);
  };
  refuse(Errc::invalid_argument, std::string(name) + ": expected " + text(saved) +
                                     ", as the training has that was saved, got " + text(now));
}

/// Checks the options that decide on the bits of a training. All others may change.
void expect_same_options(const Options& saved, const Options& now) {
  expect_same("options.batch_size", saved.batch_size, now.batch_size);
  expect_same("options.seed", saved.seed, now.seed);
  expect_same("options.training.gradient_accumulation", saved.training.gradient_accumulation,
              now.training.gradient_accumulation);
  expect_same("options.training.reduction", saved.training.reduction, now.training.reduction);
  expect_same("options.training.reduction_strategy", saved.training.reduction_strategy,
              now.training.reduction_strategy);
}

/// Checks that the checkpoint has the parameters and buffers of the model, and no others.
void expect_weights_of(const Model& model, const std::vector<NamedTensor>& weights) {
  std::map<std::string_view, const Tensor*> found;
  for (const NamedTensor& weight : weights) found.emplace(weight.name, &weight.tensor);
  for (const ParameterInfo& info : model.parameters()) {
    const auto weight = found.extract(info.name);
    const std::string name = "parameter " + quoted_text(info.name) + ": expected f32 ";
    if (!weight) refuse(Errc::shape_mismatch, name + to_string(info.shape) + ", found none");
    const Tensor& tensor = *weight.mapped();
    if (tensor.dtype() != DType::f32 || tensor.shape() != info.shape)
      refuse(Errc::shape_mismatch, name + to_string(info.shape) + ", got " +
                                       std::string(to_string(tensor.dtype())) + ' ' +
                                       to_string(tensor.shape()));
  }
  if (!found.empty())
    refuse(Errc::shape_mismatch, "parameter " + quoted_text(std::string(found.begin()->first)) +
                                     " is none of the model's");
}

/// Returns the position at which `data`, whose batches may be of another size, goes on.
LoaderPosition position_in(const Checkpoint& checkpoint, const DataLoader& data) {
  LoaderPosition position = checkpoint.position;
  const std::int64_t before = checkpoint.samples_per_batch, now = data.samples_per_batch();
  if (before == now || before < 1 || now < 1 || data.has_batch_sampler()) return position;
  constexpr std::int64_t most_samples = std::int64_t{1} << 53;
  if (position.batches > most_samples / before) return position;  // seek() refuses it.
  const std::int64_t batches = (position.batches * before + now - 1) / now;
  const std::int64_t most = data.batches() > 0 ? data.batches() : batches;
  position.batches = std::min(batches, most);
  return position;
}

/// Returns the optimizer that was saved, or nothing if `model` has it. @throws Error
/// invalid_argument if the model cannot be given it.
std::optional<Optimizer> other_optimizer(const Checkpoint& checkpoint, const TrainingModel& model) {
  if (to_json(model.optimizer()) == checkpoint.optimizer) return std::nullopt;
  Optimizer optimizer = optimizer_from_json(checkpoint.optimizer);
  ModelAccess::expect_optimizer(model, optimizer);
  return optimizer;
}

/// Reads the file of a checkpoint. Checkpoints have tensors of Penstock's own types alone, so that
/// a file with another type is damaged.
WeightsFile read_tensors_of(const std::string& path) try {
  return read_weights_file(path, checkpoint_subject);
} catch (const Error& error) {
  if (error.code() != Errc::unsupported) throw;
  throw Error(Errc::corrupt_file, error.what());
}

}  // namespace

Checkpoint make_checkpoint(const TrainingModel& model, const DataLoader& data) {
  return on_hosts_thread(checkpoint_subject, [&] {
    ReplicaBuffers buffers = ModelAccess::replica_buffers(model);
    return Checkpoint{.updates = model.updates(),
                      .weights = weights_of(ModelAccess::trained(model)),
                      .replica_buffers = std::move(buffers.buffers),
                      .replica_buffers_length = buffers.length,
                      .optimizer_state = model.optimizer_state(),
                      .optimizer = to_json(model.optimizer()),
                      .options = to_json(model.options()),
                      .position = data.position(),
                      .samples_per_batch = data.samples_per_batch()};
  });
}

void restore_checkpoint(const Checkpoint& checkpoint, TrainingModel& model, DataLoader& data,
                        const std::stop_token& stop) {
  on_hosts_thread(checkpoint_subject, [&] {
    const Model& trained = ModelAccess::trained(model);
    expect_same_options(options_from_json(checkpoint.options), model.options());
    expect_weights_of(trained, checkpoint.weights);
    const ReplicaBuffers buffers{checkpoint.replica_buffers_length, checkpoint.replica_buffers};
    ModelAccess::expect_replica_buffers(model, buffers);
    const std::optional<Optimizer> optimizer = other_optimizer(checkpoint, model);
    ModelAccess::expect_optimizer_state(model, checkpoint.optimizer_state);
    data.seek(position_in(checkpoint, data), stop);
    if (optimizer) model.set_optimizer(*optimizer);
    ModelAccess::set_optimizer_state(model, checkpoint.optimizer_state);
    ModelAccess::set_weights(trained, "restore_checkpoint", checkpoint.weights);
    ModelAccess::set_replica_buffers(model, buffers);
  });
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  on_hosts_thread(checkpoint_subject, [&] { write_weights_file(path, content_of(checkpoint)); });
}

Checkpoint load_checkpoint(const std::string& path) {
  return on_hosts_thread(checkpoint_subject, [&] {
    return checkpoint_of(read_tensors_of(path),
                         std::string(checkpoint_subject) + " \"" + printable(path) + '"');
  });
}

}  // namespace penstock
