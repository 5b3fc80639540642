// ModelAccess gives the engine's other parts, such as training and inference models, access to the
// inside of a Model.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/model/model_calls.hpp"
#include "engine/model/parameter_store.hpp"
#include "graph/compile/model_inputs.hpp"
#include "graph/ir/graph.hpp"
#include "penstock/model.hpp"

namespace penstock {

class InferenceModel;
class TrainingModel;
struct NamedTensor;
struct Optimizer;
struct Objective;
struct ReplicaBuffers;

struct ModelAccess {
  /// Returns the network, as it is now, for micro-batches of one sample; graph::with_batch() makes
  /// a network for larger micro-batches of it.
  static const graph::Graph& graph(const Model& model);
  /// Returns the network, as graph() does, with the loss and the outputs of `objective`. All
  /// parameters that `objective` does not train are frozen.
  /// @throws Error as the constructor of TrainingModel that takes an Objective.
  static graph::Graph graph_of(const Model& model, const Objective& objective);
  /// Returns what the copies of the model share.
  static std::shared_ptr<ModelState> state(const Model& model);
  /// Returns `wanted` or, if there is a parameter or buffer of that name, `wanted` and a number.
  static std::string unused_variable_name(const Model& model, const std::string& wanted);
  /// Checks that `value` is one of the model's. @throws Error invalid_model, whose text begins with
  /// `subject`, if it is not.
  static void expect_value(std::string_view subject, const Model& model, Value value);
  /// Checks that each Layers::share_parameters() of the model has found a layer. @throws Error
  /// invalid_model if one has not.
  static void expect_shares_used(const Model& model);
  /// Calls `change`, and takes back what it has added to the network if it throws.
  static void add(const Model& model, const std::function<void()>& change);
  /// Returns the object that every call of the model begins with. All training and inference models
  /// of a Model have the same one as the Model.
  static std::shared_ptr<ModelCalls> calls(const Model& model);
  static std::shared_ptr<ModelCalls> calls(const TrainingModel& model);
  static std::shared_ptr<ModelCalls> calls(const InferenceModel& model);
  /// Returns a further handle of the running model behind `model`. It is for a call during which
  /// functions of the host's may destroy `model`. The call drops the handle before it ends.
  static TrainingModel handle(const TrainingModel& model);
  static InferenceModel handle(const InferenceModel& model);
  /// Returns a handle of the model whose weights `model` trains.
  static const Model& trained(const TrainingModel& model);
  /// Returns what `model` was told to train.
  static const Objective& objective(const TrainingModel& model);
  /// Returns which of the inputs and outputs of `model` are targets and losses.
  static const graph::Targets& targets(const InferenceModel& model);
  /// Sets the parameters and buffers that `weights` names, all of them or none, in the call `name`.
  /// @throws Error as Model::set_weight(); then nothing has changed. An exception of a log's
  /// function is thrown when the weights are set already.
  static void set_weights(const Model& model, std::string_view name,
                          const std::vector<NamedTensor>& weights);
  /// Checks that TrainingModel::set_optimizer() takes `optimizer`. @throws Error as that function.
  static void expect_optimizer(const TrainingModel& model, const Optimizer& optimizer);
  /// Checks that set_optimizer_state() takes `state`. @throws Error as that function.
  static void expect_optimizer_state(const TrainingModel& model,
                                     const std::vector<NamedTensor>& state);
  /// Sets the state of the optimizer as TrainingModel::set_optimizer_state() does, but takes
  /// numbers that are not finite, too, because a training that has diverged goes on with them.
  static void set_optimizer_state(TrainingModel& model, const std::vector<NamedTensor>& state);
  /// Returns the buffers that the replicas of `model` have of their own.
  static ReplicaBuffers replica_buffers(const TrainingModel& model);
  /// Checks that set_replica_buffers() takes `buffers`, and makes the plan for their length.
  /// @throws Error shape_mismatch if the buffers are not those of the model; invalid_argument if no
  /// step has their length; as TrainingModel::step() for the plan. Nothing has changed then.
  static void expect_replica_buffers(TrainingModel& model, const ReplicaBuffers& buffers);
  /// Sets the buffers of all replicas but the first. If `buffers` has none, or those of another
  /// number of replicas, all replicas go on from the first one's. What overwrites them afterwards
  /// is what TrainingModel::buffer() says. @throws Error as expect_replica_buffers().
  static void set_replica_buffers(TrainingModel& model, const ReplicaBuffers& buffers);
  /// Returns the model's weights. They live as long as this pointer, even if no handle is left.
  static std::shared_ptr<ParameterStore> weights(const Model& model);
};

}  // namespace penstock
