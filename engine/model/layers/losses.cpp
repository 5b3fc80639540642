// These are the losses of Model that are one op each.
#include "engine/model/layers/reduced.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/class_losses.hpp"
#include "graph/ops/losses/class_margin_losses.hpp"
#include "graph/ops/losses/clipped_log.hpp"
#include "graph/ops/losses/cosine_embedding_loss.hpp"
#include "graph/ops/losses/ctc_loss.hpp"
#include "graph/ops/losses/difference_loss.hpp"
#include "graph/ops/losses/distribution_losses.hpp"
#include "graph/ops/losses/identity_loss.hpp"
#include "graph/ops/losses/margin_losses.hpp"
#include "graph/ops/losses/triplet_margin_loss.hpp"

namespace penstock {
namespace {

/// Returns the inputs of a loss whose classes may have weights.
std::vector<Value> with_weight(std::vector<Value> inputs, const Value& weight) {
  if (weight) inputs.push_back(weight);
  return inputs;
}

std::int64_t flag(bool value) {
  return value ? 1 : 0;
}

}  // namespace

Value LossFunctions::cross_entropy(Value x, Value labels, const CrossEntropyOptions& options) {
  return impl_->adding(graph::cross_entropy.name, [&](Impl& impl) {
    graph::Attributes attributes = reduced(options.reduction);
    attributes.set("label_smoothing", options.label_smoothing);
    attributes.set("ignore_index", options.ignore_index);
    attributes.set("class_axis", std::int64_t{options.class_axis});
    NetworkBuilder::Draft draft(impl.network);
    const Value logits = options.from_logits ? x : impl.apply(graph::clipped_log, {x});
    const Value loss = impl.apply(
        graph::cross_entropy, with_weight({logits, labels}, options.weight), std::move(attributes));
    draft.keep();
    return loss;
  });
}

Value LossFunctions::nll_loss(Value log_probabilities, Value labels, LossReduction reduction,
                              std::int64_t ignore_index, int class_axis, Value weight) {
  return impl_->adding(graph::nll_loss.name, [&](Impl& impl) {
    return impl.apply(graph::nll_loss, with_weight({log_probabilities, labels}, weight),
                      reduced(reduction)
                          .set("ignore_index", ignore_index)
                          .set("class_axis", std::int64_t{class_axis}));
  });
}

Value LossFunctions::mse_loss(Value x, Value target, LossReduction reduction) {
  return impl_->add(graph::mse_loss, {x, target}, [&] { return reduced(reduction); });
}

Value LossFunctions::l1_loss(Value x, Value target, LossReduction reduction) {
  return impl_->add(graph::l1_loss, {x, target}, [&] { return reduced(reduction); });
}

Value LossFunctions::smooth_l1_loss(Value x, Value target, const SmoothL1Options& options) {
  return impl_->add(graph::smooth_l1_loss, {x, target},
                    [&] { return reduced(options.reduction).set("beta", options.beta); });
}

Value LossFunctions::huber_loss(Value x, Value target, const HuberOptions& options) {
  return impl_->add(graph::huber_loss, {x, target},
                    [&] { return reduced(options.reduction).set("delta", options.delta); });
}

Value LossFunctions::kl_div_loss(Value x, Value target, const KlDivOptions& options) {
  return impl_->add(graph::kl_div_loss, {x, target}, [&] {
    return reduced(options.reduction).set("log_target", flag(options.log_target));
  });
}

Value LossFunctions::poisson_nll_loss(Value x, Value target, const PoissonNllOptions& options) {
  return impl_->add(graph::poisson_nll_loss, {x, target}, [&] {
    return reduced(options.reduction)
        .set("log_input", flag(options.log_input))
        .set("full", flag(options.full))
        .set("eps", options.eps);
  });
}

Value LossFunctions::hinge_embedding_loss(Value x, Value target, const HingeOptions& options) {
  return impl_->add(graph::hinge_embedding_loss, {x, target},
                    [&] { return reduced(options.reduction).set("margin", options.margin); });
}

Value LossFunctions::soft_margin_loss(Value x, Value target, LossReduction reduction) {
  return impl_->add(graph::soft_margin_loss, {x, target}, [&] { return reduced(reduction); });
}

Value LossFunctions::multilabel_soft_margin_loss(Value x, Value target, LossReduction reduction) {
  return impl_->add(graph::multilabel_soft_margin_loss, {x, target},
                    [&] { return reduced(reduction); });
}

Value LossFunctions::multi_margin_loss(Value x, Value labels, const MultiMarginOptions& options) {
  return impl_->adding(graph::multi_margin_loss.name, [&](Impl& impl) {
    return impl.apply(
        graph::multi_margin_loss, with_weight({x, labels}, options.weight),
        reduced(options.reduction).set("margin", options.margin).set("p", std::int64_t{options.p}));
  });
}

Value LossFunctions::multilabel_margin_loss(Value x, Value labels, LossReduction reduction) {
  return impl_->add(graph::multilabel_margin_loss, {x, labels}, [&] { return reduced(reduction); });
}

Value LossFunctions::cosine_embedding_loss(Value a, Value b, Value target,
                                           const MarginOptions& options) {
  return impl_->add(graph::cosine_embedding_loss, {a, b, target},
                    [&] { return reduced(options.reduction).set("margin", options.margin); });
}

Value LossFunctions::margin_ranking_loss(Value a, Value b, Value target,
                                         const MarginOptions& options) {
  return impl_->add(graph::margin_ranking_loss, {a, b, target},
                    [&] { return reduced(options.reduction).set("margin", options.margin); });
}

Value LossFunctions::triplet_margin_loss(Value anchor, Value near, Value far,
                                         const TripletMarginOptions& options) {
  return impl_->add(graph::triplet_margin_loss, {anchor, near, far}, [&] {
    return reduced(options.reduction)
        .set("margin", options.margin)
        .set("p", std::int64_t{options.p})
        .set("eps", options.eps)
        .set("swap", flag(options.swap));
  });
}

Value LossFunctions::ctc_loss(Value log_probabilities, Value labels, Value steps, Value counts,
                              const CtcOptions& options) {
  return impl_->add(graph::ctc_loss, {log_probabilities, labels, steps, counts}, [&] {
    return reduced(options.reduction)
        .set("blank", options.blank)
        .set("zero_infinity", flag(options.zero_infinity));
  });
}

Value LossFunctions::identity_loss(Value x, LossReduction reduction) {
  return impl_->add(graph::identity_loss, {x}, [&] { return reduced(reduction); });
}

}  // namespace penstock
