#include "graph/ops/sequences/attention_sizes.hpp"

#include <string>

#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {
namespace {

constexpr std::size_t apart = 3;  ///< This is the number of the inputs q, k and v.

std::size_t masks_of(const Attributes& attributes) {
  return (attribute::has_key_padding_mask.of(attributes) ? 1U : 0U) +
         (attribute::has_attn_mask.of(attributes) ? 1U : 0U);
}

void expect_operand(const TensorType& type, const std::string& name) {
  expect_dtype(type, DType::f32, name);
  expect_rank_from(type, 3, name);
  expect_elements(type, name);
}

void expect_features(const TensorType& type, std::int64_t count, const std::string& name) {
  expect(type.shape[-1] > 0 && type.shape[-1] % count == 0,
         "expected " + name + " with a multiple of " + std::to_string(count) + " features, got " +
             to_string(type));
}

void expect_key_features(std::int64_t heads, std::int64_t kv_heads, const TensorType& q,
                         const TensorType& k) {
  const std::int64_t features = q.shape[-1] / heads * kv_heads;
  expect(k.shape[-1] == features,
         "expected k with " + std::to_string(features) + " features, " +
             (kv_heads == heads ? "as q has"
                                : "because " + std::to_string(kv_heads) + " of " +
                                      std::to_string(heads) + " heads have keys of their own") +
             ", got " + to_string(k));
}

/// Checks that k and v have the same leading dimensions as q, as many rows as each other, and the
/// features that the heads need.
void check_apart(std::int64_t heads, std::int64_t kv_heads, Types in) {
  constexpr const char* names[] = {"q", "k", "v"};
  const auto leading = [](const TensorType& type) {
    return Shape(type.shape.dims().first(type.shape.rank() - 2));
  };
  for (std::size_t i = 0; i < apart; ++i) {
    expect_operand(in[i], names[i]);
    expect_features(in[i], i == 0 ? heads : kv_heads, names[i]);
    expect(leading(in[i]) == leading(in[0]),
           "expected q, k and v with the same leading dimensions, got " + to_string(in[0].shape) +
               " and " + to_string(in[i].shape));
  }
  expect_key_features(heads, kv_heads, in[0], in[1]);
  expect(in[2].shape[-2] == in[1].shape[-2], "expected v with " + std::to_string(in[1].shape[-2]) +
                                                 " rows, as k has, got " + to_string(in[2]));
}

void check_masks(const AttentionSizes& sizes, Types in) {
  if (sizes.key_padding_mask != 0) {
    expect_dtype(in[sizes.key_padding_mask], DType::f32, "key_padding_mask");
    expect_shape(in[sizes.key_padding_mask], {sizes.samples, sizes.keys}, "key_padding_mask");
  }
  if (sizes.attn_mask != 0) {
    expect_dtype(in[sizes.attn_mask], DType::f32, "attn_mask");
    expect_shape(in[sizes.attn_mask], {sizes.queries, sizes.keys}, "attn_mask");
  }
}

std::string input_names(const Attributes& attributes, bool packed) {
  std::string names = packed ? "qkv" : "q, k, v";
  if (attribute::has_key_padding_mask.of(attributes)) names += ", key_padding_mask";
  if (attribute::has_attn_mask.of(attributes)) names += ", attn_mask";
  return names;
}

}  // namespace

std::int64_t kv_heads_of(const Attributes& attributes) {
  const std::int64_t kv_heads = attribute::attention_kv_heads.of(attributes);
  return kv_heads != 0 ? kv_heads : attribute::attention_heads.of(attributes);
}

void expect_heads(std::int64_t heads, std::int64_t kv_heads) {
  expect(heads >= 1, "expected 1 head or more, got " + std::to_string(heads));
  expect(kv_heads >= 1 && heads % kv_heads == 0, "expected kv_heads that divide " +
                                                     std::to_string(heads) + " heads, got " +
                                                     std::to_string(kv_heads));
}

AttentionSizes::AttentionSizes(const Attributes& attributes, std::size_t inputs, const auto& shape)
    : operands(inputs - masks_of(attributes)),
      causal(attribute::attention_causal.of(attributes)),
      p(attribute::attention_p.of(attributes)),
      samples(shape(0)[0]),
      batch(1),
      heads(attribute::attention_heads.of(attributes)),
      kv_heads(kv_heads_of(attributes)),
      queries(shape(0)[-2]),
      keys(packed() ? queries : shape(1)[-2]),
      width(shape(0)[-1] / (packed() ? heads + 2 * kv_heads : heads)),
      value_width(packed() ? width : shape(2)[-1] / kv_heads) {
  for (const std::int64_t dim : shape(0).dims().first(shape(0).rank() - 2)) batch *= dim;
  std::size_t next = operands;
  if (attribute::has_key_padding_mask.of(attributes)) key_padding_mask = next++;
  if (attribute::has_attn_mask.of(attributes)) attn_mask = next++;
}

AttentionSizes::AttentionSizes(const Attributes& attributes, Types in)
    : AttentionSizes(attributes, in.size(),
                     [in](std::size_t i) -> const Shape& { return in[i].shape; }) {}

AttentionSizes::AttentionSizes(const Attributes& attributes, std::span<const Operand> in)
    : AttentionSizes(attributes, in.size(),
                     [in](std::size_t i) -> const Shape& { return in[i].shape(); }) {}

std::vector<DeclaredAttribute> attention_attributes() {
  return {attribute::attention_heads, attribute::attention_kv_heads,   attribute::attention_causal,
          attribute::attention_scale, attribute::has_key_padding_mask, attribute::has_attn_mask};
}

std::vector<DeclaredAttribute> attention_dropout_attributes() {
  std::vector<DeclaredAttribute> attributes = attention_attributes();
  attributes.push_back(attribute::attention_p);
  return attributes;
}

std::vector<TensorType> infer_attention(const Attributes& attributes, Types in) {
  const std::size_t masks = masks_of(attributes);
  const bool packed = in.size() == 1 + masks;
  expect_inputs(in, (packed ? 1 : apart) + masks, input_names(attributes, packed));
  const std::int64_t heads = attribute::attention_heads.of(attributes);
  const std::int64_t kv_heads = kv_heads_of(attributes);
  expect_heads(heads, kv_heads);
  check_f32("scale", attribute::attention_scale.of(attributes), any_number);
  expect_between(attribute::attention_p.of(attributes), 0, 1, "p");
  if (packed) {
    expect_operand(in[0], "qkv");
    expect_features(in[0], heads + 2 * kv_heads, "qkv");
  } else {
    check_apart(heads, kv_heads, in);
  }
  const AttentionSizes sizes(attributes, in);
  expect(!sizes.causal || sizes.queries == sizes.keys,
         "expected as many keys as queries for a causal attention, got " +
             std::to_string(sizes.keys) + " and " + std::to_string(sizes.queries));
  check_masks(sizes, in);
  return {{DType::f32, in[0].shape.with(-1, sizes.heads * sizes.value_width)}};
}

void expect_attention_dy(const Attributes& attributes, Types in) {
  expect(!in.empty(), "expected dy as the last input");
  expect_shape(in.back(), infer_attention(attributes, without_dy(in))[0].shape, "dy");
}

Cost attention_cost(const AttentionSizes& sizes, double products, Types in, Types out) {
  const auto scores = static_cast<double>(sizes.batch * sizes.heads) *
                      static_cast<double>(sizes.queries) * static_cast<double>(sizes.keys);
  // The softmax and the random numbers of a dropout take about so many operations for each score.
  const double of_score = 15 + (sizes.p > 0 ? 20 : 0);
  Cost cost{.flops = scores * (products * 2 * static_cast<double>(sizes.width) + of_score)};
  for (const TensorType& type : in) cost.bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : out) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace penstock::graph
