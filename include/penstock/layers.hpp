// These are the layers of a Model that have parameters, windows, attention or random masks.
// docs/layers.md lists them beside PyTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/activations.hpp"
#include "penstock/initializer.hpp"
#include "penstock/layer_options.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Layers are the methods of Model that add layers. A layer with parameters has a name, which is
/// also that of its parameters.
class Layers : public Activations {
 public:
  /// Adds a convolution: x [N,C,H,W] -> [N,out_channels,H',W']. The layer has the parameters
  /// NAME.weight [O,C/groups,kh,kw] and NAME.bias [O].
  Value conv2d(const std::string& name, Value x, const Conv2dOptions& options);
  /// Adds a convolution with the weight of another layer, [O,C/groups,kh,kw], and its bias [O], if
  /// there is one. `options` say nothing of out_channels, kernel and bias, which the weight and the
  /// bias decide.
  Value conv2d(Value x, Value weight, Value bias = {}, const Conv2dOptions& options = {});
  /// Adds a fully connected layer over the last axis of x: [N,...,K] -> [N,...,out_features]. The
  /// layer has the parameters NAME.weight [out,K] and NAME.bias [out]. Images and other inputs of
  /// several axes are usually flattened first, so that all their elements are features.
  Value linear(const std::string& name, Value x, std::int64_t out_features, bool bias = true);
  /// Adds a fully connected layer that uses the weight [out,K] of another layer, and its bias
  /// [out], if there is one.
  Value linear(Value x, Value weight, Value bias = {});
  /// Adds a parameter that belongs to no layer, such as the embedding of positions. Its shape
  /// `shape` counts no samples, and it may be an operand wherever a value of that shape may.
  /// @throws Error invalid_model if a parameter is called `name` already; shape_mismatch if `shape`
  /// has no element; invalid_argument as Initializer says.
  Value parameter(const std::string& name, const Shape& shape,
                  const Initializer& initializer = Initializer::normal());
  /// Adds a tensor that no training changes. It is saved and loaded with the weights, as a buffer
  /// of PyTorch is.
  /// @throws Error invalid_model if a parameter is called `name` already; unsupported if `value` is
  /// not f32; shape_mismatch if it has no element.
  Value constant(const std::string& name, const Tensor& value);
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
  /// NAME.weight [count,size]. The row `padding_index`, if there is one, starts as 0 and gets no
  /// gradient; a negative number counts from the end.
  Value embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size,
                  std::optional<std::int64_t> padding_index = {});
  /// Looks up rows of a table that is the parameter `weight` [count,size] of another layer. The row
  /// `padding_index` gets no gradient from here.
  Value embedding(Value ids, Value weight, std::optional<std::int64_t> padding_index = {});
  /// Sets elements to zero with probability `probability`, in training only. The mask depends on
  /// the seed, the update, the replica, the micro-batch and `name`.
  Value dropout(const std::string& name, Value x, double probability);
  /// Returns the largest element of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value max_pool2d(Value x, const Pool2dOptions& options = {});
  /// Returns the mean of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value avg_pool2d(Value x, const Pool2dOptions& options = {});
  /// Returns the mean of each channel: [N,C,H,W] -> [N,C,1,1].
  Value global_avg_pool2d(Value x);
  /// Returns softmax(q·kᵀ/√d)·v over the last two axes (scaled_dot_product_attention), for each of
  /// h heads: q [N,...,S,h·d], k [N,...,T,h·d], v [N,...,T,h·e] -> [N,...,S,h·e]. Without a
  /// dropout, the memory for that grows with T, and not with S·T.
  Value attention(Value q, Value k, Value v, const AttentionOptions& options = {});
  /// Returns attention() of q, k and v that are side by side: qkv [N,...,T,3·h·d] -> [N,...,T,h·d].
  Value attention(Value qkv, const AttentionOptions& options = {});

 protected:
  Layers() = default;
};

}  // namespace penstock
