// These are the losses of a Model, with PyTorch's numbers. docs/layers.md lists them.
#pragma once

#include <cstdint>

#include "penstock/loss.hpp"
#include "penstock/transformer_layers.hpp"

namespace penstock {

/// LossFunctions are the methods of Model that losses are computed by. Inputs called x, a or b have
/// gradients; a target has one if the comment says so. A reduced loss has shape [], and a loss
/// without reduction has the shape of its terms.
class LossFunctions : public TransformerLayers {
 public:
  /// Returns the negative log-likelihood of `labels` [N] (or [N,...] for logits [N,C,...]) under a
  /// softmax over the axis of the classes, which is axis 1 unless `options` say otherwise. Its
  /// terms are [N,...].
  Value cross_entropy(Value logits, Value labels, const CrossEntropyOptions& options = {});
  /// Returns the negative log-likelihood of `labels` [N] (or [N,...]) for log-probabilities [N,C]
  /// (or [N,C,...]); its terms are [N,...]. A label of `ignore_index` counts for nothing, not even
  /// in the divisor of the mean. The classes are along axis `class_axis`. A `weight` [C] multiplies
  /// the terms as that of cross_entropy() does.
  Value nll_loss(Value log_probabilities, Value labels,
                 LossReduction reduction = LossReduction::mean, std::int64_t ignore_index = -100,
                 int class_axis = 1, Value weight = {});
  /// Returns (x - target)², element by element. The target has a gradient.
  Value mse_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns |x - target|, element by element. The target has a gradient.
  Value l1_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns d²/2β where |d| < β, and |d| - β/2 elsewhere, for d = x - target. The target has a
  /// gradient.
  Value smooth_l1_loss(Value x, Value target, const SmoothL1Options& options = {});
  /// Returns d²/2 where |d| <= δ, and δ·(|d| - δ/2) elsewhere, for d = x - target. The target has a
  /// gradient.
  Value huber_loss(Value x, Value target, const HuberOptions& options = {});
  /// Returns (log(v) + (x - target)²/v)/2 for targets of normal distributions with the means x and
  /// the variances v. `variance` has the shape of x, or 1 in place of its last dimension. Both have
  /// a gradient, as has the target. A step with a variance below 0 fails by Error stage_failed.
  Value gaussian_nll_loss(Value x, Value target, Value variance,
                          const GaussianNllOptions& options = {});
  /// Returns -t·log(x) - (1-t)·log(1-x) for x and t from 0 to 1, where logarithms below -100 count
  /// as -100. The target has a gradient. A step with an x outside 0 to 1 fails by Error
  /// stage_failed, which names the sample. A `weight`, which broadcasts to x, multiplies the terms.
  Value binary_cross_entropy(Value x, Value target, LossReduction reduction = LossReduction::mean,
                             Value weight = {});
  /// Returns binary_cross_entropy() of 1/(1 + exp(-x)). The target has a gradient. A `weight`,
  /// which broadcasts to x, multiplies the terms, and a `pos_weight` their share that t is a factor
  /// of.
  Value binary_cross_entropy_with_logits(Value x, Value target,
                                         LossReduction reduction = LossReduction::mean,
                                         Value weight = {}, Value pos_weight = {});
  /// Returns t·(log(t) - x) for log-probabilities x. The target has a gradient. LossReduction::mean
  /// is over all elements, as in torch.nn.KLDivLoss; divide the sum by the batch size for the mean
  /// of the divergence.
  Value kl_div_loss(Value x, Value target, const KlDivOptions& options = {});
  /// Returns exp(x) - t·x for counts t. The target has a gradient.
  Value poisson_nll_loss(Value x, Value target, const PoissonNllOptions& options = {});
  /// Returns x where the target is 1, max(0, margin - x) where the target is -1, and, as in
  /// PyTorch, the sum of both elsewhere. The target has no gradient: a training is refused if it
  /// depends on a parameter that is trained, unless by way of sign() or another function that lets
  /// no gradient back.
  Value hinge_embedding_loss(Value x, Value target, const HingeOptions& options = {});
  /// Returns log(1 + exp(-t·x)) for targets t of 1 and -1. The target has a gradient.
  Value soft_margin_loss(Value x, Value target, LossReduction reduction = LossReduction::mean);
  /// Returns the mean over C of binary_cross_entropy_with_logits(). x and target are [N,C], and the
  /// target, which has no gradient, is 1 where the sample belongs to the class, else 0. The terms
  /// are [N].
  Value multilabel_soft_margin_loss(Value x, Value target,
                                    LossReduction reduction = LossReduction::mean);
  /// Returns the sum of max(0, margin - x[y] + x[j])^p over all classes j but the label y, divided
  /// by C, for scores x [N,C] and labels [N]. The terms are [N].
  Value multi_margin_loss(Value x, Value labels, const MultiMarginOptions& options = {});
  /// Returns the sum of max(0, 1 - x[y] + x[j]) over the labels y of a sample and the classes j
  /// that are none of its labels, divided by C. x and labels are [N,C]; the labels of a sample end
  /// before the first -1. The terms are [N].
  Value multilabel_margin_loss(Value x, Value labels,
                               LossReduction reduction = LossReduction::mean);
  /// Returns 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where the target is
  /// -1, and, as in PyTorch, 0 elsewhere. a and b are [N,D], the target is f32 [N] and has no
  /// gradient, and the terms are [N].
  Value cosine_embedding_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// Returns max(0, margin - t·(a - b)) for tensors of one shape. A target t of 1 says that a ranks
  /// higher, and -1 that b does; it has no gradient.
  Value margin_ranking_loss(Value a, Value b, Value target, const MarginOptions& options = {});
  /// Returns max(0, margin + |anchor - near| - |anchor - far|) for rows [N,D]. The terms are [N].
  Value triplet_margin_loss(Value anchor, Value near, Value far,
                            const TripletMarginOptions& options = {});
  /// Returns the connectionist temporal classification loss of log_probabilities [N,T,C]
  /// (torch.nn.CTCLoss with the batch first). Sample n has the first `counts`[n] of its `labels` in
  /// the first `steps`[n] of the T steps; labels are i64 [N,S], counts and steps i64 [N]. The terms
  /// are [N]. The mean divides each loss by its number of labels first. A call fails, and with it
  /// the model, if one of the labels that count is the blank or no class.
  Value ctc_loss(Value log_probabilities, Value labels, Value steps, Value counts,
                 const CtcOptions& options = {});
  /// Makes any value a loss, so that a value computed from several losses can be minimized.
  Value identity_loss(Value x, LossReduction reduction = LossReduction::mean);

 protected:
  LossFunctions() = default;
};

}  // namespace penstock
