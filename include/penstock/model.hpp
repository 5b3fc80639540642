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
#include "penstock/loss.hpp"
#include "penstock/options.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class OutputFile;

/// A Value is a tensor that a model will compute. It belongs to the model that returned it. If the
/// layer that computes the value is taken back, as Sequential::add() may do, the value does not
/// belong to the model any more.
class Value {
 public:
  Value() = default;

 private:
  friend class Model;
  Value(std::uint64_t model, std::uint64_t serial, std::int32_t id)
      : model_(model), serial_(serial), id_(id) {}
  std::uint64_t model_ = 0;   // A value of no model has 0 here.
  std::uint64_t serial_ = 0;  // No other value of the model has or ever had this number.
  std::int32_t id_ = -1;
};

/// Conv2dOptions are the options of Model::conv2d(), which are those of torch.nn.Conv2d.
struct Conv2dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  std::int64_t kernel = 0;        ///< The kernel has this many rows and columns.
  std::int64_t stride = 1;        ///< Windows are this many elements apart in both directions.
  std::int64_t padding = 0;       ///< This many zeros are added on each side of an image.
  std::int64_t dilation = 1;      ///< The elements of the kernel are this far apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// Pool2dOptions are the options of Model::max_pool2d() and Model::avg_pool2d().
struct Pool2dOptions {
  std::int64_t kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  /// This many elements are added on each side of an image; an average counts them as zeros.
  std::int64_t padding = 0;
};

/// AttentionOptions are the options of Model::attention().
struct AttentionOptions {
  /// The features of q, k and v are those of this many heads, side by side. Each head attends by
  /// itself.
  int heads = 1;
  bool causal = false;  ///< `causal` hides later positions from earlier ones.
  /// In training, this share of the softmax's results is dropped, as Model::dropout() does it.
  double dropout = 0;
  /// The dropout's masks depend on this name, which must be set if there is a dropout, and which no
  /// other layer has.
  std::string name = "";
};

/// A ParameterInfo describes a parameter or a buffer of a model.
struct ParameterInfo {
  /// `name` is the name of the layer, a dot, and "weight", "bias", "running_mean" or "running_var".
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
class Model {
 public:
  /// Makes a model without layers. Weights are drawn as PyTorch's layers draw them, from `seed` and
  /// the name of the parameter.
  explicit Model(std::string name = "model", std::uint64_t seed = 0);

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
  /// Adds an input for class numbers, i64 of shape [N].
  Value labels(const std::string& name = "labels") { return input(name, {}, DType::i64); }

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

  /// Adds a convolution: x [N,C,H,W] -> [N,out_channels,H',W']. The layer has the parameters
  /// NAME.weight [O,C/groups,k,k] and NAME.bias [O].
  Value conv2d(const std::string& name, Value x, const Conv2dOptions& options);
  /// Adds a fully connected layer over the last axis of x: [N,...,K] -> [N,...,out_features]. The
  /// layer has the parameters NAME.weight [out,K] and NAME.bias [out]. Images and other inputs of
  /// several axes are usually flattened first, so that all their elements are features.
  Value linear(const std::string& name, Value x, std::int64_t out_features, bool bias = true);
  /// Adds a fully connected layer that uses the weight [out,K] of another layer and has no bias.
  Value linear(Value x, Value weight);
  /// Adds a parameter that belongs to no layer, such as the embedding of positions. Its shape
  /// `shape` counts no samples, and it may be an operand wherever a value of that shape may.
  /// @throws Error invalid_model if a parameter is called `name` already; shape_mismatch if `shape`
  /// has no element; invalid_argument as Initializer says.
  Value parameter(const std::string& name, const Shape& shape,
                  const Initializer& initializer = Initializer::normal());
  /// Returns the parameter NAME.weight or NAME.bias of a layer, or one that belongs to no layer.
  /// Every layer that uses the parameter trains it. Layers of several stages may share a parameter;
  /// the stage of the first use keeps the parameter, and the other stages have copies.
  /// @throws Error invalid_argument if there is no parameter of that name.
  Value parameter(const std::string& name) const;
  /// Normalizes x over groups of channels. The layer has the parameters NAME.weight [C] and
  /// NAME.bias [C].
  Value group_norm(const std::string& name, Value x, std::int64_t groups, double eps = 1e-5);
  /// Normalizes x over its last `axes` axes. The layer has the parameters NAME.weight and
  /// NAME.bias, which have the shape of those axes; there is no NAME.bias if `bias` is false.
  Value layer_norm(const std::string& name, Value x, int axes = 1, double eps = 1e-5,
                   bool bias = true);
  /// Normalizes each channel of x [N,C,H,W] over the micro-batch. The layer has the parameters
  /// NAME.weight [C] and NAME.bias [C], and the buffers NAME.running_mean [C] and NAME.running_var
  /// [C], which every micro-batch of training updates and inference uses. Each replica has
  /// statistics of its own; those of replica 0 are the model's.
  Value batch_norm2d(const std::string& name, Value x, double eps = 1e-5, double momentum = 0.1);
  /// Looks up rows of a table: ids, i64 of any shape -> [..., size]. The layer has the parameter
  /// NAME.weight [count,size].
  Value embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size);
  /// Sets elements to zero with probability `probability`, in training only. The mask depends on
  /// the seed, the update, the replica, the micro-batch and `name`.
  Value dropout(const std::string& name, Value x, double probability);

  /// Returns max(x, 0), element by element.
  Value relu(Value x);
  /// Returns x where x is positive, else `negative_slope`·x.
  Value leaky_relu(Value x, double negative_slope = 0.01);
  /// Returns 1/(1 + exp(-x)), element by element.
  Value sigmoid(Value x);
  /// Returns the hyperbolic tangent, element by element.
  Value tanh(Value x);
  /// Returns x·Φ(x), where Φ is the distribution function of the normal distribution, exactly and
  /// not by its tanh approximation.
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
  /// Returns the mean of each channel: [N,C,H,W] -> [N,C,1,1].
  Value global_avg_pool2d(Value x);
  /// Returns all dimensions but the first joined into one: [N,...] -> [N,K].
  Value flatten(Value x);
  /// Returns x with the shape `[N, sample...]`. One dimension may be -1, which stands for whatever
  /// is left, and 0 keeps the dimension that x has in that place.
  Value reshape(Value x, const std::vector<std::int64_t>& sample);
  /// Returns x with its dimensions permuted: dimension i of the result is dimension `axes`[i] of x.
  Value transpose(Value x, const std::vector<std::int64_t>& axes);
  /// Returns `parts` joined along `axis`, one behind the other. The parts must agree in all other
  /// dimensions.
  Value concat(const std::vector<Value>& parts, int axis = 1);
  /// Returns the elements [begin, end) of `axis`.
  Value slice(Value x, int axis, std::int64_t begin, std::int64_t end);
  /// Returns a + b, broadcast as in NumPy.
  Value add(Value a, Value b);
  /// Returns a - b, broadcast as by add().
  Value sub(Value a, Value b);
  /// Returns a·b element by element, broadcast as by add().
  Value mul(Value a, Value b);
  /// Returns `factor`·x. The factor is finite as f32.
  Value scale(Value x, double factor);
  /// Returns a/b. Shapes broadcast as in NumPy.
  Value div(Value a, Value b);
  /// Returns the smaller of a and b, element by element; a NaN stays one. Shapes broadcast as in
  /// NumPy. If both are equal, each gets half of the gradient.
  Value minimum(Value a, Value b);
  /// Returns the larger of a and b, and does in all else what minimum() does.
  Value maximum(Value a, Value b);
  /// Returns 1 where a and b are equal, and 0 elsewhere, as f32. Shapes broadcast as in NumPy. No
  /// comparison has a gradient.
  Value equal(Value a, Value b);
  /// Returns 1 where a is less than b, and 0 elsewhere; see equal().
  Value less(Value a, Value b);
  /// Returns 1 where a is not above b, and 0 elsewhere; see equal().
  Value less_equal(Value a, Value b);
  /// Returns a where `condition`, f32, is not 0, and b elsewhere. Shapes broadcast as in NumPy. The
  /// condition has no gradient.
  Value where(Value condition, Value a, Value b);

  /// Returns -x.
  Value neg(Value x);
  /// Returns |x|. The gradient at 0 is 0.
  Value abs(Value x);
  /// Returns exp(x).
  Value exp(Value x);
  /// Returns the natural logarithm of x, which is NaN below 0.
  Value log(Value x);
  /// Returns the square root of x, which is NaN below 0.
  Value sqrt(Value x);
  /// Returns 1/sqrt(x).
  Value rsqrt(Value x);
  /// Returns 1/x.
  Value reciprocal(Value x);
  /// Returns x².
  Value square(Value x);
  /// Returns x to the power `exponent`. A negative x has one only if the exponent is an integer.
  Value pow(Value x, double exponent);
  /// Returns sin(x).
  Value sin(Value x);
  /// Returns cos(x).
  Value cos(Value x);
  /// Returns the error function of x.
  Value erf(Value x);
  /// Returns x where it is from `low` to `high`, else the bound that is nearer.
  Value clamp(Value x, double low, double high);
  /// Returns the largest integer that is not above x. Neither this function nor ceil(), round() and
  /// sign() have a gradient.
  Value floor(Value x);
  /// Returns the smallest integer that is not below x.
  Value ceil(Value x);
  /// Returns the integer that is nearest to x, and of two such integers the even one.
  Value round(Value x);
  /// Returns 1 above 0, -1 below 0, and 0 elsewhere.
  Value sign(Value x);
  /// Returns the sum of x over `axes`, where axis 0 counts the samples, and a negative axis counts
  /// from the end. The result lacks these axes; if `keep` is true, they have the size 1 instead.
  Value sum(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the mean of x over `axes`; see sum().
  Value mean(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the largest element of x along `axes`; see sum(). Equal elements share the gradient
  /// evenly.
  Value amax(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the smallest element of x along `axes`, and does in all else what amax() does.
  Value amin(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the variance of x over `axes`, which do not include axis 0; see sum(). It is divided
  /// by the number of elements less one or, if `unbiased` is false, by their number.
  Value var(Value x, const std::vector<int>& axes, bool unbiased = true, bool keep = false);
  /// Returns the matrix product [...,M,K]·[...,K,N] -> [...,M,N].
  Value matmul(Value a, Value b);
  /// Returns softmax(q·kᵀ/√d)·v over the last two axes (scaled_dot_product_attention), for each of
  /// h heads: q [N,...,S,h·d], k [N,...,T,h·d], v [N,...,T,h·e] -> [N,...,S,h·e]. Without a
  /// dropout, the memory for that grows with T, and not with S·T.
  Value attention(Value q, Value k, Value v, const AttentionOptions& options = {});
  /// Returns attention() of q, k and v that are side by side: qkv [N,...,T,3·h·d] -> [N,...,T,h·d].
  Value attention(Value qkv, const AttentionOptions& options = {});

  /// Returns x as a constant for training: no gradient goes back to what x is computed from.
  Value stop_gradient(Value x);

  /// Marks `x` as worth the memory that it takes in stages that recompute
  /// (`TrainingOptions::recompute`), and returns it: `x` is kept, and what follows is computed
  /// again from it. In the last stage and without recomputation the mark has no effect. If `x` runs
  /// as one op with a pooling or relu behind it, it has no result of its own, and the result of the
  /// last of these layers is kept.
  Value recomputation_checkpoint(Value x);

  // These are the losses. Inputs called x, a or b have gradients; a target has one if the comment
  // says so. A reduced loss has shape [], and a loss without reduction has the shape of its terms.

  /// Returns the negative log-likelihood of `labels` [N] (or [N,...] for logits [N,C,...]) under a
  /// softmax over the axis of the classes, which is axis 1 unless `options` say otherwise. Its
  /// terms are [N,...].
  Value cross_entropy(Value logits, Value labels, const CrossEntropyOptions& options = {});
  /// Returns the negative log-likelihood of `labels` [N] (or [N,...]) for log-probabilities [N,C]
  /// (or [N,C,...]); its terms are [N,...]. A label of `ignore_index` counts for nothing, not even
  /// in the divisor of the mean. The classes are along axis `class_axis`.
  Value nll_loss(Value log_probabilities, Value labels,
                 LossReduction reduction = LossReduction::mean, std::int64_t ignore_index = -100,
                 int class_axis = 1);
  /// Returns (x - target)², element by element. The target has a gradient.
  Value mse_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns |x - target|, element by element. The target has a gradient.
  Value l1_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns d²/2β where |d| < β, and |d| - β/2 elsewhere, for d = x - target. The target has a
  /// gradient.
  Value smooth_l1_loss(Value x, Value target, const SmoothL1Options& options = {});
  /// Returns -t·log(x) - (1-t)·log(1-x) for x and t from 0 to 1, where logarithms below -100 count
  /// as -100. The target has a gradient. A step with an x outside 0 to 1 fails by Error
  /// stage_failed, which names the sample.
  Value binary_cross_entropy(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns binary_cross_entropy() of 1/(1 + exp(-x)). The target has a gradient.
  Value binary_cross_entropy_with_logits(Value x, Value target,
                                         LossReduction reduction = LossReduction::mean);
  /// Returns t·(log(t) - x) for log-probabilities x. The target has a gradient. LossReduction::mean
  /// is over all elements, as in torch.nn.KLDivLoss; divide the sum by the batch size for the mean
  /// of the divergence.
  Value kl_div_loss(Value x, Value target, const KlDivOptions& options = {});
  /// Returns exp(x) - t·x for counts t. The target has a gradient.
  Value poisson_nll_loss(Value x, Value target, const PoissonNllOptions& options = {});
  /// Returns x where the target is 1, max(0, margin - x) where the target is -1, and, as in
  /// PyTorch, the sum of both elsewhere.
  Value hinge_embedding_loss(Value x, Value target, const HingeOptions& options = {});
  /// Returns log(1 + exp(-t·x)) for targets t of 1 and -1. The target has a gradient.
  Value soft_margin_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns the mean over C of binary_cross_entropy_with_logits(). x and target are [N,C], and the
  /// target is 1 where the sample belongs to the class, else 0. The terms are [N].
  Value multilabel_soft_margin_loss(Value x, Value target,
                                    LossReduction reduction = LossReduction::mean);
  /// Returns 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where the target is
  /// -1, and, as in PyTorch, 0 elsewhere. a and b are [N,D], the target is f32 [N], and the terms
  /// are [N].
  Value cosine_embedding_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// Returns max(0, margin - t·(a - b)) for tensors of one shape. A target t of 1 says that a ranks
  /// higher, and -1 that b does.
  Value margin_ranking_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// Returns max(0, margin + |anchor - near| - |anchor - far|) for rows [N,D]. The terms are [N].
  Value triplet_margin_loss(Value anchor, Value near, Value far,
                            const TripletMarginOptions& options = {});
  /// Returns the connectionist temporal classification loss of log_probabilities [N,T,C]
  /// (torch.nn.CTCLoss with the batch first). Sample n has the first `counts`[n] of its `labels` in
  /// the first `steps`[n] of the T steps; labels are i64 [N,S], counts and steps i64 [N]. The terms
  /// are [N]. The mean divides each loss by its number of labels first. A call fails, and with it
  /// the model, if one of the labels that count is the blank or no class.
  Value ctc_loss(Value log_probabilities, Value labels, Value steps, Value counts,
                 const CtcOptions& options = {});
  /// Makes any value a loss, so that a value computed from several losses can be minimized.
  Value identity_loss(Value x, LossReduction reduction = LossReduction::mean);

  /// Makes calls return `value` under the name `name`.
  void output(const std::string& name, Value value);
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
  /// Reads weights from a file. Unless `options` say otherwise, the file must have every parameter
  /// and buffer, with its shape, and nothing else. Returns which ones were loaded.
  /// @throws Error io_error; corrupt_file; unsupported for types other than f32 and i64;
  /// shape_mismatch naming file and tensor; invalid_argument for options that fit neither the model
  /// nor the file; and as weight() if parameters keep their values. No weight has changed then.
  LoadedWeights load_weights(const std::string& path, const LoadOptions& options = {});

 private:
  friend struct ModelAccess;  // Training and inference models use ModelAccess.
  struct Impl;
  template <class Open>
  BlockScope opened(std::string_view call_name, const Open& open) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock
