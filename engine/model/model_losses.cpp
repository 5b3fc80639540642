// Model's losses.
#include "engine/model/model_state.hpp"
#include "graph/ops/losses/cross_entropy.hpp"
#include "graph/ops/losses/difference_loss.hpp"
#include "graph/ops/losses/identity_loss.hpp"
#include "graph/ops/losses/nll_loss.hpp"

namespace penstock {
namespace {

graph::Attributes reduced(LossReduction reduction) {
  const char* name = reduction == LossReduction::mean  ? "mean"
                     : reduction == LossReduction::sum ? "sum"
                                                       : "none";
  return {{"reduction", std::string(name)}};
}

}  // namespace

Value Model::cross_entropy(Value logits, Value labels, const CrossEntropyOptions& options) {
  graph::Attributes attributes = reduced(options.reduction);
  attributes.set("label_smoothing", options.label_smoothing);
  attributes.set("ignore_index", options.ignore_index);
  return impl_->apply(graph::cross_entropy, {logits, labels}, std::move(attributes));
}

Value Model::nll_loss(Value log_probabilities, Value labels, LossReduction reduction,
                      std::int64_t ignore_index) {
  graph::Attributes attributes = reduced(reduction);
  attributes.set("ignore_index", ignore_index);
  return impl_->apply(graph::nll_loss, {log_probabilities, labels}, std::move(attributes));
}

Value Model::mse_loss(Value x, Value target, LossReduction reduction) {
  return impl_->apply(graph::mse_loss, {x, target}, reduced(reduction));
}

Value Model::l1_loss(Value x, Value target, LossReduction reduction) {
  return impl_->apply(graph::l1_loss, {x, target}, reduced(reduction));
}

Value Model::identity_loss(Value x, LossReduction reduction) {
  return impl_->apply(graph::identity_loss, {x}, reduced(reduction));
}

}  // namespace penstock
