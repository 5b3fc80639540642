// These are the layers of a Model that have parameters, attention or random masks; those with
// windows are in spatial_layers.hpp. docs/layers.md lists them beside PyTorch's.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "penstock/initializer.hpp"
#include "penstock/layer_options.hpp"
#include "penstock/shape.hpp"
#include "penstock/spatial_layers.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Layers are the methods of Model that add layers. A layer with parameters has a name, which is
/// also that of its parameters.
class Layers : public SpatialLayers {
 public:
  /// Adds a fully connected layer over the last axis of x: [N,...,K] -> [N,...,out_features]. The
  /// layer has the parameters NAME.weight [out,K] and NAME.bias [out]. Images and other inputs of
  /// several axes are usually flattened first, so that all their elements are features.
  Value linear(const std::string& name, Value x, std::int64_t out_features, bool bias = true);
  /// Adds a fully connected layer that uses the weight [out,K] of another layer, and its bias
  /// [out], if there is one.
  Value linear(Value x, Value weight, Value bias = {});
  /// Adds a parameter that belongs to no layer, such as the embedding of positions. Its shape
  /// `shape` counts no samples, and it may be an operand wherever a value of that shape may. Where
  /// its axis 0 would stand for that of the samples, as in x [N,3] plus a parameter [2,3], or would
  /// come before it, as in x [N,3] plus a parameter [2,1,3], training and inference models refuse
  /// the layer. A model whose layers keep state from call to call is not checked for that, because
  /// it takes one sample a call.
  /// @throws Error invalid_model if a parameter is called `name` already; shape_mismatch if `shape`
  /// has no element; invalid_argument as Initializer says.
  Value parameter(const std::string& name, const Shape& shape,
                  const Initializer& initializer = Initializer::normal());
  /// Adds a tensor that no training changes. It is saved and loaded with the weights, as a buffer
  /// of PyTorch is. Its axis 0 may not stand for that of the samples; see parameter().
  /// @throws Error invalid_model if a parameter is called `name` already; unsupported if `value` is
  /// not f32; shape_mismatch if it has no element.
  Value constant(const std::string& name, const Tensor& value);
  /// Returns the parameter NAME.weight or NAME.bias of a layer, or one that belongs to no layer.
  /// Every layer that uses the parameter trains it. Layers of several stages may share a parameter;
  /// the stage of the first use keeps the parameter, and the other stages have copies.
  /// @throws Error invalid_argument if there is no parameter of that name.
  Value parameter(const std::string& name) const;
  /// Gives the layer `layer`, which is still to be added, the parameters of the layer `source`,
  /// which is there already: weights may be shared by layers of any kind. The names also stand for
  /// all layers whose names begin with them and a dot, so that
  ///
  ///     Value a = branch(model, "left", x);
  ///     model.share_parameters("right", "left");
  ///     Value b = branch(model, "right", y);
  ///
  /// applies one network to x and y. The parameters keep the names that they have from `source`;
  /// those of `layer` do not exist. Each layer has buffers of its own, such as the running
  /// statistics of a batch norm. If layers of several stages share a parameter, the stage of the
  /// first use keeps it, and the other stages have copies. A layer that needs a parameter which
  /// `source` lacks, or has in another shape, is refused with Error shape_mismatch; it may do
  /// without some, such as a bias. parameter(NAME) returns them by the names that `layer` would
  /// have given them, too. A training or inference model throws Error invalid_model if nothing has
  /// asked for the parameters, as when `layer` is misspelt.
  /// @throws Error invalid_argument if `source` has no parameters, or if `layer` is there already.
  void share_parameters(const std::string& layer, const std::string& source);
  /// Normalizes x over groups of channels. The layer has the parameters NAME.weight [C] and
  /// NAME.bias [C], unless `affine` is false.
  Value group_norm(const std::string& name, Value x, std::int64_t groups, double eps = 1e-5,
                   bool affine = true);
  /// Normalizes each channel of each sample of x [N,C,...] over the axes behind it. If `affine` is
  /// true, the layer has the parameters NAME.weight [C] and NAME.bias [C].
  Value instance_norm(const std::string& name, Value x, double eps = 1e-5, bool affine = false);
  /// Normalizes x over its last `axes` axes. The layer has the parameters NAME.weight and
  /// NAME.bias, which have the shape of those axes; there is no NAME.bias if `bias` is false, and
  /// neither of the two if `affine` is false.
  Value layer_norm(const std::string& name, Value x, int axes = 1, double eps = 1e-5,
                   bool bias = true, bool affine = true);
  /// Divides x by its root mean square over its last `axes` axes. The layer has the parameter
  /// NAME.weight, which has the shape of those axes, unless `affine` is false.
  Value rms_norm(const std::string& name, Value x, int axes = 1,
                 double eps = std::numeric_limits<float>::epsilon(), bool affine = true);
  /// Normalizes each channel of x [N,C] or [N,C,L] over the micro-batch. The layer has the
  /// parameters NAME.weight [C] and NAME.bias [C], and the buffers NAME.running_mean [C] and
  /// NAME.running_var [C], which every micro-batch of training updates and inference uses. Each
  /// replica has statistics of its own; those of replica 0 are the model's. A layer without a
  /// momentum also has the buffer NAME.num_batches_tracked [C], which counts micro-batches.
  Value batch_norm1d(const std::string& name, Value x, const BatchNormOptions& options = {});
  /// Normalizes each channel of x [N,C,H,W], and does in all else what batch_norm1d() does.
  Value batch_norm2d(const std::string& name, Value x, const BatchNormOptions& options = {});
  /// Normalizes each channel of x [N,C,D,H,W], and does in all else what batch_norm1d() does.
  Value batch_norm3d(const std::string& name, Value x, const BatchNormOptions& options = {});
  /// Adds the parameters NAME.weight_v of shape `shape` and NAME.weight_g, which has the size of
  /// axis `axis` and 1 elsewhere, and returns g·v/|v|, where |v| is the norm over all axes but
  /// `axis` (torch.nn.utils.weight_norm). The result serves linear() and conv2d() as weight, and
  /// starts as the weights of these layers do.
  Value weight_norm(const std::string& name, const Shape& shape, int axis = 0);
  /// Returns x where x is positive, else slope·x. The parameter NAME.weight has `slopes` slopes,
  /// one for each channel of x [N,C,...] or one for all, which start at `initial`.
  Value prelu(const std::string& name, Value x, std::int64_t slopes = 1, double initial = 0.25);
  /// Returns prelu() with the slopes of another layer.
  Value prelu(Value x, Value weight);
  /// Looks up rows of a table: ids, i64, i32 or u8 of any shape -> [..., size]. The layer has the
  /// parameter NAME.weight [count,size]. The row `padding_index`, if there is one, starts as 0 and
  /// gets no gradient; a negative number counts from the end.
  Value embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size,
                  std::optional<std::int64_t> padding_index = {});
  /// Looks up rows of a table that is the parameter `weight` [count,size] of another layer. The row
  /// `padding_index` gets no gradient from here.
  Value embedding(Value ids, Value weight, std::optional<std::int64_t> padding_index = {});
  /// Sets elements to zero with probability `probability`, in training only. The mask depends on
  /// the seed, the update, the replica, the micro-batch and `name`.
  Value dropout(const std::string& name, Value x, double probability);
  /// Does what dropout() does to whole channels of samples of x [N,C,L].
  Value dropout1d(const std::string& name, Value x, double probability);
  /// Does what dropout() does to whole channels of samples of x [N,C,H,W].
  Value dropout2d(const std::string& name, Value x, double probability);
  /// Does what dropout() does to whole channels of samples of x [N,C,D,H,W].
  Value dropout3d(const std::string& name, Value x, double probability);
  /// Sets elements to the limit of selu(), -1.7581, with probability `probability`, and then scales
  /// and shifts all of them so that a mean of 0 and a variance of 1 stay what they are, in training
  /// only.
  Value alpha_dropout(const std::string& name, Value x, double probability);
  /// Does what alpha_dropout() does to whole channels of samples of x [N,C,...].
  Value feature_alpha_dropout(const std::string& name, Value x, double probability);
  /// Returns softmax(q·kᵀ/√d)·v over the last two axes (scaled_dot_product_attention), for each of
  /// h heads: q [N,...,T,h·d], k [N,...,S,h·d], v [N,...,S,h·e] -> [N,...,T,h·e]. `options` may
  /// hide keys, and let k and v have fewer heads. The memory for that grows with S, and not with
  /// T·S.
  Value attention(Value q, Value k, Value v, const AttentionOptions& options = {});
  /// Returns attention() of q, k and v that are side by side: qkv [N,...,T,3·h·d] -> [N,...,T,h·d].
  /// With fewer heads of k and v, there are as many features fewer.
  Value attention(Value qkv, const AttentionOptions& options = {});
  /// Adds a causal attention for a sequence that grows from call to call of an InferenceModel, such
  /// as a text that is written token by token: q [1,S,h·d], k [1,S,g·d] and v [1,S,g·e], where g
  /// is h or CachedAttentionOptions::kv_heads, are the newest S rows, and `position`, an i64 input
  /// of shape [1], says where in the sequence they begin. They see themselves and all earlier rows,
  /// whose keys and values stay on the layer's IPU, in the buffers NAME.keys, NAME.values and
  /// NAME.known, from one call to the next. A call with position 0 begins a new sequence. A later
  /// position than that of the next row fails the call with Errc::stage_failed.
  ///
  /// The model's own buffers stay zeros, and so do those in files of its weights. What the IPUs
  /// keep is lost when these buffers are copied to them again: after a change of the model's
  /// weights, after InferenceModel::detach(), and after a call that has failed on the IPUs. The
  /// sequence has to begin again then.
  ///
  /// A model with this layer cannot be trained, and its InferenceModel takes one sample a call.
  Value cached_attention(const std::string& name, Value q, Value k, Value v, Value position,
                         const CachedAttentionOptions& options);
  /// Adds an op of the host's, which register_op() has made known under the name `op`. Its result
  /// is f32.
  /// @throws Error invalid_argument if there is no such op; shape_mismatch if the op refuses the
  /// shapes of `inputs`.
  Value custom(const std::string& op, const std::vector<Value>& inputs);

 protected:
  Layers() = default;
};

}  // namespace penstock
