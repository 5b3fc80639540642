// These are the layers of transformers of Model, with the parameters of PyTorch's.
#include <utility>

#include "engine/model/layers/attention_parts.hpp"
#include "engine/model/layers/inputs.hpp"
#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/norms/layer_norm.hpp"

namespace penstock {
namespace {

/// A TransformerLayer adds the parts of a layer to a model. The parts with parameters are called as
/// PyTorch calls them.
class TransformerLayer {
 public:
  TransformerLayer(const Composition& layer, const std::string& name, const Value& x,
                   const TransformerLayerOptions& options)
      : layer_(layer), name_(name), options_(options) {
    const graph::TensorType type = layer.type(x);
    layer.expect(type.dtype == DType::f32 && type.shape.rank() == 3,
                 "expected x of type f32 and shape [N,T,E], got " + to_string(type));
    layer.expect_elements(x);
    layer.expect(options.dim_feedforward >= 1, "expected dim_feedforward of 1 or more, got " +
                                                   std::to_string(options.dim_feedforward));
    width_ = type.shape[-1];
  }

  /// Returns x with what its self-attention adds to it.
  Value with_self_attention(const Value& x) {
    return with_part(x, false, [&](const Value& y) {
      MultiHeadAttentionOptions options = attention_options();
      options.causal = options_.causal;
      options.key_padding_mask = options_.key_padding_mask;
      options.attn_mask = options_.attn_mask;
      return multi_head_of(layer_, name_ + ".self_attn", {y, y, y}, options);
    });
  }

  /// Returns x with what its attention to `memory` adds to it.
  Value with_memory(const Value& x, const Value& memory) {
    return with_part(x, false, [&](const Value& y) {
      MultiHeadAttentionOptions options = attention_options();
      options.key_padding_mask = options_.memory_key_padding_mask;
      options.attn_mask = options_.memory_mask;
      return multi_head_of(layer_, name_ + ".multihead_attn", {y, memory, memory}, options);
    });
  }

  /// Adds the two linear layers, with the residual connection around them and their norm. Returns
  /// the result of the transformer layer.
  Value with_feed_forward(const Value& x) {
    return with_part(x, true, [&](const Value& y) {
      const bool relu = options_.activation == TransformerActivation::relu;
      const Value hidden = layer_.apply(relu ? graph::relu : graph::gelu,
                                        {linear("linear1", y, width_, options_.dim_feedforward)},
                                        {}, name_ + "/activation");
      return linear("linear2", dropped(hidden, "dropout"), options_.dim_feedforward, width_);
    });
  }

 private:
  /// Returns x + part(norm(x)) or norm(x + part(x)). The last part has the name of the layer.
  Value with_part(const Value& x, bool last, const auto& part) {
    const std::string number = std::to_string(++parts_);
    const std::string norm_name = name_ + ".norm" + number, sum_name = name_ + "/sum" + number;
    const bool first = options_.norm_first;
    const Value y = part(first ? norm(x, norm_name, norm_name) : x);
    const Value sum = layer_.apply(graph::add, {x, dropped(y, "dropout" + number)}, {},
                                   first && last ? name_ : sum_name);
    return first ? sum : norm(sum, norm_name, last ? name_ : norm_name);
  }

  MultiHeadAttentionOptions attention_options() const {
    return {.heads = options_.heads, .dropout = options_.dropout, .bias = options_.bias};
  }

  Value linear(const std::string& part, const Value& x, std::int64_t inputs,
               std::int64_t outputs) const {
    const std::string name = name_ + "." + part;
    const Initializer start = fan_in_uniform(static_cast<double>(inputs));
    const Value weight = layer_.parameter(name + ".weight", {outputs, inputs}, start);
    const Value bias = options_.bias ? layer_.parameter(name + ".bias", {outputs}, start) : Value();
    return layer_.apply(graph::linear, with_bias(x, weight, bias), {}, name);
  }

  Value norm(const Value& x, const std::string& name, const std::string& node) const {
    const Value weight = layer_.parameter(name + ".weight", {width_}, Initializer::constant(1));
    const Value bias = options_.bias
                           ? layer_.parameter(name + ".bias", {width_}, Initializer::constant(0))
                           : Value();
    return layer_.apply(graph::layer_norm, with_bias(x, weight, bias),
                        {{"eps", options_.layer_norm_eps}}, node);
  }

  Value dropped(const Value& x, const std::string& part) const {
    if (options_.dropout == 0) return x;
    return layer_.apply(graph::dropout, {x}, {{"p", options_.dropout}}, name_ + "/" + part);
  }

  const Composition& layer_;
  const std::string& name_;
  const TransformerLayerOptions& options_;
  std::int64_t width_;
  int parts_ = 0;
};

void expect_no_memory(const Composition& layer, const TransformerLayerOptions& options) {
  if (options.memory_key_padding_mask || options.memory_mask)
    throw Error(
        Errc::invalid_argument,
        std::string(layer.subject()) +
            ": expected no mask of a memory, because only a decoder layer has a memory, got "
            "one; key_padding_mask and attn_mask are those of x");
}

}  // namespace

Value TransformerLayers::transformer_encoder_layer(const std::string& name, Value x,
                                                   const TransformerLayerOptions& options) {
  return composed(*impl_, "transformer_encoder_layer", name, [&](const Composition& layer) {
    expect_no_memory(layer, options);
    TransformerLayer parts(layer, name, x, options);
    return parts.with_feed_forward(parts.with_self_attention(x));
  });
}

Value TransformerLayers::transformer_decoder_layer(const std::string& name, Value x, Value memory,
                                                   const TransformerLayerOptions& options) {
  return composed(*impl_, "transformer_decoder_layer", name, [&](const Composition& layer) {
    TransformerLayer parts(layer, name, x, options);
    return parts.with_feed_forward(parts.with_memory(parts.with_self_attention(x), memory));
  });
}

}  // namespace penstock
