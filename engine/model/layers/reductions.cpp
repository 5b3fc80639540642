// These are the reductions of Model over axes.
#include "graph/ops/arithmetic/reductions.hpp"
#include <limits>

#include "engine/model/layers/composition.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/cumsum.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/logsumexp.hpp"
#include "graph/ops/arithmetic/prod.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"

namespace penstock {
namespace {

graph::Attributes over(const std::vector<int>& axes, bool keep) {
  return {{"axes", std::vector<std::int64_t>(axes.begin(), axes.end())},
          {"keep", std::int64_t{keep ? 1 : 0}}};
}

}  // namespace

Value TensorFunctions::sum(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::sum, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::mean(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::mean, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::amax(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::amax, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::amin(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::amin, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::prod(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::prod, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::logsumexp(Value x, const std::vector<int>& axes, bool keep) {
  return impl_->add(graph::logsumexp, {x}, [&] { return over(axes, keep); });
}

Value TensorFunctions::norm(Value x, const std::vector<int>& axes, double p, bool keep) {
  return composed(*impl_, "norm", [&](const Composition& layer) {
    if (p == std::numeric_limits<double>::infinity())
      return layer.apply(graph::amax, {layer.apply(graph::abs, {x})}, over(axes, keep));
    return layer.apply(graph::vector_norm, {x}, over(axes, keep).set("p", p));
  });
}

Value TensorFunctions::cumsum(Value x, int axis) {
  return composed(*impl_, "cumsum", [&](const Composition& layer) {
    return layer.apply(graph::cumsum, {x},
                       {{"axis", static_cast<std::int64_t>(layer.sample_axis(axis, x))}});
  });
}

// Axis 0 is refused, because what a variance over it returns would depend on how many samples a
// micro-batch has.
Value TensorFunctions::var(Value x, const std::vector<int>& axes, bool unbiased, bool keep) {
  return composed(*impl_, "var", [&](const Composition& layer) {
    for (const int axis : axes) layer.sample_axis(axis, x);
    const Value mean = layer.apply(graph::mean, {x}, over(axes, true));
    layer.expect(!unbiased || layer.shape(x).elements() > layer.shape(mean).elements(),
                 "expected two elements or more along the axes for an unbiased variance, got x " +
                     to_string(layer.shape(x)));
    const Value difference = layer.apply(graph::sub, {x, mean});
    const Value squares = layer.apply(graph::mul, {difference, difference});
    graph::Attributes attributes = over(axes, keep);
    if (unbiased) attributes.set("correction", std::int64_t{1});
    return layer.apply(graph::mean, {squares}, std::move(attributes));
  });
}

}  // namespace penstock
