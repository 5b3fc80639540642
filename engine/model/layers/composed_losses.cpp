// These are the losses of Model that may be made of several ops.
#include "engine/model/layers/inputs.hpp"
#include "engine/model/layers/reduced.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/smooth.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/losses/binary_cross_entropy.hpp"
#include "graph/ops/losses/gaussian_nll_loss.hpp"
#include "graph/ops/losses/identity_loss.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the terms multiplied by `weight`, if there is one, as one loss.
Value weighted(ModelState& model, const graph::Op& op, const Value& terms, const Value& weight,
               LossReduction reduction) {
  if (!weight) return model.apply(graph::identity_loss, {terms}, reduced(reduction));
  const Value products = model.apply(graph::mul, {terms, weight});
  if (shape_of(model, op.name, products) != shape_of(model, op.name, terms))
    throw Error(Errc::shape_mismatch, std::string(op.name) +
                                          ": expected a weight that broadcasts to " +
                                          to_string(shape_of(model, op.name, terms)) + ", got " +
                                          to_string(shape_of(model, op.name, weight)));
  return model.apply(graph::identity_loss, {products}, reduced(reduction));
}

/// Returns -pos_weight·t·log(s(x)) - (1-t)·log(1-s(x)), where s is the logistic sigmoid.
Value terms_of_logits(ModelState& model, const Value& x, const Value& target,
                      const Value& pos_weight) {
  const auto minus = [&](const Value& value) {
    return model.apply(graph::scale, {value}, {{"factor", -1.0}});
  };
  const Value positive = model.apply(graph::mul, {target, pos_weight});
  const Value likely = model.apply(graph::logsigmoid, {x});
  const Value unlikely = model.apply(graph::logsigmoid, {minus(x)});
  const Value of_positive = model.apply(graph::mul, {positive, likely});
  const Value of_negative =
      model.apply(graph::sub, {unlikely, model.apply(graph::mul, {target, unlikely})});
  return minus(model.apply(graph::add, {of_positive, of_negative}));
}

}  // namespace

Value LossFunctions::binary_cross_entropy(Value x, Value target, LossReduction reduction,
                                          Value weight) {
  const graph::Op& op = graph::binary_cross_entropy;
  return impl_->adding(op.name, [&](Impl& impl) {
    if (!weight) return impl.apply(op, {x, target}, reduced(reduction));
    NetworkBuilder::Draft draft(impl.network);
    const Value terms = impl.apply(op, {x, target}, reduced(LossReduction::none));
    const Value loss = weighted(impl, op, terms, weight, reduction);
    draft.keep();
    return loss;
  });
}

Value LossFunctions::binary_cross_entropy_with_logits(Value x, Value target,
                                                      LossReduction reduction, Value weight,
                                                      Value pos_weight) {
  const graph::Op& op = graph::binary_cross_entropy_with_logits;
  return impl_->adding(op.name, [&](Impl& impl) {
    if (!weight && !pos_weight) return impl.apply(op, {x, target}, reduced(reduction));
    NetworkBuilder::Draft draft(impl.network);
    if (shape_of(impl, op.name, x) != shape_of(impl, op.name, target))
      throw Error(Errc::shape_mismatch, std::string(op.name) + ": expected target of shape " +
                                            to_string(shape_of(impl, op.name, x)) + ", got " +
                                            to_string(shape_of(impl, op.name, target)));
    const Value terms = pos_weight ? terms_of_logits(impl, x, target, pos_weight)
                                   : impl.apply(op, {x, target}, reduced(LossReduction::none));
    if (shape_of(impl, op.name, terms) != shape_of(impl, op.name, x))
      throw Error(Errc::shape_mismatch, std::string(op.name) +
                                            ": expected a pos_weight that broadcasts to " +
                                            to_string(shape_of(impl, op.name, x)) + ", got " +
                                            to_string(shape_of(impl, op.name, pos_weight)));
    const Value loss = weighted(impl, op, terms, weight, reduction);
    draft.keep();
    return loss;
  });
}

Value LossFunctions::gaussian_nll_loss(Value x, Value target, Value variance,
                                       const GaussianNllOptions& options) {
  const graph::Op& op = graph::gaussian_nll_loss;
  return impl_->adding(op.name, [&](Impl& impl) {
    const Shape whole = shape_of(impl, op.name, x), variances = shape_of(impl, op.name, variance);
    NetworkBuilder::Draft draft(impl.network);
    Value each = variance;
    if (whole.rank() > 1 && variances != whole && variances == whole.with(-1, 1)) {
      // The zeros have the size of x along its last axis, to which they broadcast the variances.
      const Value zeros = impl.apply(
          graph::fill, {}, {{"shape", std::vector<std::int64_t>{whole[-1]}}, {"value", 0.0}});
      each = impl.apply(graph::add, {variance, zeros});
    }
    const Value loss = impl.apply(op, {x, target, each},
                                  reduced(options.reduction)
                                      .set("full", std::int64_t{options.full ? 1 : 0})
                                      .set("eps", options.eps));
    draft.keep();
    return loss;
  });
}

}  // namespace penstock
