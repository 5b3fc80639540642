// This is the attention of Model, made of other layers.
#include <cmath>

#include "engine/model/model_state.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/sequences/causal_mask.hpp"
#include "penstock/error.hpp"

namespace penstock {

Value Model::attention(Value q, Value k, Value v, bool causal) {
  return impl_->calling("attention", [&](Impl& impl) {
    NetworkBuilder::Draft draft(impl.network);
    const Shape queries = impl.network.graph().type(impl.id("attention", q)).shape;
    if (queries.rank() < 3)
      throw Error(
          Errc::shape_mismatch,
          "attention: expected q of rank 3 or more, [N,...,S,D], got " + to_string(queries));
    for (const Value& each : {q, k, v})
      if (const Shape shape = impl.network.graph().type(impl.id("attention", each)).shape;
          shape.elements() == 0)
        throw Error(Errc::shape_mismatch,
                    "attention: expected q, k and v with at least one element each, got " +
                        to_string(shape));
    Value scores = impl.apply(graph::matmul, {q, k}, {{"transpose_b", std::int64_t{1}}});
    const double factor = 1 / std::sqrt(static_cast<double>(queries[-1]));
    scores = impl.apply(graph::scale, {scores}, {{"factor", factor}});
    if (causal) scores = impl.apply(graph::causal_mask, {scores});
    const Value shares = impl.apply(graph::softmax, {scores}, {{"axis", std::int64_t{-1}}});
    const Value result = impl.apply(graph::matmul, {shares, v});
    draft.keep();
    return result;
  });
}

}  // namespace penstock
