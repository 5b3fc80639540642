// Losses with a term for each pair (x, target), tensors of one shape: their shape rules, and how
// their kernels are called. Attribute `reduction` as in reduction.hpp.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

/// Which formula a node's attributes ask for, and with which constants.
struct PairLoss {
  const PairLossKernels& kernels;
  LossConstants constants = {};
};
using PairLossOf = PairLoss (*)(const Attributes&);

/// (x, target) of type f32 and the same shape -> the loss: [], or that shape without reduction.
std::vector<TensorType> infer_pair_loss(const Attributes&, Types inputs);
/// (x, target, dloss) -> the gradient of either.
std::vector<TensorType> infer_pair_loss_gradient(const Attributes&, Types inputs);

void run_pair_loss(const PairLoss& loss, const KernelCall& call);
void run_pair_loss_gradient(const PairLoss& loss, const KernelCall& call);
void run_pair_loss_target_gradient(const PairLoss& loss, const KernelCall& call);

/// The same as an op's `forward`.
template <PairLossOf loss>
void forward_pair_loss(const KernelCall& call) {
  run_pair_loss(loss(call.attributes), call);
}
template <PairLossOf loss>
void forward_pair_loss_gradient(const KernelCall& call) {
  run_pair_loss_gradient(loss(call.attributes), call);
}
template <PairLossOf loss>
void forward_pair_loss_target_gradient(const KernelCall& call) {
  run_pair_loss_target_gradient(loss(call.attributes), call);
}

/// Emits `gradient`, an op of (x, target, dloss), as the gradient of input `i`, if it is needed.
void emit_pair_loss_gradient(GradientContext& context, std::size_t i, const Op& gradient);

/// As an op's `backward`: of x alone, where the target is a constant.
template <const Op& gradient>
void backward_pair_loss(GradientContext& context) {
  emit_pair_loss_gradient(context, 0, gradient);
}
/// Of x and the target.
template <const Op& gradient, const Op& target_gradient>
void backward_pair_loss_and_target(GradientContext& context) {
  emit_pair_loss_gradient(context, 0, gradient);
  emit_pair_loss_gradient(context, 1, target_gradient);
}
/// Of a function of x - target: the target's gradient is -dx.
void backward_difference_loss(GradientContext& context, const Op& gradient);
template <const Op& gradient>
void backward_difference_loss(GradientContext& context) {
  backward_difference_loss(context, gradient);
}

/// Samples with every reduction; x and target are drawn from [low, high).
std::vector<OpSample> pair_loss_samples(const Attributes& attributes = {}, double low = -1,
                                        double high = 1);

}  // namespace penstock::graph
