// Losses that have a term for each pair (x, target), which are elements of two tensors of one
// shape, share the declarations in this header: their shape rules, and the functions that call
// their kernels. The attribute `reduction` is that of reduction.hpp.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

/// A PairLoss says which formula a node's attributes ask for, and with which constants.
struct PairLoss {
  const PairLossKernels& kernels;
  LossConstants constants = {};
};
using PairLossOf = PairLoss (*)(const Attributes&);

/// Maps (x, target), of type f32 and the same shape, to the loss: [], or that shape without
/// reduction.
std::vector<TensorType> infer_pair_loss(const Attributes&, Types inputs);
/// Maps (x, target, dloss) to the type of the gradient of x, which is also the type of the target's
/// gradient.
std::vector<TensorType> infer_pair_loss_gradient(const Attributes&, Types inputs);

void run_pair_loss(const PairLoss& loss, const KernelCall& call);
void run_pair_loss_gradient(const PairLoss& loss, const KernelCall& call);
void run_pair_loss_target_gradient(const PairLoss& loss, const KernelCall& call);

/// Serves as Op::forward of a loss with a term for each pair.
template <PairLossOf loss>
void forward_pair_loss(const KernelCall& call) {
  run_pair_loss(loss(call.attributes), call);
}
/// Serves as Op::forward of an op that computes the gradient of x.
template <PairLossOf loss>
void forward_pair_loss_gradient(const KernelCall& call) {
  run_pair_loss_gradient(loss(call.attributes), call);
}
/// Serves as Op::forward of an op that computes the gradient of the target.
template <PairLossOf loss>
void forward_pair_loss_target_gradient(const KernelCall& call) {
  run_pair_loss_target_gradient(loss(call.attributes), call);
}

/// Emits `gradient`, an op of (x, target, dloss), as the gradient of input `i` if that gradient is
/// needed.
void emit_pair_loss_gradient(GradientContext& context, std::size_t i, const Op& gradient);

/// Serves as Op::backward of a loss whose target is a constant, so that only x has a gradient.
template <const Op& gradient>
void backward_pair_loss(GradientContext& context) {
  emit_pair_loss_gradient(context, 0, gradient);
}
/// Serves as Op::backward of a loss in which both x and the target have gradients.
template <const Op& gradient, const Op& target_gradient>
void backward_pair_loss_and_target(GradientContext& context) {
  emit_pair_loss_gradient(context, 0, gradient);
  emit_pair_loss_gradient(context, 1, target_gradient);
}
/// Serves the backward of a loss that is a function of x - target: `gradient` computes dx, and the
/// gradient of the target is -dx.
void backward_difference_loss(GradientContext& context, const Op& gradient);
template <const Op& gradient>
void backward_difference_loss(GradientContext& context) {
  backward_difference_loss(context, gradient);
}

/// Returns one sample for each reduction; x and target are drawn from [low, high).
std::vector<OpSample> pair_loss_samples(const Attributes& attributes = {}, double low = -1,
                                        double high = 1);

}  // namespace penstock::graph
