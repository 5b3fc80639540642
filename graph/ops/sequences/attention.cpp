#include "graph/ops/sequences/attention.hpp"

#include <utility>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/sequences/attention_block.hpp"
#include "graph/ops/sequences/attention_mask_gradient.hpp"

namespace penstock::graph {
namespace {

using Sizes = AttentionSizes;
using Block = AttentionBlock;

/// Calls `work(first)` for the first query of each range, beginning with the last range, which sees
/// all keys.
void for_each_range_backwards(const Sizes& sizes, const auto& work) {
  for (std::int64_t first = QueryRange::last_first(sizes); first >= 0; first -= QueryRange::most)
    work(first);
}

/// Calls `work(sample, head)` for each of `heads` heads of each sample that belongs to the call's
/// part.
void for_each_head(const KernelCall& call, const Sizes& sizes, std::int64_t heads,
                   const auto& work) {
  const Part part = within(call.part, sizes.batch * heads);
  for (std::int64_t i = part.begin; i < part.end; ++i) work(i / heads, i % heads);
}

void forward(const KernelCall& call) {
  const Sizes sizes(call.attributes, call.inputs);
  const AttentionWorkspace regions(sizes, false);
  for_each_head(call, sizes, sizes.heads, [&](std::int64_t sample, std::int64_t number) {
    const AttentionHead head(sizes, call.inputs, sample, number);
    const HeadRows y = rows_of_result(call.outputs[0], sizes, sample, number);
    Block::write_hidden(call, sizes, regions, sample);
    for (std::int64_t first = 0; first < sizes.queries; first += QueryRange::most)
      Block(call, sizes, regions, head, first).forward(y);
  });
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  return AttentionWorkspace(Sizes(attributes, in), false).end * float_bytes;
}

std::int64_t units(const Attributes& attributes, Types in, Types) {
  const Sizes sizes(attributes, in);
  return sizes.batch * sizes.heads;
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return attention_cost(Sizes(attributes, in), 2, in, out);
}

void backward(GradientContext& context) {
  std::vector<ValueId> inputs;
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(context.input(i));
    types.push_back(context.type(inputs.back()));
  }
  const Sizes sizes(context.attributes(), types);
  inputs.push_back(context.gradient(0));
  if (sizes.attn_mask != 0 && context.needs(sizes.attn_mask))
    context.set(sizes.attn_mask,
                context.emit(attention_mask_gradient, inputs, context.attributes()));
  bool any = false;
  for (std::size_t i = 0; i < sizes.operands; ++i) any = any || context.needs(i);
  if (!any) return;
  const auto gradients =
      context.emit_all(attention_gradient, std::move(inputs), context.attributes());
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (context.needs(i)) context.set(i, gradients[i]);
}

std::vector<OpSample> samples() {
  const TensorType q{DType::f32, {2, 3, 4, 5}}, k{DType::f32, {2, 3, 6, 5}};
  const TensorType v{DType::f32, {2, 3, 6, 2}};
  const TensorType long_q{DType::f32, {1, 70, 4}}, qkv{DType::f32, {2, 5, 12}};
  const TensorType padding{DType::f32, {2, 6}}, mask{DType::f32, {4, 6}};
  return {
      {.inputs = {q, k, v}},
      {.inputs = {long_q, long_q, long_q}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {{DType::f32, {1, 130, 2}}, {DType::f32, {1, 40, 2}}, {DType::f32, {1, 40, 3}}}},
      {.inputs = {{DType::f32, {1, 135, 6}}}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {qkv}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {qkv}, .attributes = {{"scale", 0.7}}},
      {.inputs = {qkv}, .attributes = {{"heads", 4}, {"kv_heads", 1}}},
      {.inputs = {{DType::f32, {1, 70, 8}}, {DType::f32, {1, 70, 4}}, {DType::f32, {1, 70, 2}}},
       .attributes = {{"causal", 1}, {"heads", 4}, {"kv_heads", 2}}},
      {.inputs = {q, k, v, padding, mask},
       .attributes = {{"key_padding_mask", 1}, {"attn_mask", 1}},
       .constants = {3}},
      {.inputs = {{DType::f32, {2, 70, 8}}, {DType::f32, {2, 70}}, {DType::f32, {70, 70}}},
       .attributes = {{"causal", 1},
                      {"heads", 2},
                      {"kv_heads", 1},
                      {"key_padding_mask", 1},
                      {"attn_mask", 1}},
       .constants = {1}}};
}

const Op& without_dropout() {
  return attention;
}

/// Returns the samples of attention with a dropout.
std::vector<OpSample> samples_with_dropout() {
  std::vector<OpSample> all = samples();
  for (OpSample& sample : all) sample.attributes.set("p", 0.3);
  return all;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_attention_dy(attributes, in);
  const Types of = in.first(Sizes(attributes, without_dy(in)).operands);
  return {of.begin(), of.end()};
}

/// Computes the gradients that a head of keys and values, and the heads of queries that share it,
/// have. The first block that writes to dk and dv sees all keys.
void compute_gradients(const KernelCall& call, const Sizes& sizes,
                       const AttentionWorkspace& regions, std::int64_t sample,
                       std::int64_t kv_head) {
  const std::int64_t begin = kv_head * sizes.group();
  for (std::int64_t number = begin; number < begin + sizes.group(); ++number) {
    const AttentionHead head(sizes, call.inputs, sample, number);
    const AttentionHead gradients(sizes, call.outputs, sample, number);
    const HeadRows dy = rows_of_result(call.inputs.back(), sizes, sample, number);
    for_each_range_backwards(sizes, [&](std::int64_t first) {
      const bool writes = number == begin && first == QueryRange::last_first(sizes);
      Block(call, sizes, regions, head, first).backward(dy, gradients, writes);
    });
  }
}

void forward_gradient(const KernelCall& call) {
  const Sizes sizes(call.attributes, without_dy(call.inputs));
  const AttentionWorkspace regions(sizes, true);
  for_each_head(call, sizes, sizes.kv_heads, [&](std::int64_t sample, std::int64_t kv_head) {
    Block::write_hidden(call, sizes, regions, sample);
    compute_gradients(call, sizes, regions, sample, kv_head);
  });
}

std::int64_t units_gradient(const Attributes& attributes, Types in, Types) {
  const Sizes sizes(attributes, without_dy(in));
  return sizes.batch * sizes.kv_heads;
}

Cost cost_gradient(const Attributes& attributes, Types in, Types out) {
  return attention_cost(Sizes(attributes, without_dy(in)), 5, in, out);
}

}  // namespace

const Op attention{.name = "attention",
                   .attributes = attention_attributes(),
                   .infer = infer_attention,
                   .forward = forward,
                   .backward = backward,
                   .cost = cost,
                   .workspace = workspace,
                   .units = units,
                   .samples = samples};

const Op attention_dropout{.name = "attention_dropout",
                           .attributes = attention_dropout_attributes(),
                           .infer = infer_attention,
                           .forward = forward,
                           .backward = backward,
                           .cost = cost,
                           .workspace = workspace,
                           .units = units,
                           .inference = without_dropout,
                           .samples = samples_with_dropout};

const Op attention_gradient{.name = "attention_gradient",
                            .attributes = attention_dropout_attributes(),
                            .infer = infer_gradient,
                            .forward = forward_gradient,
                            .cost = cost_gradient,
                            .workspace = attention_gradient_workspace,
                            .units = units_gradient};

}  // namespace penstock::graph
