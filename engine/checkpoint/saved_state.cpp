#include "penstock/saved_state.hpp"

#include <algorithm>

#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(const char* kind, const std::string& name) {
  throw Error(Errc::invalid_data, std::string("a saved state: expected a ") + kind + " named " +
                                      quoted_text(name) + ", found none");
}

}  // namespace

const std::string& SavedState::text(const std::string& name) const {
  return or_out_of_memory("SavedState::text", [&]() -> const std::string& {
    const auto found = texts.find(name);
    if (found == texts.end()) refuse("text", name);
    return found->second;
  });
}

const Tensor& SavedState::tensor(const std::string& name) const {
  return or_out_of_memory("SavedState::tensor", [&]() -> const Tensor& {
    const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
    if (found == tensors.end()) refuse("tensor", name);
    return found->tensor;
  });
}

}  // namespace penstock
