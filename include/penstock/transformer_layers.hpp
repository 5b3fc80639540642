// These are the layers of a Model that transformers are made of, with PyTorch's parameters and
// numbers. docs/layers.md says what differs from PyTorch.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/recurrent_layers.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// MultiHeadAttentionOptions are the options of Model::multi_head_attention().
struct MultiHeadAttentionOptions {
  int heads = 1;  ///< The features of the queries are those of this many heads.
  /// The keys and values have this many heads, a divisor of `heads`; 0 stands for `heads`. Each
  /// head of keys and values serves as many neighbouring heads of queries.
  int kv_heads = 0;
  double dropout = 0;           ///< In training, this share of the softmax's results is dropped.
  bool bias = true;             ///< `bias` says whether the layer has the biases.
  bool causal = false;          ///< `causal` hides later positions from earlier ones.
  Value key_padding_mask = {};  ///< See AttentionOptions::key_padding_mask.
  Value attn_mask = {};         ///< See AttentionOptions::attn_mask.
};

/// RotaryEmbeddingOptions are the options of Model::rotary_embedding().
struct RotaryEmbeddingOptions {
  int heads = 1;  ///< The features of x are those of this many heads, side by side.
  /// The angles of the last pair are about `base` times as small as those of the first one.
  double base = 10000;
  /// Each head has this many features that are rotated, an even number, and those behind them stay
  /// as they are; 0 stands for all features.
  std::int64_t features = 0;
  /// A pair is made of two neighbouring features if this is true, and else of a feature of the
  /// first half and the one at the same place of the second half, as in LLaMA and GPT-NeoX.
  bool interleaved = false;
  /// If `position`, i64 [N], is set, the first row of sample i has the position of element i, and
  /// else 0. Model::cached_attention() takes the same positions.
  Value position = {};
};

/// A TransformerActivation is the function between the two linear layers of a transformer layer.
enum class TransformerActivation : std::uint8_t { relu, gelu };

/// TransformerLayerOptions are the options of Model::transformer_encoder_layer() and
/// transformer_decoder_layer().
struct TransformerLayerOptions {
  int heads = 1;                        ///< The features are those of this many heads.
  std::int64_t dim_feedforward = 2048;  ///< The first linear layer has this many results.
  /// In training, this share of elements is dropped: of what the attentions' softmax returns, of
  /// the results of the activation, and of what is added to x.
  double dropout = 0.1;
  /// This is the function between the linear layers.
  TransformerActivation activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;  ///< `layer_norm_eps`, above 0, is added to the variances.
  /// If this is true, the layer normalizes what the attentions and the linear layers read, and else
  /// the sums of their results and x.
  bool norm_first = false;
  bool bias = true;     ///< `bias` says whether the layers inside have their biases.
  bool causal = false;  ///< `causal` hides later positions of x from earlier ones.
  /// See AttentionOptions::key_padding_mask. The keys are those of x.
  Value key_padding_mask = {};
  Value attn_mask = {};  ///< See AttentionOptions::attn_mask. The queries and keys are those of x.
  /// This is the key_padding_mask of the memory of a decoder layer. An encoder layer has no memory.
  Value memory_key_padding_mask = {};
  /// This is the attn_mask of the memory of a decoder layer. An encoder layer has no memory.
  Value memory_mask = {};
};

/// TransformerLayers are the methods of Model that add layers of transformers, over x [N,T,E],
/// which has T positions of E features.
class TransformerLayers : public RecurrentLayers {
 public:
  /// Adds attention() of linear layers of queries [N,T,E], keys [N,S,K] and values [N,S,V], and a
  /// linear layer behind it: -> [N,T,E] (torch.nn.MultiheadAttention). The layer has the parameters
  /// NAME.in_proj_weight [3·E,E], which has the weights of q, k and v below each other,
  /// NAME.in_proj_bias [3·E], NAME.out_proj.weight [E,E] and NAME.out_proj.bias [E]. If K or V is
  /// not E, there are NAME.q_proj_weight [E,E], NAME.k_proj_weight [E,K] and NAME.v_proj_weight
  /// [E,V] in place of the first one. With fewer heads of keys and values, their weights and biases
  /// have fewer rows.
  Value multi_head_attention(const std::string& name, Value query, Value key, Value value,
                             const MultiHeadAttentionOptions& options);
  /// Adds multi_head_attention() whose queries, keys and values are all made of x.
  Value multi_head_attention(const std::string& name, Value x,
                             const MultiHeadAttentionOptions& options);
  /// Rotates pairs of features of x [N,...,T,h·d] by angles that grow with the position (Su et al.,
  /// 2021): (a, b) becomes (a·cos - b·sin, b·cos + a·sin). Pair i of p pairs of a head has the
  /// angle t·base^(-i/p) at position t, which counts from 0 unless `options` say otherwise. Queries
  /// and keys are rotated in front of attention().
  Value rotary_embedding(Value x, const RotaryEmbeddingOptions& options = {});
  /// Adds an attention and two linear layers, each with a sum and a norm:
  /// x [N,T,E] -> [N,T,E] (torch.nn.TransformerEncoderLayer). Its parameters are those of
  /// multi_head_attention() called NAME.self_attn, of linear() called NAME.linear1 and
  /// NAME.linear2, and of layer_norm() called NAME.norm1 and NAME.norm2.
  Value transformer_encoder_layer(const std::string& name, Value x,
                                  const TransformerLayerOptions& options);
  /// Adds what transformer_encoder_layer() does, with an attention to `memory` [N,S,M] between the
  /// attention and the linear layers (torch.nn.TransformerDecoderLayer). Its parameters are also
  /// those of multi_head_attention() called NAME.multihead_attn and of layer_norm() called
  /// NAME.norm3. The masks of `options` and `causal` are those of x, but for the two of the memory.
  Value transformer_decoder_layer(const std::string& name, Value x, Value memory,
                                  const TransformerLayerOptions& options);

 protected:
  TransformerLayers() = default;
};

}  // namespace penstock
