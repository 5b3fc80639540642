#include "engine/onnx/import/imported.hpp"

namespace penstock {

std::set<std::string> Sources::names() const {
  std::set<std::string> names;
  for (std::size_t number = 0; number < is_source_.size(); ++number)
    if (is_source_[number]) names.insert((*inputs_)[number].name);
  return names;
}

Sources Sources::of(const std::vector<const Imported*>& inputs) {
  Sources result;
  for (const Imported* x : inputs) {
    if (!x || x->sources.is_empty()) continue;
    result.inputs_ = x->sources.inputs_;
    result.is_source_ |= x->sources.is_source_;
  }
  return result;
}

}  // namespace penstock
