// Model: a network written down layer by layer, in blocks, with its weights. A Model is a handle:
// copies share the network and the weights, and so do the training and inference models made from
// it.
//
// All of these together take one call at a time. A call that begins while another thread is in one,
// fit() and the constructors included, is refused by Error busy, which names the other and has
// changed nothing; only functions that are noexcept, and those that say so, may be called beside
// it. Destructors and assignments wait for the other call; its stop token ends it sooner. Functions
// of the host's that a call makes may call the model: callbacks and metrics of fit(), logs, and, as
// Sequential::add() says, layers; but not progress functions, which meet a model half made.
//
// In a process that was forked from the one that made a model, calls throw Error closed, and
// destructors leave what is the parent's alone. New models may be made there.
//
// Calls compute with the default floating-point environment, and so do the functions of the host's
// that they call, whatever the host's thread has set; afterwards it has its own again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/layer_stages.hpp"
#include "penstock/loss.hpp"
#include "penstock/options.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class OutputFile;

/// A Value is a tensor that a model will compute. It belongs to the model that gave it. If its
/// layer is taken back, as Sequential::add() may do, it is no value of the model any more.
class Value {
 public:
  Value() = default;

 private:
  friend class Model;
  Value(std::uint64_t model, std::uint64_t serial, std::int32_t id)
      : model_(model), serial_(serial), id_(id) {}
  std::uint64_t model_ = 0;   // 0: of none
  std::uint64_t serial_ = 0;  // no other value of the model has or had it
  std::int32_t id_ = -1;
};

/// These are the options of Model::conv2d(), as those of torch.nn.Conv2d.
struct Conv2dOptions {
  std::int64_t out_channels = 0;  ///< The result has so many channels, 1 or more.
  std::int64_t kernel = 0;        ///< square
  std::int64_t stride = 1;        ///< Windows are so many elements apart, in both directions.
  std::int64_t padding = 0;       ///< So many zeros are added on each side of an image.
  std::int64_t dilation = 1;      ///< The kernel's elements are so far apart.
  /// Channels are divided into so many groups, each of which is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< This says whether a parameter NAME.bias is added.
};

/// These are the options of Model::max_pool2d() and Model::avg_pool2d().
struct Pool2dOptions {
  std::int64_t kernel = 2;  ///< square
  std::int64_t stride = 0;  ///< 0: the kernel's size
  /// So many elements are added on each side of an image; an average counts them as zeros.
  std::int64_t padding = 0;
};

/// Describes a parameter or a buffer of a model.
struct ParameterInfo {
  /// This is the layer's name, a dot and "weight", "bias", "running_mean" or "running_var".
  std::string name;
  Shape shape;            ///< This is the parameter's own shape.
  bool trainable = true;  ///< false: a buffer, such as a running mean
};

/// What belongs to a block lasts from its construction to its destruction.
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

/// Layers check inputs and options at once: Error shape_mismatch, invalid_argument or invalid_model
/// opens with the op and the name of the layer. `[N,...]` is a micro-batch of N samples.
class Model {
 public:
  /// Weights are drawn as PyTorch's layers draw theirs, from `seed` and the parameter's name.
  explicit Model(std::string name = "model", std::uint64_t seed = 0);

  /// Returns the name that was given to the constructor.
  const std::string& name() const noexcept;
  /// Returns a model of its own: the same network, blocks and stages, under the same name, with
  /// copies of the newest weights. Values of the one are none of the other; scopes that are open
  /// stay the original's.
  /// @throws Error as weight().
  Model clone() const;

  /// Adds a tensor of the host's: one sample has shape `sample`, a micro-batch `[N,
  /// sample...]`.
  Value input(const std::string& name, const Shape& sample, DType dtype = DType::f32);
  /// Adds class numbers: an i64 input of shape [N].
  Value labels(const std::string& name = "labels") { return input(name, {}, DType::i64); }

  /// Everything added until the result goes out of scope belongs to block `name`; a name may come
  /// back later. Scopes nest: after an inner one the outer one goes on.
  /// @throws Error invalid_model for an empty name, inside a pipeline stage's scope, or while a
  /// stage assignment is set; invalid_topology for an `ipu` below -1 or above 65535, or another one
  /// than before.
  [[nodiscard]] BlockScope block(const std::string& name, int ipu = -1);
  /// Opens a block named by the number of blocks that were opened so before: "0", "1", ...
  [[nodiscard]] BlockScope block();
  /// Everything added from here on, outside of scopes, belongs to block `name`, up to where the
  /// next block begins. What came before the first such block is block "start", on IPU 0.
  /// @throws Error invalid_model while a scope is open or a stage assignment is set, or for an
  /// empty name; invalid_topology for an `ipu` below -1 or above 65535, or another one than the
  /// block is on, block "start" included. Then nothing has changed.
  void begin_block(const std::string& name, int ipu = -1);
  /// The same from `layer` on, which is there already, the loss included: of the layer of that
  /// name, or else of the first one whose name goes on with a dot ("layer4" is where
  /// "layer4.0.conv1" is). Training and inference models made before stay as they are.
  /// @throws Error invalid_argument if there is no such layer, or a block begins there already;
  /// invalid_model and invalid_topology as begin_block(). Then nothing has changed.
  void begin_block_at(const std::string& layer, const std::string& name, int ipu = -1);
  /// Takes back every begin_block_at(), and the IPUs that these said.
  /// @throws Error invalid_topology if the first layers then are in block "start", and this is on
  /// another IPU than 0. Then nothing has changed.
  void remove_block_marks();

  /// Everything added until the result goes out of scope is pipeline stage `number`: it belongs to
  /// block "stage 0", "stage 1", ... If one layer has a stage, all must, and no number may be left
  /// out. @throws Error invalid_topology for a negative number; invalid_model inside a scope, or
  /// while a stage assignment is set.
  [[nodiscard]] BlockScope pipeline_stage(int number);
  /// Returns all layers in post-order: each after what it reads, depth first from outputs and loss.
  LayerStages stage_assignment() const;
  /// Takes such a list with other stages, which are then the model's, whatever else was said of
  /// blocks and stages. Training and inference models made before stay as they are.
  /// @throws Error invalid_argument if it is not a list of these layers in this order, each with a
  /// stage; invalid_topology if a stage from 0 to the last has no layer, or a layer reads from a
  /// later stage. Then nothing has changed.
  void set_stage_assignment(const LayerStages& layers);
  /// Goes back to what scopes and marks say. Until then no layer can be added, and no scope opened.
  void reset_stage_assignment();

  /// x [N,C,H,W] -> [N,out_channels,H',W']. Parameters NAME.weight [O,C/groups,k,k], NAME.bias [O].
  Value conv2d(const std::string& name, Value x, const Conv2dOptions& options);
  /// x [N,K] -> [N,out_features]. Parameters NAME.weight [out,K], NAME.bias [out].
  Value linear(const std::string& name, Value x, std::int64_t out_features, bool bias = true);
  /// Does so with the weight [out,K] of another layer, and no bias.
  Value linear(Value x, Value weight);
  /// Returns a layer's parameter NAME.weight or NAME.bias: whatever uses it trains it too. Layers
  /// of several stages may share one; the stage of its first use keeps it, the others have
  /// copies.
  /// @throws Error invalid_argument if there is none of that name.
  Value parameter(const std::string& name) const;
  /// Parameters NAME.weight [C], NAME.bias [C].
  Value group_norm(const std::string& name, Value x, std::int64_t groups, double eps = 1e-5);
  /// Over the last `axes` axes. Parameters NAME.weight and NAME.bias of those axes' shape.
  Value layer_norm(const std::string& name, Value x, int axes = 1, double eps = 1e-5);
  /// x [N,C,H,W]. Parameters NAME.weight [C], NAME.bias [C]; buffers NAME.running_mean [C],
  /// NAME.running_var [C], updated by every micro-batch in training, used in inference. Each
  /// replica has statistics of its own; replica 0's are the model's.
  Value batch_norm2d(const std::string& name, Value x, double eps = 1e-5, double momentum = 0.1);
  /// ids i64 of any shape -> [..., size]. Parameter NAME.weight [count,size].
  Value embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size);
  /// Active in training only; the mask depends on seed, update, replica, micro-batch and `name`.
  Value dropout(const std::string& name, Value x, double probability);

  /// Returns max(x, 0), element by element.
  Value relu(Value x);
  /// Returns x where it is positive, else `negative_slope`·x.
  Value leaky_relu(Value x, double negative_slope = 0.01);
  /// Returns 1/(1 + exp(-x)), element by element.
  Value sigmoid(Value x);
  /// Returns the hyperbolic tangent, element by element.
  Value tanh(Value x);
  /// Returns x·Φ(x), where Φ is the normal distribution, exactly and not by its tanh
  /// approximation.
  Value gelu(Value x);
  /// Returns x/(1 + exp(-x)), element by element.
  Value silu(Value x);
  /// Returns exp(x) divided by its sum over `axis`.
  Value softmax(Value x, int axis = 1);
  /// Returns the logarithm of softmax().
  Value log_softmax(Value x, int axis = 1);
  /// Returns the largest element of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value max_pool2d(Value x, const Pool2dOptions& options = {});
  /// Returns the mean of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value avg_pool2d(Value x, const Pool2dOptions& options = {});
  /// [N,C,H,W] -> [N,C,1,1].
  Value global_avg_pool2d(Value x);
  /// [N,...] -> [N,K].
  Value flatten(Value x);
  /// Shapes x as `[N, sample...]`: one dimension may be -1, whatever is left; a 0 keeps x's there.
  Value reshape(Value x, const std::vector<std::int64_t>& sample);
  /// Permutes dimensions: dimension i of the result is dimension `axes`[i] of x.
  Value transpose(Value x, const std::vector<std::int64_t>& axes);
  /// Returns `parts` one behind the other along `axis`. All other dimensions are equal.
  Value concat(const std::vector<Value>& parts, int axis = 1);
  /// Elements [begin, end) of `axis`.
  Value slice(Value x, int axis, std::int64_t begin, std::int64_t end);
  /// Broadcasting as in NumPy.
  Value add(Value a, Value b);
  /// Returns a - b, broadcast as by add().
  Value sub(Value a, Value b);
  /// Returns a·b element by element, broadcast as by add().
  Value mul(Value a, Value b);
  /// Returns `factor`·x. The factor is finite as f32.
  Value scale(Value x, double factor);
  /// [...,M,K]·[...,K,N] -> [...,M,N].
  Value matmul(Value a, Value b);
  /// softmax(q·kᵀ/√d)·v over the last two axes; `causal` hides what comes later.
  Value attention(Value q, Value k, Value v, bool causal = false);

  /// Marks `x` as worth its memory where a stage recomputes (`TrainingOptions::recompute`): it is
  /// kept, and what follows it is computed again from it. Gives `x` back. Elsewhere, and in the
  /// last stage, this changes nothing. A layer that runs as one with the pooling or relu behind it
  /// has no result of its own: then the last one's is kept.
  Value recomputation_checkpoint(Value x);

  // Losses. What is called x, a or b has a gradient, and so has a target where that is said; a
  // reduced loss has shape [], one without reduction that of its terms.

  /// log-softmax over axis 1 and negative log-likelihood of `labels` [N] (or [N,...] for x
  /// [N,C,...]): terms [N,...].
  Value cross_entropy(Value logits, Value labels, const CrossEntropyOptions& options = {});
  /// Negative log-likelihood of `labels` [N] (or [N,...]) for log-probabilities [N,C] ([N,C,...]):
  /// terms [N,...]. A label `ignore_index` counts for nothing, in the mean's divisor neither.
  Value nll_loss(Value log_probabilities, Value labels,
                 LossReduction reduction = LossReduction::mean, std::int64_t ignore_index = -100);
  /// (x - target)², element by element; the target has a gradient.
  Value mse_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// |x - target|; the target has a gradient.
  Value l1_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// d²/2β where |d| < β, else |d| - β/2, for d = x - target; the target has a gradient.
  Value smooth_l1_loss(Value x, Value target, const SmoothL1Options& options = {});
  /// -t·log(x) - (1-t)·log(1-x) for x and t from 0 to 1, with logarithms of -100 or more; the
  /// target has a gradient. A step with another x fails: Error stage_failed names its sample.
  Value binary_cross_entropy(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Takes logits x instead of 1/(1 + exp(-x)); the target has a gradient.
  Value binary_cross_entropy_with_logits(Value x, Value target,
                                         LossReduction reduction = LossReduction::mean);
  /// t·(log(t) - x) for log-probabilities x; the target has a gradient. Its "mean" is over all
  /// elements, as in torch.nn.KLDivLoss; divide its sum by the batch for the divergence's mean.
  Value kl_div_loss(Value x, Value target, const KlDivOptions& options = {});
  /// exp(x) - t·x for counts t; the target has a gradient.
  Value poisson_nll_loss(Value x, Value target, const PoissonNllOptions& options = {});
  /// x where the target is 1, max(0, margin - x) where -1, and as in PyTorch their sum elsewhere.
  Value hinge_embedding_loss(Value x, Value target, const HingeOptions& options = {});
  /// log(1 + exp(-t·x)) for targets 1 and -1; the target has a gradient.
  Value soft_margin_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// x and target [N,C], 1 where the class belongs to the sample, else 0: the mean over C of
  /// binary_cross_entropy_with_logits; terms [N].
  Value multilabel_soft_margin_loss(Value x, Value target,
                                    LossReduction reduction = LossReduction::mean);
  /// a and b [N,D], target f32 [N]: 1 - cos(a, b) where it is 1, max(0, cos(a, b) - margin) where
  /// it is -1, and 0 elsewhere, as in PyTorch; terms [N].
  Value cosine_embedding_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// max(0, margin - t·(a - b)), all of one shape: a ranks higher where the target is 1, b where it
  /// is -1.
  Value margin_ranking_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// max(0, margin + |anchor - near| - |anchor - far|) of rows [N,D]; terms [N].
  Value triplet_margin_loss(Value anchor, Value near, Value far,
                            const TripletMarginOptions& options = {});
  /// Connectionist temporal classification of log_probabilities [N,T,C] (torch.nn.CTCLoss with the
  /// batch first): `labels` i64 [N,S], of which `counts` i64 [N] are there, in `steps` i64 [N] of
  /// the T steps; terms [N]. The mean divides each loss by its number of labels first.
  Value ctc_loss(Value log_probabilities, Value labels, Value steps, Value counts,
                 const CtcOptions& options = {});
  /// Makes any value a loss, so that what was made of several losses is the one to minimise.
  Value identity_loss(Value x, LossReduction reduction = LossReduction::mean);

  /// Makes calls return `value` under this name.
  void output(const std::string& name, Value value);
  /// Sets what training minimises, once; losses that it was made of are values like any other.
  /// Without a call it is the loss above that no other loss was made of, if there is just one.
  /// @throws Error invalid_model at the second call.
  void loss(Value value);

  /// Returns the shape of `value` for a micro-batch of one sample.
  Shape shape(Value value) const;
  /// Returns what an anchor on `value` calls it: its layer's name, given or made up.
  std::string tensor_name(Value value) const;

  /// Returns all parameters and buffers, in the order in which their layers were added.
  std::vector<ParameterInfo> parameters() const;
  /// The newest value of a parameter or buffer: after training steps this fetches the weights from
  /// the IPUs, once.
  /// @throws Error invalid_argument naming the parameter if there is none; out_of_memory, or closed
  /// if they were lost in a failure: each time, until they can be read or load_weights() has
  /// replaced them. Older weights are never taken for the newest, here and below.
  Tensor weight(const std::string& name) const;
  /// The new value is used from the next call of any model on.
  /// @throws Error shape_mismatch, and as weight(); then nothing has changed.
  void set_weight(const std::string& name, const Tensor& value);
  /// Writes all weights in the safetensors format, whole or not at all.
  /// @throws Error io_error, and as weight()
  void save_weights(const std::string& path) const;
  /// Writes them into a file that the caller commits.
  void save_weights(OutputFile& file) const;
  /// Every parameter must be there, with its shape, and nothing else.
  /// @throws Error io_error, corrupt_file, unsupported (of another type than f32 or i64),
  /// shape_mismatch naming file and tensor; then no weight has changed.
  void load_weights(const std::string& path);

 private:
  friend struct ModelAccess;  // for training and inference models
  struct Impl;
  template <class Open>
  BlockScope opened(std::string_view call_name, const Open& open) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock
