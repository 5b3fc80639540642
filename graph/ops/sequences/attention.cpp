#include "graph/ops/sequences/attention.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute heads{"heads", 1};
constexpr FlagAttribute causal{"causal"};
constexpr RealAttribute scale{"scale"};

}  // namespace attribute
namespace {

/// The scores of at most this many queries are in the workspace at the same time.
constexpr std::int64_t block_queries = 64;
/// An input qkv has this many parts.
constexpr std::int64_t parts = 3;

/// Sizes are the sizes of an attention. `batch` is the number of samples, with all axes between the
/// first and the last two ones; `width` and `value_width` are the features of one head.
struct Sizes {
  bool packed;  ///< This says that q, k and v are side by side in one input.
  bool causal;
  std::int64_t batch, heads, queries, keys, width, value_width;

  /// Makes the sizes from the types of the inputs, or from the inputs themselves, without dy.
  Sizes(const Attributes& attributes, Types in)
      : Sizes(attributes, in.size(), [in](std::size_t i) -> const Shape& { return in[i].shape; }) {}
  Sizes(const Attributes& attributes, std::span<const Operand> in)
      : Sizes(attributes, in.size(),
              [in](std::size_t i) -> const Shape& { return in[i].shape(); }) {}

 private:
  Sizes(const Attributes& attributes, std::size_t inputs, const auto& shape)
      : packed(inputs == 1),
        causal(attribute::causal.of(attributes)),
        batch(1),
        heads(attribute::heads.of(attributes)),
        queries(shape(0)[-2]),
        keys(packed ? queries : shape(1)[-2]),
        width(shape(0)[-1] / heads / (packed ? parts : 1)),
        value_width(packed ? width : shape(2)[-1] / heads) {
    for (const std::int64_t dim : shape(0).dims().first(shape(0).rank() - 2)) batch *= dim;
  }
};

/// A Range has neighbouring queries, `queries` of them from `first` on, and the number of keys,
/// from key 0 on, that these queries see.
struct Range {
  std::int64_t first, queries, keys;

  Range(const Sizes& sizes, std::int64_t first_query)
      : first(first_query),
        queries(std::min(block_queries, sizes.queries - first_query)),
        keys(sizes.causal ? first + queries : sizes.keys) {}
};

/// Returns the first query of the last range.
std::int64_t last_first(const Sizes& sizes) {
  return (sizes.queries - 1) / block_queries * block_queries;
}

/// Returns the types of the inputs of an attention among those of its gradient, which has dy behind
/// them.
Types without_dy(Types in) {
  return in.first(in.size() - 1);
}

void expect_features(const TensorType& type, std::int64_t count, const std::string& name) {
  expect(type.shape[-1] > 0 && type.shape[-1] % count == 0,
         "expected " + name + " with a multiple of " + std::to_string(count) + " features, got " +
             to_string(type));
}

void expect_operand(const TensorType& type, const std::string& name) {
  expect_dtype(type, DType::f32, name);
  expect_rank_from(type, 3, name);
  expect_elements(type, name);
}

/// Checks that k and v have the same leading dimensions as q, as many rows as each other, and the
/// features that the heads need.
void check_apart(std::int64_t heads, Types in) {
  constexpr const char* names[] = {"q", "k", "v"};
  const auto leading = [](const TensorType& type) {
    return Shape(type.shape.dims().first(type.shape.rank() - 2));
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_operand(in[i], names[i]);
    expect_features(in[i], heads, names[i]);
    expect(leading(in[i]) == leading(in[0]),
           "expected q, k and v with the same leading dimensions, got " + to_string(in[0].shape) +
               " and " + to_string(in[i].shape));
  }
  expect(in[1].shape[-1] == in[0].shape[-1], "expected k with " + std::to_string(in[0].shape[-1]) +
                                                 " features, as q has, got " + to_string(in[1]));
  expect(in[2].shape[-2] == in[1].shape[-2], "expected v with " + std::to_string(in[1].shape[-2]) +
                                                 " rows, as k has, got " + to_string(in[2]));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 1 ? 1 : parts, in.size() == 1 ? "qkv" : "q, k, v");
  const std::int64_t heads = attribute::heads.of(attributes);
  expect(heads >= 1, "expected 1 head or more, got " + std::to_string(heads));
  check_f32("scale", attribute::scale.of(attributes), any_number);
  if (in.size() == 1) {
    expect_operand(in[0], "qkv");
    expect_features(in[0], parts * heads, "qkv");
  } else {
    check_apart(heads, in);
  }
  const Sizes sizes(attributes, in);
  expect(!sizes.causal || sizes.queries == sizes.keys,
         "expected as many keys as queries for a causal attention, got " +
             std::to_string(sizes.keys) + " and " + std::to_string(sizes.queries));
  return {{DType::f32, in[0].shape.with(-1, sizes.heads * sizes.value_width)}};
}

/// A Rows is a matrix in a tensor: its rows are `pitch` floats apart.
struct Rows {
  float* data;
  std::int64_t pitch;

  Rows from(std::int64_t row) const { return {data + row * pitch, pitch}; }
  ConstMatrix matrix() const { return {data, pitch, 1}; }
  ConstMatrix transposed() const { return {data, 1, pitch}; }
};

/// Returns the rows of one head of one sample. Each row of the tensor has `features` floats, those
/// of the head begin at `begin`, and there are `rows` rows of each sample.
Rows rows_of_head(const Operand& tensor, std::int64_t sample, std::int64_t rows,
                  std::int64_t begin) {
  const std::int64_t features = tensor.shape()[-1];
  return {tensor.f32().data() + sample * rows * features + begin, features};
}

/// A Head has q, k and v of one head of one sample, or their gradients.
struct Head {
  Rows q, k, v;

  /// Makes a Head of the tensors (q, k, v) or (qkv).
  Head(const Sizes& sizes, std::span<const Operand> tensors, std::int64_t sample,
       std::int64_t head) {
    const std::int64_t all = sizes.heads * sizes.width;
    const auto part = [&](std::size_t i, std::int64_t rows, std::int64_t width) {
      return sizes.packed ? rows_of_head(tensors[0], sample, rows,
                                         static_cast<std::int64_t>(i) * all + head * width)
                          : rows_of_head(tensors[i], sample, rows, head * width);
    };
    q = part(0, sizes.queries, sizes.width);
    k = part(1, sizes.keys, sizes.width);
    v = part(2, sizes.keys, sizes.value_width);
  }
};

/// An AttentionWorkspace says where the regions of the workspace begin, counted in floats: for the
/// shares, which the softmax makes of the scores, and for their gradients, each of some queries and
/// all keys; for the result of a product; and for the workspace of a product.
struct AttentionWorkspace {
  std::int64_t shares, gradients, result, product, end;

  AttentionWorkspace(const Sizes& sizes, bool of_gradient) {
    const std::int64_t rows = std::min(block_queries, sizes.queries), keys = sizes.keys;
    const std::int64_t most = std::max(sizes.width, sizes.value_width);
    shares = 0;
    gradients = shares + rows * keys;
    result = gradients + (of_gradient ? rows * keys : 0);
    product = result + (of_gradient ? std::max(rows, keys) : rows) * most;
    std::int64_t floats = 0;
    for (std::int64_t first = 0; first < sizes.queries; first += block_queries)
      floats = std::max(floats, floats_of(sizes, Range(sizes, first), of_gradient));
    end = product + floats;
  }

 private:
  /// Returns how many floats the products of a range need at most.
  static std::int64_t floats_of(const Sizes& sizes, const Range& range, bool of_gradient) {
    const auto [first, queries, keys] = range;
    std::int64_t floats = 0;
    for (const std::int64_t width : {sizes.width, sizes.value_width}) {
      floats = std::max(
          {floats, product_floats(queries, keys, width), product_floats(queries, width, keys)});
      if (of_gradient) floats = std::max(floats, product_floats(keys, width, queries));
    }
    return floats;
  }
};

/// A Block computes the attention of one head for a range of queries, or its gradient.
class Block {
 public:
  Block(const KernelCall& call, const Sizes& sizes, const AttentionWorkspace& regions,
        const Head& head, std::int64_t first)
      : sizes_(sizes),
        head_(head),
        scale_(scale_of(call.attributes, sizes)),
        range_(sizes, first),
        shares_(floats(call.workspace) + regions.shares),
        gradients_(floats(call.workspace) + regions.gradients),
        result_(floats(call.workspace) + regions.result),
        product_(floats(call.workspace) + regions.product) {}

  /// Computes the rows of y that belong to the queries.
  void forward(const Rows& y) const {
    compute_shares();
    const std::int64_t width = sizes_.value_width;
    multiply(range_.queries, width, range_.keys, shares(), head_.v.matrix(), result_);
    put(range_.queries, width, y.from(range_.first));
  }

  /// Computes the rows of dq that belong to the queries, and adds to dk and dv what the queries
  /// contribute. The last block, which sees all keys, comes first, and writes dk and dv.
  void backward(const Rows& dy, const Head& gradients) const {
    compute_shares();
    const ConstMatrix of_queries = dy.from(range_.first).matrix();
    const std::int64_t width = sizes_.width;
    contribute(shares_, of_queries, sizes_.value_width, gradients.v);
    multiply(range_.queries, range_.keys, sizes_.value_width, of_queries, head_.v.transposed(),
             gradients_);
    const KernelTable& kernels = kernel_table();
    kernels.softmax.softmax_gradient({range_.queries, range_.keys, 1}, shares_, gradients_,
                                     gradients_);
    kernels.arithmetic.scale(range_.queries * range_.keys, scale_, gradients_, gradients_);
    multiply(range_.queries, width, range_.keys, {gradients_, range_.keys, 1}, head_.k.matrix(),
             result_);
    put(range_.queries, width, gradients.q.from(range_.first));
    contribute(gradients_, head_.q.from(range_.first).matrix(), width, gradients.k);
  }

 private:
  static float scale_of(const Attributes& attributes, const Sizes& sizes) {
    const double scale = attribute::scale.of(attributes);
    return static_cast<float>(scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(sizes.width)));
  }

  ConstMatrix shares() const { return {shares_, range_.keys, 1}; }

  void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                const ConstMatrix& left, const ConstMatrix& right, float* result) const {
    const Product product{.rows = rows,
                          .columns = columns,
                          .depth = depth,
                          .left = left,
                          .right = right,
                          .result = result};
    kernel_table().products.multiply(product, {}, product_);
  }

  /// Computes the shares: a row for each query, which is the softmax of its scores. Keys that the
  /// query does not see have the share 0.
  void compute_shares() const {
    multiply(range_.queries, range_.keys, sizes_.width, head_.q.from(range_.first).matrix(),
             head_.k.transposed(), shares_);
    const KernelTable& kernels = kernel_table();
    kernels.arithmetic.scale(range_.queries * range_.keys, scale_, shares_, shares_);
    if (!sizes_.causal)
      return kernels.softmax.softmax({range_.queries, range_.keys, 1}, shares_, shares_);
    for (std::int64_t i = 0; i < range_.queries; ++i) {
      float* const row = shares_ + i * range_.keys;
      const std::int64_t seen = range_.first + i + 1;
      kernels.softmax.softmax({1, seen, 1}, row, row);
      std::fill(row + seen, row + range_.keys, 0.0f);
    }
  }

  /// Copies `rows` rows of `columns` floats from the result of a product.
  void put(std::int64_t rows, std::int64_t columns, const Rows& to) const {
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(result_ + row * columns, columns, to.data + row * to.pitch);
  }

  /// Computes ofᵀ·right, where `of` is [queries,keys] and `right` is [queries,columns]. Writes it
  /// to `to` if this block sees all keys first, and else adds it.
  void contribute(const float* of, const ConstMatrix& right, std::int64_t columns,
                  const Rows& to) const {
    multiply(range_.keys, columns, range_.queries, {of, 1, range_.keys}, right, result_);
    if (range_.first == last_first(sizes_)) return put(range_.keys, columns, to);
    for (std::int64_t row = 0; row < range_.keys; ++row) {
      float* const sum = to.data + row * to.pitch;
      kernel_table().arithmetic.add(columns, {sum, false}, {result_ + row * columns, false}, sum);
    }
  }

  const Sizes& sizes_;
  const Head& head_;
  float scale_;
  Range range_;
  float *shares_, *gradients_, *result_, *product_;
};

/// Calls `work(sample, head)` for each head that belongs to the call's part.
void for_each_head(const KernelCall& call, const Sizes& sizes, const auto& work) {
  const Part part = within(call.part, sizes.batch * sizes.heads);
  for (std::int64_t i = part.begin; i < part.end; ++i) work(i / sizes.heads, i % sizes.heads);
}

void forward(const KernelCall& call) {
  const Sizes sizes(call.attributes, call.inputs);
  const AttentionWorkspace regions(sizes, false);
  for_each_head(call, sizes, [&](std::int64_t sample, std::int64_t number) {
    const Head head(sizes, call.inputs, sample, number);
    const Rows y = rows_of_head(call.outputs[0], sample, sizes.queries, number * sizes.value_width);
    for (std::int64_t first = 0; first < sizes.queries; first += block_queries)
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

/// Returns the cost of `products` products of the size of the scores, or of the size of y.
Cost cost_of(const Sizes& sizes, double products, Types in, Types out) {
  const auto scores = static_cast<double>(sizes.batch * sizes.heads) *
                      static_cast<double>(sizes.queries) * static_cast<double>(sizes.keys);
  constexpr double softmax_flops = 15;
  Cost cost{.flops = scores * (products * 2 * static_cast<double>(sizes.width) + softmax_flops)};
  for (const TensorType& type : in) cost.bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : out) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return cost_of(Sizes(attributes, in), 2, in, out);
}

void backward(GradientContext& context) {
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < context.input_count(); ++i) inputs.push_back(context.input(i));
  inputs.push_back(context.gradient(0));
  const auto gradients =
      context.emit_all(attention_gradient, std::move(inputs), context.attributes());
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (context.needs(i)) context.set(i, gradients[i]);
}

std::vector<OpSample> samples() {
  const TensorType q{DType::f32, {2, 3, 4, 5}}, k{DType::f32, {2, 3, 6, 5}};
  const TensorType v{DType::f32, {2, 3, 6, 2}};
  const TensorType long_q{DType::f32, {1, 70, 4}}, qkv{DType::f32, {2, 5, 12}};
  return {
      {.inputs = {q, k, v}},
      {.inputs = {long_q, long_q, long_q}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {{DType::f32, {1, 130, 2}}, {DType::f32, {1, 40, 2}}, {DType::f32, {1, 40, 3}}}},
      {.inputs = {{DType::f32, {1, 135, 6}}}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {qkv}, .attributes = {{"causal", 1}, {"heads", 2}}},
      {.inputs = {qkv}, .attributes = {{"scale", 0.7}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : parts + 1, in.size() == 2 ? "qkv, dy" : "q, k, v, dy");
  const Types of = without_dy(in);
  expect_shape(in.back(), infer(attributes, of)[0].shape, "dy");
  return {of.begin(), of.end()};
}

void forward_gradient(const KernelCall& call) {
  const auto operands = call.inputs.first(call.inputs.size() - 1);
  const Sizes sizes(call.attributes, operands);
  const AttentionWorkspace regions(sizes, true);
  for_each_head(call, sizes, [&](std::int64_t sample, std::int64_t number) {
    const Head head(sizes, operands, sample, number);
    const Head gradients(sizes, call.outputs, sample, number);
    const Rows dy =
        rows_of_head(call.inputs.back(), sample, sizes.queries, number * sizes.value_width);
    for (std::int64_t first = last_first(sizes); first >= 0; first -= block_queries)
      Block(call, sizes, regions, head, first).backward(dy, gradients);
  });
}

std::int64_t workspace_gradient(const Attributes& attributes, Types in, Types) {
  return AttentionWorkspace(Sizes(attributes, without_dy(in)), true).end * float_bytes;
}

std::int64_t units_gradient(const Attributes& attributes, Types in, Types out) {
  return units(attributes, without_dy(in), out);
}

Cost cost_gradient(const Attributes& attributes, Types in, Types out) {
  return cost_of(Sizes(attributes, without_dy(in)), 5, in, out);
}

}  // namespace

const Op attention{.name = "attention",
                   .attributes = {attribute::heads, attribute::causal, attribute::scale},
                   .infer = infer,
                   .forward = forward,
                   .backward = backward,
                   .cost = cost,
                   .workspace = workspace,
                   .units = units,
                   .samples = samples};

const Op attention_gradient{.name = "attention_gradient",
                            .attributes = {attribute::heads, attribute::causal, attribute::scale},
                            .infer = infer_gradient,
                            .forward = forward_gradient,
                            .cost = cost_gradient,
                            .workspace = workspace_gradient,
                            .units = units_gradient};

}  // namespace penstock::graph
