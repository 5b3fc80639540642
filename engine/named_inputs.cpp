#include "engine/named_inputs.hpp"

#include <algorithm>

#include "engine/names/known_names.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string_view call, const std::string& text) {
  throw Error(Errc::invalid_argument, std::string(call) + ": " + text);
}

void expect_known(std::string_view call, const std::vector<std::string>& names,
                  const std::vector<NamedTensor>& inputs) {
  for (const NamedTensor& input : inputs)
    if (std::ranges::find(names, input.name) == names.end())
      refuse(call, "there is no input " + quoted_text(input.name) +
                       instead_of(input.name, names, std::identity()));
}

const Tensor& one_called(std::string_view call, const std::string& name,
                         const std::vector<NamedTensor>& inputs) {
  const auto found = std::ranges::find(inputs, name, &NamedTensor::name);
  if (found == inputs.end()) refuse(call, "expected the input " + quoted_text(name) + ", got none");
  if (std::ranges::count(inputs, name, &NamedTensor::name) > 1)
    refuse(call, "expected the input " + quoted_text(name) + " once, got it several times");
  return found->tensor;
}

}  // namespace

std::vector<Tensor> in_order(std::string_view call, const std::vector<std::string>& names,
                             const std::vector<NamedTensor>& inputs) {
  return or_out_of_memory(call, [&] {
    expect_known(call, names, inputs);
    std::vector<Tensor> tensors;
    for (const std::string& name : names) tensors.push_back(one_called(call, name, inputs));
    return tensors;
  });
}

}  // namespace penstock
