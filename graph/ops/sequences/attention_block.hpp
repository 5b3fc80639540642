// An AttentionBlock computes the attention of one head for a range of queries, or its gradient. The
// scores of the range are in the workspace, and nowhere else.
#pragma once

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/sequences/attention_sizes.hpp"

namespace penstock::graph {

/// A QueryRange has neighbouring queries, `queries` of them from `first` on, and the number of
/// keys, from key 0 on, that these queries see.
struct QueryRange {
  /// The scores of at most this many queries are in the workspace at the same time.
  static constexpr std::int64_t most = 64;

  std::int64_t first, queries, keys;

  QueryRange(const AttentionSizes& sizes, std::int64_t first_query)
      : first(first_query),
        queries(std::min(most, sizes.queries - first_query)),
        keys(sizes.causal ? first + queries : sizes.keys) {}

  /// Returns the first query of the last range.
  static std::int64_t last_first(const AttentionSizes& sizes) {
    return (sizes.queries - 1) / most * most;
  }
};

/// A HeadRows is a matrix in a tensor: its rows are `pitch` floats apart.
struct HeadRows {
  float* data;
  std::int64_t pitch;

  HeadRows from(std::int64_t row) const { return {data + row * pitch, pitch}; }
  ConstMatrix matrix() const { return {data, pitch, 1}; }
  ConstMatrix transposed() const { return {data, 1, pitch}; }
};

/// Returns the rows of one head of one sample. Each row of the tensor has `features` floats, those
/// of the head begin at `begin`, and there are `rows` rows of each sample.
inline HeadRows rows_of_head(const Operand& tensor, std::int64_t sample, std::int64_t rows,
                             std::int64_t begin) {
  const std::int64_t features = tensor.shape()[-1];
  return {tensor.f32().data() + sample * rows * features + begin, features};
}

/// Returns the rows of y, or of dy, that belong to a head of queries.
inline HeadRows rows_of_result(const Operand& tensor, const AttentionSizes& sizes,
                               std::int64_t sample, std::int64_t head) {
  return rows_of_head(tensor, sample, sizes.queries, head * sizes.value_width);
}

/// An AttentionHead has q, k and v of one head of one sample, or their gradients. `number` counts
/// the heads of all samples.
struct AttentionHead {
  HeadRows q, k, v;
  std::int64_t number;

  /// Makes an AttentionHead of the tensors (q, k, v) or (qkv). `head` is that of the queries.
  AttentionHead(const AttentionSizes& sizes, std::span<const Operand> tensors, std::int64_t sample,
                std::int64_t head);
};

/// An AttentionWorkspace says where the regions of the workspace begin, counted in floats: for the
/// shares, which the softmax makes of the scores, and for their gradients, each of some queries and
/// all keys; for the factors by which a dropout multiplies the shares; for the result of a product;
/// for the padding mask of a sample; and for the workspace of a product.
struct AttentionWorkspace {
  std::int64_t shares, gradients, factors, result, hidden, product, end;

  AttentionWorkspace(const AttentionSizes& sizes, bool of_gradient);
};

/// Serves as Op::workspace of the gradients.
std::int64_t attention_gradient_workspace(const Attributes& attributes, Types in, Types out);

class AttentionBlock {
 public:
  /// `regions` are those of the call's workspace.
  AttentionBlock(const KernelCall& call, const AttentionSizes& sizes,
                 const AttentionWorkspace& regions, const AttentionHead& head, std::int64_t first);

  /// Writes the padding mask of sample `sample` to the workspace, where all blocks of the sample
  /// read it: 1 at a key that is hidden, and else 0.
  static void write_hidden(const KernelCall& call, const AttentionSizes& sizes,
                           const AttentionWorkspace& regions, std::int64_t sample);

  const QueryRange& range() const { return range_; }

  /// Computes the rows of y that belong to the queries.
  void forward(const HeadRows& y) const;
  /// Computes the rows of dq that belong to the queries. Writes to dk and dv what the queries
  /// contribute, if `writes` is true, and else adds it there. The last block of a head sees all
  /// keys.
  void backward(const HeadRows& dy, const AttentionHead& gradients, bool writes) const;
  /// Returns the gradients of the scores, scaled and masked, from which the shares were made:
  /// [range().queries,range().keys].
  const float* score_gradients(const HeadRows& dy) const;

 private:
  void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                const ConstMatrix& left, const ConstMatrix& right, float* result) const;
  void compute_shares() const;
  void compute_row(std::int64_t row) const;
  void draw_factors() const;
  const float* dropped_shares(float* to) const;
  void compute_score_gradients(const HeadRows& dy) const;
  void put(std::int64_t rows, std::int64_t columns, const HeadRows& to) const;
  void contribute(const float* of, const ConstMatrix& right, std::int64_t columns,
                  const HeadRows& to, bool writes) const;

  const AttentionSizes& sizes_;
  const AttentionHead& head_;
  float scale_;
  QueryRange range_;
  RandomKey random_;
  float *shares_, *gradients_, *factors_, *result_, *product_;
  const float *hidden_ = nullptr, *mask_ = nullptr;
};

}  // namespace penstock::graph
