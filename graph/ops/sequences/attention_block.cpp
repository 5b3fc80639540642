#include "graph/ops/sequences/attention_block.hpp"

#include <cmath>
#include <limits>

#include "graph/ir/random_run.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// Returns how many floats the products of a range need at most.
std::int64_t floats_of(const AttentionSizes& sizes, const QueryRange& range, bool of_gradient) {
  const auto [first, queries, keys] = range;
  std::int64_t floats = 0;
  for (const std::int64_t width : {sizes.width, sizes.value_width}) {
    floats = std::max(
        {floats, product_floats(queries, keys, width), product_floats(queries, width, keys)});
    if (of_gradient) floats = std::max(floats, product_floats(keys, width, queries));
  }
  return floats;
}

float scale_of(const Attributes& attributes, const AttentionSizes& sizes) {
  const double scale = attribute::attention_scale.of(attributes);
  return static_cast<float>(scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(sizes.width)));
}

}  // namespace

AttentionHead::AttentionHead(const AttentionSizes& sizes, std::span<const Operand> tensors,
                             std::int64_t sample, std::int64_t head)
    : number(sample * sizes.heads + head) {
  const std::int64_t kv_head = head / sizes.group();
  if (sizes.packed()) {
    const auto part = [&](std::int64_t number) {
      return rows_of_head(tensors[0], sample, sizes.queries, number * sizes.width);
    };
    q = part(head);
    k = part(sizes.heads + kv_head);
    v = part(sizes.heads + sizes.kv_heads + kv_head);
    return;
  }
  q = rows_of_head(tensors[0], sample, sizes.queries, head * sizes.width);
  k = rows_of_head(tensors[1], sample, sizes.keys, kv_head * sizes.width);
  v = rows_of_head(tensors[2], sample, sizes.keys, kv_head * sizes.value_width);
}

AttentionWorkspace::AttentionWorkspace(const AttentionSizes& sizes, bool of_gradient) {
  const std::int64_t rows = std::min(QueryRange::most, sizes.queries), keys = sizes.keys;
  const std::int64_t widest = std::max(sizes.width, sizes.value_width);
  shares = 0;
  gradients = shares + rows * keys;
  factors = gradients + (of_gradient ? rows * keys : 0);
  result = factors + (sizes.p > 0 ? rows * keys : 0);
  hidden = result + (of_gradient ? std::max(rows, keys) : rows) * widest;
  product = hidden + (sizes.key_padding_mask != 0 ? keys : 0);
  std::int64_t floats = 0;
  for (std::int64_t first = 0; first < sizes.queries; first += QueryRange::most)
    floats = std::max(floats, floats_of(sizes, QueryRange(sizes, first), of_gradient));
  end = product + floats;
}

std::int64_t attention_gradient_workspace(const Attributes& attributes, Types in, Types) {
  return AttentionWorkspace(AttentionSizes(attributes, without_dy(in)), true).end * float_bytes;
}

AttentionBlock::AttentionBlock(const KernelCall& call, const AttentionSizes& sizes,
                               const AttentionWorkspace& regions, const AttentionHead& head,
                               std::int64_t first)
    : sizes_(sizes),
      head_(head),
      scale_(scale_of(call.attributes, sizes)),
      range_(sizes, first),
      random_(call.random),
      shares_(floats(call.workspace) + regions.shares),
      gradients_(floats(call.workspace) + regions.gradients),
      factors_(floats(call.workspace) + regions.factors),
      result_(floats(call.workspace) + regions.result),
      product_(floats(call.workspace) + regions.product) {
  if (sizes.key_padding_mask != 0) hidden_ = floats(call.workspace) + regions.hidden;
  if (sizes.attn_mask != 0) mask_ = call.inputs[sizes.attn_mask].f32().data() + first * sizes.keys;
}

void AttentionBlock::write_hidden(const KernelCall& call, const AttentionSizes& sizes,
                                  const AttentionWorkspace& regions, std::int64_t sample) {
  if (sizes.key_padding_mask == 0) return;
  // Axes between the first and the last two ones have the mask of their sample.
  const float* const mask = call.inputs[sizes.key_padding_mask].f32().data() +
                            sample / (sizes.batch / sizes.samples) * sizes.keys;
  float* const hidden = floats(call.workspace) + regions.hidden;
  for (std::int64_t i = 0; i < sizes.keys; ++i) hidden[i] = mask[i] > 0 ? 1.0f : 0.0f;
}

void AttentionBlock::forward(const HeadRows& y) const {
  compute_shares();
  const std::int64_t width = sizes_.value_width;
  multiply(range_.queries, width, range_.keys, {dropped_shares(shares_), range_.keys, 1},
           head_.v.matrix(), result_);
  put(range_.queries, width, y.from(range_.first));
}

const float* AttentionBlock::score_gradients(const HeadRows& dy) const {
  compute_shares();
  compute_score_gradients(dy);
  return gradients_;
}

void AttentionBlock::backward(const HeadRows& dy, const AttentionHead& gradients,
                              bool writes) const {
  compute_shares();
  const std::int64_t width = sizes_.width;
  contribute(dropped_shares(gradients_), dy.from(range_.first).matrix(), sizes_.value_width,
             gradients.v, writes);
  compute_score_gradients(dy);
  kernel_table().arithmetic.scale(range_.queries * range_.keys, scale_, gradients_, gradients_);
  multiply(range_.queries, width, range_.keys, {gradients_, range_.keys, 1}, head_.k.matrix(),
           result_);
  put(range_.queries, width, gradients.q.from(range_.first));
  contribute(gradients_, head_.q.from(range_.first).matrix(), width, gradients.k, writes);
}

/// Computes the gradients of the scores from the shares and the factors.
void AttentionBlock::compute_score_gradients(const HeadRows& dy) const {
  const KernelTable& kernels = kernel_table();
  const std::int64_t count = range_.queries * range_.keys;
  multiply(range_.queries, range_.keys, sizes_.value_width, dy.from(range_.first).matrix(),
           head_.v.transposed(), gradients_);
  if (sizes_.p > 0)
    kernels.arithmetic.multiply(count, {gradients_, false}, {factors_, false}, gradients_);
  kernels.softmax.softmax_gradient({range_.queries, range_.keys, 1}, shares_, gradients_,
                                   gradients_);
}

/// Returns the shares, or writes to `to` what the dropout makes of them and returns that.
const float* AttentionBlock::dropped_shares(float* to) const {
  if (sizes_.p == 0) return shares_;
  kernel_table().arithmetic.multiply(range_.queries * range_.keys, {shares_, false},
                                     {factors_, false}, to);
  return to;
}

/// Draws the factors of the shares, which are those of the op dropout for a tensor of all shares
/// [N,...,H,T,S].
void AttentionBlock::draw_factors() const {
  const auto dropped = static_cast<std::uint64_t>(std::llround(sizes_.p * 0x1p32));
  const auto scale = sizes_.p < 1 ? static_cast<float>(1 / (1 - sizes_.p)) : 0.0f;
  const RandomRun random(random_);
  for (std::int64_t row = 0; row < range_.queries; ++row) {
    const std::int64_t first = (head_.number * sizes_.queries + range_.first + row) * sizes_.keys;
    float* const factors = factors_ + row * range_.keys;
    for (std::int64_t i = 0; i < range_.keys;) {
      const RandomRun::Draws draws = random.draw(static_cast<std::uint64_t>(first + i) / 4);
      for (auto j = static_cast<std::size_t>((first + i) % 4); j < draws.size() && i < range_.keys;
           ++j)
        factors[i++] = scale * static_cast<float>(draws[j] >= dropped);  // A branch would be slow.
    }
  }
}

void AttentionBlock::multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                              const ConstMatrix& left, const ConstMatrix& right,
                              float* result) const {
  const Product product{.rows = rows,
                        .columns = columns,
                        .depth = depth,
                        .left = left,
                        .right = right,
                        .result = result};
  kernel_table().products.multiply(product, {}, product_);
}

/// Computes the shares: a row for each query, which is the softmax of its scores. Keys that the
/// query does not see have the share 0. Draws the factors of the shares, if there is a dropout.
void AttentionBlock::compute_shares() const {
  if (sizes_.p > 0) draw_factors();
  multiply(range_.queries, range_.keys, sizes_.width, head_.q.from(range_.first).matrix(),
           head_.k.transposed(), shares_);
  const KernelTable& kernels = kernel_table();
  kernels.arithmetic.scale(range_.queries * range_.keys, scale_, shares_, shares_);
  if (!sizes_.causal && !sizes_.has_masks())
    return kernels.softmax.softmax({range_.queries, range_.keys, 1}, shares_, shares_);
  for (std::int64_t row = 0; row < range_.queries; ++row) compute_row(row);
}

/// Computes the shares of query number `row` of the range from its scores. If the masks leave no
/// key to the query, all shares are 0, where a softmax would be NaN.
void AttentionBlock::compute_row(std::int64_t row) const {
  const KernelTable& kernels = kernel_table();
  float* const scores = shares_ + row * range_.keys;
  const std::int64_t seen = sizes_.causal ? range_.first + row + 1 : range_.keys;
  if (mask_ != nullptr)
    kernels.arithmetic.add(seen, {scores, false}, {mask_ + row * sizes_.keys, false}, scores);
  if (hidden_ != nullptr)
    kernels.arithmetic.select(seen, {hidden_, false}, {&minus_infinity, true}, {scores, false},
                              scores);
  const bool none = sizes_.has_masks() && std::all_of(scores, scores + seen, [](float score) {
                      return score == minus_infinity;
                    });
  if (!none) kernels.softmax.softmax({1, seen, 1}, scores, scores);
  std::fill(none ? scores : scores + seen, scores + range_.keys, 0.0f);
}

/// Copies `rows` rows of `columns` floats from the result of a product.
void AttentionBlock::put(std::int64_t rows, std::int64_t columns, const HeadRows& to) const {
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(result_ + row * columns, columns, to.data + row * to.pitch);
}

/// Computes ofᵀ·right, where `of` is [queries,keys] and `right` is [queries,columns], and writes it
/// to `to` or adds it there.
void AttentionBlock::contribute(const float* of, const ConstMatrix& right, std::int64_t columns,
                                const HeadRows& to, bool writes) const {
  multiply(range_.keys, columns, range_.queries, {of, 1, range_.keys}, right, result_);
  if (writes) return put(range_.keys, columns, to);
  for (std::int64_t row = 0; row < range_.keys; ++row) {
    float* const sum = to.data + row * to.pitch;
    kernel_table().arithmetic.add(columns, {sum, false}, {result_ + row * columns, false}, sum);
  }
}

}  // namespace penstock::graph
