#include "graph/ops/sequences/cached_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/sequences/attention_sizes.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace {

/// Sizes are the numbers of heads, new rows and rows of the buffers, and the features of one head.
struct Sizes {
  std::int64_t heads, kv_heads, rows, length, width, value_width;

  Sizes(const Attributes& attributes, const Shape& q, const Shape& keys, const Shape& values)
      : heads(attribute::attention_heads.of(attributes)),
        kv_heads(kv_heads_of(attributes)),
        rows(q[1]),
        length(keys[0]),
        width(keys[1] / kv_heads),
        value_width(values[1] / kv_heads) {}
  Sizes(const Attributes& attributes, Types in)
      : Sizes(attributes, in[0].shape, in[4].shape, in[5].shape) {}
};

void expect_rows(const TensorType& type, std::string_view name) {
  expect_dtype(type, DType::f32, name);
  expect_rank(type, 3, name);
  expect_elements(type, name);
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 7, "q, k, v, position, keys, values, known");
  constexpr std::array<std::string_view, 3> names{"q", "k", "v"};
  for (std::size_t i = 0; i < names.size(); ++i) expect_rows(in[i], names[i]);
  const std::int64_t heads = attribute::attention_heads.of(attributes);
  const std::int64_t kv_heads = kv_heads_of(attributes);
  expect_heads(heads, kv_heads);
  const Shape &q = in[0].shape, &v = in[2].shape;
  expect(q[0] == 1,
         "expected one sequence in a micro-batch, because the buffers keep the rows of "
         "one, got " +
             std::to_string(q[0]));
  expect(q[2] % heads == 0 && v[2] % kv_heads == 0, "expected features that divide into " +
                                                        std::to_string(heads) + " heads, got " +
                                                        to_string(q) + " and " + to_string(v));
  expect_shape(in[1], q.with(2, q[2] / heads * kv_heads), "k");
  expect_shape(in[2], q.with(2, v[2]), "v");
  expect_dtype(in[3], DType::i64, "position");
  expect_shape(in[3], {1}, "position");
  expect_rank(in[4], 2, "keys");
  expect(in[4].shape[0] >= q[1], "expected a cache of at least " + std::to_string(q[1]) +
                                     " rows, got " + std::to_string(in[4].shape[0]));
  expect_shape(in[4], {in[4].shape[0], in[1].shape[2]}, "keys");
  expect_shape(in[5], {in[4].shape[0], v[2]}, "values");
  expect_shape(in[6], {1}, "known");
  for (const std::size_t buffer : {4, 5, 6}) expect_dtype(in[buffer], DType::f32, "buffers");
  return {{DType::f32, q.with(2, v[2] / kv_heads * heads)}, in[4], in[5], in[6]};
}

/// Copies a buffer to its new place, if that is another one, and writes `rows` to it from row
/// `position` on.
void append(const Operand& buffer, const Operand& rows, std::int64_t position, const Operand& to) {
  const auto kept = buffer.f32(), added = rows.f32(), all = to.f32();
  if (kept.data() != all.data()) std::ranges::copy(kept, all.begin());
  std::ranges::copy(added, all.begin() + position * buffer.shape()[1]);
}

/// Returns the floats of workspace that the products need at most, whatever the position.
std::int64_t product_workspace(const Sizes& sizes) {
  std::int64_t most = 0;
  for (std::int64_t keys = 1; keys <= sizes.length; ++keys)
    most = std::max(
        {most, product_floats(1, keys, sizes.width), product_floats(1, sizes.value_width, keys)});
  return most;
}

/// Computes one head's result for one row, which sees `keys` keys. `width` and `value_width` floats
/// lie side by side, and rows of the buffers are `pitch` and `value_pitch` floats apart.
void attend(const Sizes& sizes, std::int64_t keys, const float* q, const float* key,
            const float* value, float* y, float* workspace) {
  float *const shares = workspace, *const product = workspace + sizes.length;
  const KernelTable& kernels = kernel_table();
  kernels.products.multiply({.rows = 1,
                             .columns = keys,
                             .depth = sizes.width,
                             .left = {q, sizes.width, 1},
                             .right = {key, 1, sizes.kv_heads * sizes.width},
                             .result = shares},
                            {}, product);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.width)));
  kernels.arithmetic.scale(keys, scale, shares, shares);
  kernels.softmax.softmax({1, keys, 1}, shares, shares);
  kernels.products.multiply({.rows = 1,
                             .columns = sizes.value_width,
                             .depth = keys,
                             .left = {shares, keys, 1},
                             .right = {value, sizes.kv_heads * sizes.value_width, 1},
                             .result = y},
                            {}, product);
}

/// Returns where the `rows` new rows begin. Checks that all rows before them are known, which are
/// so many as `known` says, and that the buffers' `length` rows have room for them. Writes how many
/// rows are known with them to `known_after`.
std::int64_t next_position(const Operand& position, std::int64_t rows, std::int64_t length,
                           const Operand& known, const Operand& known_after) {
  const std::int64_t at = position.i64()[0];
  // A number of rows that is no number counts as none.
  const float rows_known = known.f32()[0] >= 0 ? known.f32()[0] : 0.0f;
  const auto before =
      static_cast<std::int64_t>(std::min(rows_known, static_cast<float>(length - rows)));
  if (at < 0 || at > before)
    throw Error(Errc::invalid_data, "position " + std::to_string(at) +
                                        " at sample 0: expected 0 to " + std::to_string(before) +
                                        ", because that many rows of the sequence are known");
  known_after.f32()[0] = static_cast<float>(at + rows);
  return at;
}

void forward(const KernelCall& call) {
  const Operand &q = call.inputs[0], &keys = call.outputs[1], &values = call.outputs[2];
  const std::int64_t position =
      next_position(call.inputs[3], q.shape()[1], keys.shape()[0], call.inputs[6], call.outputs[3]);
  append(call.inputs[4], call.inputs[1], position, keys);
  append(call.inputs[5], call.inputs[2], position, values);
  const Sizes sizes(call.attributes, q.shape(), keys.shape(), values.shape());
  for (std::int64_t row = 0; row < sizes.rows; ++row)
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      const std::int64_t number = row * sizes.heads + head;
      const std::int64_t kv_head = head / (sizes.heads / sizes.kv_heads);
      attend(sizes, position + row + 1, q.f32().data() + number * sizes.width,
             keys.f32().data() + kv_head * sizes.width,
             values.f32().data() + kv_head * sizes.value_width,
             call.outputs[0].f32().data() + number * sizes.value_width, floats(call.workspace));
    }
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  const Sizes sizes(attributes, in);
  return float_bytes * (sizes.length + product_workspace(sizes));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  const Sizes sizes(attributes, in);
  Cost cost = streaming_cost<0>(attributes, in, out);
  cost.flops = 2.0 * static_cast<double>(sizes.heads * sizes.rows) *
               static_cast<double>(sizes.length * (sizes.width + sizes.value_width));
  return cost;
}

std::vector<IndexRange> index_ranges(const Attributes& attributes, Types in) {
  const Sizes sizes(attributes, in);
  return {{.input = 3, .end = sizes.length - sizes.rows + 1, .element = "position"}};
}

/// Makes all rows of the sequence known, and begins with the first one.
void make_valid(const Attributes&, std::span<const Operand> inputs) {
  inputs[3].i64()[0] = 0;
  inputs[6].f32()[0] = static_cast<float>(inputs[4].shape()[0]);
}

// The draws of known rows are below 1, so that only the first position is one that the op takes.
std::vector<OpSample> samples() {
  const auto f32 = [](const Shape& shape) { return TensorType{DType::f32, shape}; };
  const TensorType position{DType::i64, {1}}, known = f32({1});
  return {{.inputs = {f32({1, 1, 6}), f32({1, 1, 6}), f32({1, 1, 4}), position, f32({9, 6}),
                      f32({9, 4}), known},
           .attributes = {{"heads", 2}},
           .labels = 1},
          {.inputs = {f32({1, 3, 4}), f32({1, 3, 4}), f32({1, 3, 4}), position, f32({5, 4}),
                      f32({5, 4}), known},
           .labels = 1},
          {.inputs = {f32({1, 2, 8}), f32({1, 2, 4}), f32({1, 2, 6}), position, f32({5, 4}),
                      f32({5, 6}), known},
           .attributes = {{"heads", 4}, {"kv_heads", 2}},
           .labels = 1}};
}

}  // namespace

const Op cached_attention{.name = "cached_attention",
                          .attributes = {attribute::attention_heads, attribute::attention_kv_heads},
                          .infer = infer,
                          .forward = forward,
                          .cost = cost,
                          .workspace = workspace,
                          .updates = {{4, 1}, {5, 2}, {6, 3}},
                          .samples = samples,
                          .make_valid = make_valid,
                          .index_ranges = index_ranges,
                          .index_inputs = {3},
                          .keeps_state = true};

}  // namespace penstock::graph
