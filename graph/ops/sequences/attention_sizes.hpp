// An AttentionSizes has the sizes of an attention, and says which inputs the attention has. The op
// attention and its gradients share it and the shape rule.
#pragma once

#include <span>
#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute attention_heads{"heads", 1};
/// There are this many heads of keys and values; 0 stands for as many as there are of queries.
inline constexpr IntegerAttribute attention_kv_heads{"kv_heads"};
inline constexpr FlagAttribute attention_causal{"causal"};
inline constexpr RealAttribute attention_scale{"scale"};
/// This is the probability that a share is dropped.
inline constexpr RealAttribute attention_p{"p"};
/// These flags say which masks are inputs.
inline constexpr FlagAttribute has_key_padding_mask{"key_padding_mask"}, has_attn_mask{"attn_mask"};

}  // namespace attribute

/// `batch` is the number of samples, with all axes between the first and the last two ones; `width`
/// and `value_width` are the features of one head. The inputs are q, k and v, or qkv, and then the
/// masks. A position of 0 says that there is no such mask.
struct AttentionSizes {
  std::size_t operands;  ///< This is 3 for q, k and v, and 1 if they are side by side in one input.
  std::size_t key_padding_mask = 0, attn_mask = 0;
  bool causal;
  double p;  ///< This is the probability that a share is dropped.
  std::int64_t samples, batch, heads, kv_heads, queries, keys, width, value_width;

  /// Makes the sizes from the types of the inputs, or from the inputs themselves, without dy.
  AttentionSizes(const Attributes& attributes, Types in);
  AttentionSizes(const Attributes& attributes, std::span<const Operand> in);

  bool packed() const { return operands == 1; }
  bool has_masks() const { return key_padding_mask != 0 || attn_mask != 0; }
  /// Returns how many heads of queries share a head of keys and values.
  std::int64_t group() const { return heads / kv_heads; }

 private:
  AttentionSizes(const Attributes& attributes, std::size_t inputs, const auto& shape);
};

/// Returns how many heads of keys and values an attention with these attributes has.
std::int64_t kv_heads_of(const Attributes& attributes);
/// Checks that so many heads of queries can share so many heads of keys and values.
void expect_heads(std::int64_t heads, std::int64_t kv_heads);

/// Returns the attributes that the op attention declares.
std::vector<DeclaredAttribute> attention_attributes();
/// Returns the attributes that the op attention_dropout declares, and the gradients of attention
/// and attention_dropout.
std::vector<DeclaredAttribute> attention_dropout_attributes();

/// Serves as Op::infer of attention and attention_dropout.
std::vector<TensorType> infer_attention(const Attributes& attributes, Types in);

/// Returns the inputs of an attention, or their types, among those of its gradients, which have dy
/// behind them.
template <class T>
std::span<const T> without_dy(std::span<const T> in) {
  return in.first(in.size() - 1);
}
/// Checks the inputs of an attention and the shape of dy behind them.
void expect_attention_dy(const Attributes& attributes, Types in);

/// Returns the cost of `products` products of the size of the scores, or of the size of y.
Cost attention_cost(const AttentionSizes& sizes, double products, Types in, Types out);

}  // namespace penstock::graph
