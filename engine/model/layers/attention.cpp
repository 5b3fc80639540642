// This is the attention of Model, made of other layers.
#include <cmath>

#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/sequences/causal_mask.hpp"
#include "penstock/error.hpp"

namespace penstock {

Value Model::attention(Value q, Value k, Value v, bool causal) {
  return impl_->calling("attention", [&] {
    NetworkBuilder::Draft draft(impl_->network);
    const Shape queries = impl_->network.graph().type(impl_->id("attention", q)).shape;
    if (queries.rank() < 3)
      throw Error(
          Errc::shape_mismatch,
          "attention: expected q of rank 3 or more, [N,...,S,D], got " + to_string(queries));
    for (const Value& each : {q, k, v})
      if (const Shape shape = impl_->network.graph().type(impl_->id("attention", each)).shape;
          shape.elements() == 0)
        throw Error(Errc::shape_mismatch,
                    "attention: expected q, k and v with at least one element each, got " +
                        to_string(shape));
    Value scores = impl_->apply(graph::matmul, {q, k}, {{"transpose_b", std::int64_t{1}}});
    scores = scale(scores, 1 / std::sqrt(static_cast<double>(queries[-1])));
    if (causal) scores = impl_->apply(graph::causal_mask, {scores});
    const Value result = matmul(softmax(scores, -1), v);
    draft.keep();
    return result;
  });
}

}  // namespace penstock
