#include "engine/onnx/import/imported.hpp"

namespace penstock {

std::vector<std::string> Sources::names(std::size_t most) const {
  std::vector<std::string> names;
  for (std::size_t number = 0; number < is_source_.size() && names.size() < most; ++number)
    if (is_source_[number]) names.push_back((*inputs_)[number].name);
  return names;
}

void Sources::add(const Sources& others) {
  if (others.is_empty()) return;
  inputs_ = others.inputs_;
  is_source_ |= others.is_source_;
}

Sources Sources::of(const std::vector<const Imported*>& inputs) {
  Sources result;
  for (const Imported* x : inputs)
    if (x) result.add(x->sources);
  return result;
}

}  // namespace penstock
