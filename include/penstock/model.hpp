// A Model is a network with its weights, written down layer by layer, in blocks. A Model is a
// handle: copies share the network and the weights, and so do the training and inference models
// that are made from it.
//
// A model, its copies, and the training and inference models made from it take one call at a time.
// A call that begins while another thread is in one, which may be fit() or a constructor, changes
// nothing and throws Error busy, which names the other call. Only functions that are noexcept, and
// those whose comments say so, may be called beside another call. The destructors of training
// models, inference models and scopes, and assignments to such models, wait for the other call,
// which its stop token ends sooner. Functions of the host's that a call invokes may call the model:
// callbacks and metrics of fit(), logs, and layers as Sequential::add() says. Progress functions
// may not, because the model is only half made when they run.
//
// The destructor of a Model, and an assignment to it, wait for nothing, as with a std::shared_ptr:
// a call keeps the network and the weights with which it has begun, and so does every other handle.
// Functions of the host's that a call invokes may destroy the handle or assign to it. Another
// thread must do neither while a function of that very handle runs; give it a copy of its own.
//
// In a process that was forked from the process that made a model, calls throw Error closed, and
// destructors leave alone what belongs to the parent. New models may be made there.
//
// Calls, and the functions of the host's that they invoke, compute in the default floating-point
// environment, whatever the host's thread has set. Afterwards the thread has its own environment
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/initializer.hpp"
#include "penstock/layer_stages.hpp"
#include "penstock/load_options.hpp"
#include "penstock/loss_functions.hpp"
#include "penstock/options.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class OutputFile;
struct OnnxExportOptions;
struct OnnxOptions;

/// A ParameterInfo describes a parameter or a buffer of a model.
struct ParameterInfo {
  /// `name` is the name of the layer, a dot, and what the layer calls it, such as "weight"; or it
  /// is the name that the host has given to a parameter or constant of no layer.
  std::string name;
  Shape shape;  ///< `shape` is the shape of the parameter.
  /// `trainable` says whether training changes the parameter by gradients. It is false for a frozen
  /// parameter and for a buffer.
  bool trainable = true;
  bool buffer = false;  ///< `buffer` is true for a buffer, such as a running mean.
  /// `frozen` says whether Model::freeze() has frozen the parameter, or Model::freeze_statistics()
  /// the buffer.
  bool frozen = false;
};

/// A BlockScope is a scope: what is added to the model while the BlockScope lives belongs to one
/// block or one pipeline stage.
class BlockScope {
 public:
  BlockScope(const BlockScope&) = delete;
  BlockScope& operator=(const BlockScope&) = delete;
  ~BlockScope();

 private:
  friend class Model;
  struct State;
  explicit BlockScope(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A Model is a network with its weights. Layers check their inputs and options at once: the text
/// of Error shape_mismatch, invalid_argument or invalid_model opens with the op and the name of the
/// layer. In shapes, `[N,...]` is a micro-batch of N samples.
class Model : public LossFunctions {
 public:
  /// Makes a model without layers. Weights are drawn as PyTorch's layers draw them, from `seed` and
  /// the name of the parameter.
  explicit Model(std::string name = "model", std::uint64_t seed = 0);

  /// Makes a model of the file at `path` in the ONNX format, for operators of versions 7 to 21
  /// (docs/onnx.md). Initializers become parameters under their names, which gradients change, or
  /// constants, as OnnxOptions::parameters says. Layers have the names of the file's nodes, with
  /// dots for slashes, and outputs have their names. A batch norm in the form for inference is one
  /// whose statistics are frozen, and unfreeze_statistics() gives it the form for training.
  /// @throws Error io_error if the file cannot be read; corrupt_file if it breaks the format;
  /// unsupported, naming each operator and its nodes, for what cannot be imported.
  static Model from_onnx(const std::string& path, const OnnxOptions& options);
  /// Makes a model of a file as the other function does, with the defaults of OnnxOptions.
  static Model from_onnx(const std::string& path);

  /// Returns the name that was given to the constructor.
  const std::string& name() const noexcept;
  /// Returns an independent copy: a model with the same name, network, blocks and stages, and with
  /// copies of the newest weights. Values of one model are not values of the other, and scopes that
  /// are open stay with the original.
  /// @throws Error as weight().
  Model clone() const;

  /// Adds an input, which the host passes to each call. One sample has shape `sample`, and a
  /// micro-batch `[N, sample...]`.
  Value input(const std::string& name, const Shape& sample, DType dtype = DType::f32);
  /// Adds an input for class numbers of shape [N], one for each sample, which are i64, i32 or u8.
  /// For a class at each pixel, declare an input(name, {height, width}, DType::i64).
  Value labels(const std::string& name = "labels", DType dtype = DType::i64) {
    return input(name, {}, dtype);
  }

  /// Lets sequences of different lengths be passed to a model: from one call to the next, the size
  /// of `axis` of `input` may be anything from `shortest` up to the size that the input was
  /// declared with. All inputs that have such an axis are declared with the same size, and have the
  /// same size in a call. A negative `axis` counts from the end, and axis 0 is none.
  ///
  /// A training or inference model compiles a plan for each size in the first call of that size,
  /// and keeps the eight plans that it used last; RuntimeOptions::cache_directory keeps plans for
  /// later runs. Where the size changes from one call of a training model to the next, weights and
  /// the optimizer's state go from plan to plan by way of the host, and all replicas go on with the
  /// buffers of replica 0. A host with many sizes rounds them up to a few, and pads. The results
  /// have the bits of a model that was declared with that size. Layers must take every size: those
  /// whose parameters or options have a fixed number of steps do not, such as a linear layer behind
  /// a flattening, and the constructors of training and inference models throw Error shape_mismatch
  /// if a layer does not take the size `shortest`.
  /// @throws Error invalid_argument if `input` is no input of the model, if it has a dynamic axis
  /// already, if there is no such axis, or if `shortest` is below 1 or above the declared size.
  void dynamic_axis(Value input, int axis, std::int64_t shortest = 1);

  /// Opens a block called `name`: everything that is added until the result is destroyed belongs to
  /// that block. `ipu` is the IPU of the block; -1 names none. A name may be used again later for
  /// more layers of that block. Scopes nest; after an inner scope the outer one goes on.
  /// @throws Error invalid_model for an empty name, inside the scope of a pipeline stage, or while
  /// a stage assignment is set; invalid_topology for an `ipu` below -1 or above 65535, or for
  /// another `ipu` than the block had before.
  [[nodiscard]] BlockScope block(const std::string& name, int ipu = -1);
  /// Opens a block whose name is the number of blocks that this function has opened before: "0",
  /// "1", ...
  [[nodiscard]] BlockScope block();
  /// Begins a block called `name`: everything that is added from here on, outside of scopes,
  /// belongs to that block until the next block begins. `ipu` is the IPU of the block; -1 names
  /// none. What was added before the first such block belongs to block "start", on IPU 0.
  /// @throws Error invalid_model while a scope is open or a stage assignment is set, or for an
  /// empty name; invalid_topology for an `ipu` below -1 or above 65535, or for another `ipu` than
  /// the block is on, which holds for block "start", too. The model is unchanged then.
  void begin_block(const std::string& name, int ipu = -1);
  /// Begins a block called `name` at a layer that exists already, which may be the loss. The layer
  /// is the one called `layer`; failing that, it is the first one whose name begins with `layer`
  /// and a dot ("layer4" finds "layer4.0.conv1"). Training and inference models that were made
  /// before do not change.
  /// @throws Error invalid_argument if there is no such layer, or if a block begins there already;
  /// invalid_model and invalid_topology as begin_block(). The model is unchanged then.
  void begin_block_at(const std::string& layer, const std::string& name, int ipu = -1);
  /// Undoes every begin_block_at(), and the IPUs that these calls set.
  /// @throws Error invalid_topology if the first layers would then be in block "start" while that
  /// block is on another IPU than 0. The model is unchanged then.
  void remove_block_marks();

  /// Opens a pipeline stage: everything that is added until the result is destroyed belongs to
  /// stage `number`, and to a block called "stage 0", "stage 1", and so on. If one layer has a
  /// stage, all layers must have one, and no number may be left out.
  /// @throws Error invalid_topology for a negative number; invalid_model inside a scope, or while a
  /// stage assignment is set.
  [[nodiscard]] BlockScope pipeline_stage(int number);
  /// Returns all layers in post-order: each layer comes after those that it reads, depth first from
  /// the outputs and the loss.
  LayerStages stage_assignment() const;
  /// Sets the stages of all layers to those in `layers`, a list as stage_assignment() returns it.
  /// The list replaces what scopes of blocks and stages, and marks, have said. Training and
  /// inference models that were made before do not change.
  /// @throws Error invalid_argument if `layers` is not a list of these layers in this order, each
  /// with a stage; invalid_topology if a stage from 0 to the last has no layer, or if a layer reads
  /// from a later stage. The model is unchanged then.
  void set_stage_assignment(const LayerStages& layers);
  /// Removes the assignment of set_stage_assignment(), so that scopes and marks count again. While
  /// an assignment is set, no layer can be added and no scope opened.
  void reset_stage_assignment();

  /// Marks `x` as worth the memory that it takes in stages that recompute
  /// (`TrainingOptions::recompute`), and returns it: `x` is kept, and what follows is computed
  /// again from it. In the last stage and without recomputation the mark has no effect. If `x` runs
  /// as one op with a pooling or relu behind it, it has no result of its own, and the result of the
  /// last of these layers is kept.
  Value recomputation_checkpoint(Value x);

  /// Makes calls return `value` under the name `name`.
  void output(const std::string& name, Value value);
  /// Returns the value that calls return under the name `name`, such as an output of an imported
  /// model from which a loss is to be computed. @throws Error invalid_argument if there is no such
  /// output.
  Value output(const std::string& name) const;
  /// Sets the value that training minimizes; it may be set once. Losses that it is computed from
  /// are then ordinary values. Without this call, training minimizes the one loss from which no
  /// other loss is computed, if there is exactly one.
  /// @throws Error invalid_model at the second call.
  void loss(Value value);

  /// Returns the shape of `value` for a micro-batch of one sample.
  Shape shape(Value value) const;
  /// Returns the name by which an anchor refers to `value`: the name of its layer, which the host
  /// gave or the model made up.
  std::string tensor_name(Value value) const;

  /// Returns all parameters and buffers, in the order in which their layers were added.
  std::vector<ParameterInfo> parameters() const;
  /// Returns the newest value of a parameter or buffer. After training steps, the first call
  /// fetches the weights from the IPUs.
  /// @throws Error invalid_argument, naming the parameter, if there is no parameter or buffer
  /// called `name`; out_of_memory if there is no memory for the weights; closed if a failure has
  /// lost them. Calls throw these errors again until the weights can be read or load_weights() has
  /// replaced them. No function ever takes older weights for the newest.
  Tensor weight(const std::string& name) const;
  /// Replaces the value of a parameter or buffer by a copy of `value`. The training and inference
  /// models that are made from this model use the new value from their next call on.
  /// @throws Error shape_mismatch, and as weight(). The model is unchanged then.
  void set_weight(const std::string& name, const Tensor& value);
  /// Gives each parameter whose name `pattern` matches new initial values, which depend on the
  /// model's seed and the parameter's name. A `*` in the pattern matches any characters, and a `?`
  /// matches one: "h.*.weight" matches "h.0.attn.qkv.weight". The values count as those of
  /// set_weight().
  /// @throws Error invalid_argument if the pattern matches no parameter, or as Initializer says;
  /// and as weight(). The model is unchanged then.
  void initialize(const std::string& pattern, const Initializer& initializer);

  /// Freezes each parameter whose name `pattern` matches, with `*` and `?` as in initialize():
  /// training models that are made from now on leave it as it is, and so do weight decay and the
  /// norm of clipping. Nothing that only frozen parameters would need is computed, stored or sent
  /// back, and there are neither gradient sums nor an optimizer's state for them. Training models
  /// that were made before do not change. set_weight(), initialize() and load_weights() still
  /// change frozen parameters.
  /// @throws Error invalid_argument if the pattern matches no parameter. The model is unchanged
  /// then.
  void freeze(const std::string& pattern);
  /// Has training change the parameters again whose names `pattern` matches, in training models
  /// that are made from now on. @throws Error as freeze().
  void unfreeze(const std::string& pattern);
  /// Freezes the running statistics of each norm that has a buffer whose name `pattern` matches. In
  /// training models that are made from now on, such a norm does what it does in inference: it
  /// normalizes by its running statistics, does not update them, and has the gradient that is due
  /// if they are constants. Its weight and its bias are parameters, which freeze() freezes.
  /// @throws Error invalid_argument if the pattern matches no buffer. The model is unchanged then.
  void freeze_statistics(const std::string& pattern);
  /// Undoes freeze_statistics() for the norms of which `pattern` matches a buffer.
  /// @throws Error as freeze_statistics().
  void unfreeze_statistics(const std::string& pattern);

  /// Writes all weights to a file at `path` in the safetensors format, whole or not at all.
  /// @throws Error io_error, and as weight().
  void save_weights(const std::string& path) const;
  /// Writes all weights to `file`, which the caller commits. @throws Error io_error, and as
  /// weight().
  void save_weights(OutputFile& file) const;
  /// Reads all weights from a file, which must have every parameter and buffer, with its shape, and
  /// nothing else. Returns which ones were loaded. Elements of other floating-point types are
  /// converted to f32 as load_safetensors() says.
  /// @throws Error io_error, corrupt_file and unsupported as load_safetensors(); shape_mismatch
  /// naming file and tensor. No weight has changed then.
  LoadedWeights load_weights(const std::string& path);
  /// Reads weights from a file as `options` say, and returns which ones were loaded.
  /// @throws Error as the other function; invalid_argument for options that fit neither the model
  /// nor the file; and as weight() if parameters keep their values. No weight has changed then.
  LoadedWeights load_weights(const std::string& path, const LoadOptions& options);

  /// Writes the model to a file at `path` in the ONNX format, with operators of version 17, whole
  /// or not at all (docs/onnx.md). The file computes what an InferenceModel does: dropouts are left
  /// out, batch norms have the form for inference, and what no output needs, such as losses and
  /// their labels, is not in the file. Inputs, outputs, parameters and buffers keep their names.
  /// @throws Error unsupported, naming each layer that cannot be written; invalid_model if the
  /// model has no output; invalid_argument for outputs that there are not; io_error, and as
  /// weight().
  void save_onnx(const std::string& path, const OnnxExportOptions& options) const;
  /// Writes the model as the other function does, with the defaults of OnnxExportOptions.
  void save_onnx(const std::string& path) const;
  /// Writes the model as the other functions do, with its weights inside, to `file`, which the
  /// caller commits. @throws Error as the other function; unsupported if the file would have 2 GB
  /// or more; invalid_argument for options that want the weights beside the file.
  void save_onnx(OutputFile& file, const OnnxExportOptions& options) const;
  /// Writes the model to `file` with the defaults of OnnxExportOptions.
  void save_onnx(OutputFile& file) const;
  /// Checks that save_onnx() can write all layers, without writing anything.
  /// @throws Error as save_onnx().
  void check_onnx() const;

 private:
  friend struct ModelAccess;  // Training and inference models use ModelAccess.
  template <class Open>
  BlockScope opened(std::string_view call_name, const Open& open) const;
};

}  // namespace penstock
