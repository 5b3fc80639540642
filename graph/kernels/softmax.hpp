// Softmax along the lines of a tensor, and its logarithm. y may be x, dx may be y or dy.
#pragma once

#include "graph/ops/rules/axes.hpp"

namespace penstock::graph::kernels {

/// y = exp(x - max) / sum(exp(x - max)); exactly 0 where x is -inf.
void softmax(const float* x, float* y, const Lines& lines);
/// y = x - max - log(sum(exp(x - max))).
void log_softmax(const float* x, float* y, const Lines& lines);
/// dx = y·(dy - sum(dy·y)).
void softmax_gradient(const float* y, const float* dy, float* dx, const Lines& lines);
/// dx = dy - exp(y)·sum(dy).
void log_softmax_gradient(const float* y, const float* dy, float* dx, const Lines& lines);

}  // namespace penstock::graph::kernels
