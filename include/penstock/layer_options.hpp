// These are the options of a Model's layers, as far as they slide no windows. They are values with
// PyTorch's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/standard.hpp"
#include "penstock/value.hpp"

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
  /// The features of k and v are those of this many heads, a divisor of `heads`; 0 stands for
  /// `heads`. Each head of k and v serves as many neighbouring heads of q.
  int kv_heads = 0;
  /// If `key_padding_mask`, f32 or i64 [N,S], is set, sample i does not see the keys at which its
  /// row is 1; elsewhere the row is 0. A query that sees no key at all gets zeros. The mask has no
  /// gradient: a training is refused if the mask depends on a parameter that is trained, unless by
  /// way of a comparison or another function that lets no gradient back.
  Value key_padding_mask = {};
  /// If `attn_mask`, f32 [T,S] with a row for each query, is set, it is added to the scores of
  /// every sample and head: -infinity hides a key from a query. A parameter of the model is trained
  /// here.
  Value attn_mask = {};
};

/// CachedAttentionOptions are the options of Model::cached_attention().
struct CachedAttentionOptions {
  /// The features of q, k and v are those of this many heads, side by side. Each head attends by
  /// itself.
  int heads = 1;
  std::int64_t length = 0;  ///< The sequence grows up to this many rows, 1 or more.
  /// The features of k and v are those of this many heads, a divisor of `heads`; 0 stands for
  /// `heads`. Each head of k and v serves as many neighbouring heads of q.
  int kv_heads = 0;
};

}  // namespace penstock
