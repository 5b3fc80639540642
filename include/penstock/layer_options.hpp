// These are the options of a Model's layers, as far as they slide no windows. They are values with
// PyTorch's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/standard.hpp"

namespace penstock {

/// BatchNormOptions are the options of Model::batch_norm1d(), batch_norm2d() and batch_norm3d().
struct BatchNormOptions {
  double eps = 1e-5;  ///< `eps`, above 0, is added to the variances.
  /// Each micro-batch moves the running statistics towards its own by this share, from 0 to 1. If
  /// there is none, the running statistics are the means of those of all micro-batches so far.
  std::optional<double> momentum = 0.1;
  bool affine = true;  ///< `affine` says whether the layer has parameters.
  /// `track_running_stats` says whether the layer keeps running statistics, which it then uses in
  /// inference. Otherwise it uses those of the micro-batch in inference, too.
  bool track_running_stats = true;
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

/// CachedAttentionOptions are the options of Model::cached_attention().
struct CachedAttentionOptions {
  /// The features of q, k and v are those of this many heads, side by side. Each head attends by
  /// itself.
  int heads = 1;
  std::int64_t length = 0;  ///< The sequence grows up to this many rows, 1 or more.
};

}  // namespace penstock
