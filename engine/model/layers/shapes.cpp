// These are Model's layers that only move elements.
#include "engine/model/model_state.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {

Value TensorFunctions::flatten(Value x) {
  return impl_->add(graph::flatten, {x});
}

Value TensorFunctions::reshape(Value x, const std::vector<std::int64_t>& sample) {
  return impl_->add(graph::reshape, {x}, [&] {
    std::vector<std::int64_t> dims{0};  // A 0 keeps the number of samples.
    dims.insert(dims.end(), sample.begin(), sample.end());
    return graph::Attributes{{"shape", std::move(dims)}};
  });
}

Value TensorFunctions::transpose(Value x, const std::vector<std::int64_t>& axes) {
  return impl_->add(graph::transpose, {x}, [&] { return graph::Attributes{{"axes", axes}}; });
}

Value TensorFunctions::concat(const std::vector<Value>& parts, int axis) {
  return impl_->calling(graph::concat.name, [&](Impl& impl) {
    return impl.apply(graph::concat, parts, {{"axis", std::int64_t{axis}}});
  });
}

Value TensorFunctions::slice(Value x, int axis, std::int64_t begin, std::int64_t end) {
  return impl_->add(graph::slice, {x}, [&] {
    return graph::Attributes{{"axis", std::int64_t{axis}}, {"begin", begin}, {"end", end}};
  });
}

}  // namespace penstock
