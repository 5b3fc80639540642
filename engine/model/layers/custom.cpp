// These are the layers of Model that compute the host's own ops.
#include "graph/ops/custom/custom.hpp"
#include "engine/model/model_state.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/custom_ops.hpp"
#include "graph/values/text.hpp"

namespace penstock {

Value Layers::custom(const std::string& op, const std::vector<Value>& inputs) {
  return impl_->adding(graph::custom.name, [&](Impl& impl) {
    if (inputs.empty())
      throw Error(Errc::invalid_argument,
                  "custom: expected at least one input for op " + quoted_text(op));
    const CustomOp* const known = find_custom_op(op);
    if (known == nullptr) {
      const std::vector<std::string> names = custom_op_names();
      throw Error(Errc::invalid_argument,
                  "custom: there is no op " + quoted_text(op) + "; register_op() makes one known" +
                      instead_of(op, std::vector<std::string_view>(names.begin(), names.end())));
    }
    return impl.apply(known->backward ? graph::custom : graph::custom_constant, inputs,
                      {{"op", op}});
  });
}

}  // namespace penstock
