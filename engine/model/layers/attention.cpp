// These are the attentions of Model.
#include <utility>

#include "engine/model/layers/attention_parts.hpp"
#include "engine/model/layers/inputs.hpp"
#include "graph/ops/casts/casts.hpp"
#include "graph/ops/sequences/attention.hpp"
#include "graph/ops/sequences/cached_attention.hpp"

namespace penstock {
namespace {

/// Returns a mask [N,S] as f32.
Value mask_as_f32(const Composition& layer, const Value& mask) {
  if (!mask || layer.type(mask).dtype == DType::f32) return mask;
  return layer.apply(graph::to_float, {mask});
}

graph::Attributes attributes_of(const AttentionOptions& options) {
  graph::Attributes attributes{{"heads", std::int64_t{options.heads}},
                               {"causal", std::int64_t{options.causal ? 1 : 0}}};
  if (options.kv_heads != 0) attributes.set("kv_heads", std::int64_t{options.kv_heads});
  if (options.key_padding_mask) attributes.set("key_padding_mask", std::int64_t{1});
  if (options.attn_mask) attributes.set("attn_mask", std::int64_t{1});
  return attributes;
}

}  // namespace

Value attention_of(const Composition& layer, const std::vector<Value>& inputs,
                   AttentionOptions options, const std::string& name) {
  options.key_padding_mask = mask_as_f32(layer, options.key_padding_mask);
  graph::Attributes attributes = attributes_of(options);
  std::vector<Value> all = inputs;
  for (const Value& mask : {options.key_padding_mask, options.attn_mask})
    if (mask) all.push_back(mask);
  if (options.dropout == 0) return layer.apply(graph::attention, all, std::move(attributes), name);
  if (options.name.empty())
    throw Error(Errc::invalid_argument,
                "attention: expected AttentionOptions::name to be set, because the masks of the "
                "dropout depend on it, got an empty name");
  attributes.set("p", options.dropout);
  return layer.apply(graph::attention_dropout, all, std::move(attributes), options.name);
}

Value Layers::attention(Value q, Value k, Value v, const AttentionOptions& options) {
  return composed(*impl_, graph::attention.name, [&](const Composition& layer) {
    return attention_of(layer, {q, k, v}, options);
  });
}

Value Layers::attention(Value qkv, const AttentionOptions& options) {
  return composed(*impl_, graph::attention.name,
                  [&](const Composition& layer) { return attention_of(layer, {qkv}, options); });
}

Value Layers::cached_attention(const std::string& name, Value q, Value k, Value v, Value position,
                               const CachedAttentionOptions& options) {
  return impl_->adding(graph::cached_attention.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::cached_attention, name, q, "q");
    layer.expect_positive("length", options.length);
    for (const Value& input : {k, v, position}) layer.input(impl.id("cached_attention", input));
    const auto buffer = [&](const std::string& suffix, const Value& rows) {
      layer.buffer(suffix, {options.length, shape_of(impl, "cached_attention", rows)[-1]},
                   Initializer::constant(0));
    };
    layer.expect_rank(3);
    buffer("keys", k);
    buffer("values", v);
    layer.buffer("known", {1}, Initializer::constant(0));
    return impl.finish(layer, {{"heads", std::int64_t{options.heads}},
                               {"kv_heads", std::int64_t{options.kv_heads}}});
  });
}

}  // namespace penstock
