#include "graph/ops/sequences/attention_mask_gradient.hpp"

#include <algorithm>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/sequences/attention_block.hpp"

namespace penstock::graph {
namespace {

using Sizes = AttentionSizes;
using Block = AttentionBlock;

std::vector<TensorType> infer_mask_gradient(const Attributes& attributes, Types in) {
  expect_attention_dy(attributes, in);
  const Sizes sizes(attributes, without_dy(in));
  expect(sizes.attn_mask != 0, "expected an attention with attn_mask");
  return {in[sizes.attn_mask]};
}

/// Adds the gradients of the scores of one head to the rows of the mask that belong to the block.
void add_to_mask(const Block& block, const HeadRows& dy, const Sizes& sizes, float* mask) {
  const QueryRange& range = block.range();
  const float* const gradients = block.score_gradients(dy);
  for (std::int64_t row = 0; row < range.queries; ++row) {
    float* const sum = mask + (range.first + row) * sizes.keys;
    kernel_table().arithmetic.add(range.keys, {sum, false}, {gradients + row * range.keys, false},
                                  sum);
  }
}

/// A unit is a range of queries, to which all heads of all samples contribute in their order.
void forward_mask_gradient(const KernelCall& call) {
  const Sizes sizes(call.attributes, without_dy(call.inputs));
  const AttentionWorkspace regions(sizes, true);
  float* const mask = call.outputs[0].f32().data();
  const Part part = within(call.part, QueryRange::last_first(sizes) / QueryRange::most + 1);
  for (std::int64_t unit = part.begin; unit < part.end; ++unit) {
    const std::int64_t first = unit * QueryRange::most;
    std::fill_n(mask + first * sizes.keys, QueryRange(sizes, first).queries * sizes.keys, 0.0f);
    for (std::int64_t i = 0; i < sizes.batch * sizes.heads; ++i) {
      const std::int64_t sample = i / sizes.heads, number = i % sizes.heads;
      const AttentionHead head(sizes, call.inputs, sample, number);
      Block::write_hidden(call, sizes, regions, sample);
      add_to_mask(Block(call, sizes, regions, head, first),
                  rows_of_result(call.inputs.back(), sizes, sample, number), sizes, mask);
    }
  }
}

std::int64_t units_mask_gradient(const Attributes& attributes, Types in, Types) {
  return QueryRange::last_first(Sizes(attributes, without_dy(in))) / QueryRange::most + 1;
}

Cost cost_mask_gradient(const Attributes& attributes, Types in, Types out) {
  return attention_cost(Sizes(attributes, without_dy(in)), 2, in, out);
}

}  // namespace

const Op attention_mask_gradient{.name = "attention_mask_gradient",
                                 .attributes = attention_dropout_attributes(),
                                 .infer = infer_mask_gradient,
                                 .forward = forward_mask_gradient,
                                 .cost = cost_mask_gradient,
                                 .workspace = attention_gradient_workspace,
                                 .units = units_mask_gradient};

}  // namespace penstock::graph
