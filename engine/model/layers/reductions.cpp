// These are the reductions of Model over axes.
#include "graph/ops/arithmetic/reductions.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "penstock/error.hpp"

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

// The number of elements is known when the model is built only if it does not depend on the number
// of samples.
Value TensorFunctions::var(Value x, const std::vector<int>& axes, bool unbiased, bool keep) {
  return impl_->calling("var", [&](Impl& impl) {
    NetworkBuilder::Draft draft(impl.network);
    const Shape shape = impl.network.graph().type(impl.id("var", x)).shape;
    const auto rank = static_cast<int>(shape.rank());
    for (const int axis : axes)
      if (axis == 0 || axis == -rank)
        throw Error(Errc::shape_mismatch,
                    "var: expected axes behind axis 0, which counts samples, got axis " +
                        std::to_string(axis));
    const Value difference =
        impl.apply(graph::sub, {x, impl.apply(graph::mean, {x}, over(axes, true))});
    const Value squares = impl.apply(graph::mul, {difference, difference});
    Value result = impl.apply(graph::mean, {squares}, over(axes, keep));
    const auto reduced = static_cast<double>(
        shape.elements() / impl.network.graph().type(impl.id("var", result)).shape.elements());
    if (unbiased && reduced < 2)
      throw Error(Errc::shape_mismatch,
                  "var: expected two elements or more along the axes for an unbiased variance, got "
                  "one of " +
                      to_string(shape));
    if (unbiased)
      result = impl.apply(graph::scale, {result}, {{"factor", reduced / (reduced - 1)}});
    draft.keep();
    return result;
  });
}

}  // namespace penstock
