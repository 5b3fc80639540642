// These functions run ops in the batch-lane layout on batch-major tensors, to compare them with ops
// that need no lanes. The padding lanes hold garbage where the layout's invariant allows it.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "graph/ir/op.hpp"
#include "penstock/tensor.hpp"

namespace penstock::testing {

/// A Geometry is a convolution of the tests.
struct Geometry {
  Shape x;
  Shape weight;
  std::vector<std::int64_t> padding = {0, 0};
  std::vector<std::int64_t> stride = {1, 1};
};

/// Prints `geometry` as a part of the names of tests.
void PrintTo(const Geometry& geometry, std::ostream* stream);

/// Returns x [N,...] as lanes whose padding lanes all hold `padding`.
Tensor lanes_of(const Tensor& x, float padding = 0);
/// Returns the first `batch` samples of `lanes`, which is [B,...,16].
Tensor samples_of(const Tensor& lanes, std::int64_t batch);

/// Returns the outputs of one call of `op`.
std::vector<Tensor> outputs_of(const graph::Op& op, std::vector<Tensor> inputs,
                               graph::Attributes attributes = {});

/// Fails unless the lanes after the first `batch` samples are all zero.
void expect_zero_padding(const Tensor& lanes, std::int64_t batch);
/// Fails unless both tensors have the same shape and agree to 1e-5 of the largest value in
/// `expected`.
void expect_close(const Tensor& actual, const Tensor& expected);

}  // namespace penstock::testing
