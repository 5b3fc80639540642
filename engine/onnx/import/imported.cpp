#include "engine/onnx/import/imported.hpp"

namespace penstock {

Sources Sources::of(const std::vector<const Imported*>& inputs) {
  Sources result;
  for (const Imported* x : inputs)
    if (x && x->sources.names_ &&
        (!result.names_ || x->sources.names_->size() > result.names_->size()))
      result = x->sources;
  std::shared_ptr<std::set<std::string>> more;
  for (const Imported* x : inputs) {
    if (!x || !x->sources.names_ || x->sources.names_ == result.names_) continue;
    for (const std::string& name : *x->sources.names_) {
      if (result.names_->contains(name)) continue;
      if (!more) result.names_ = more = std::make_shared<std::set<std::string>>(*result.names_);
      more->insert(name);
    }
  }
  return result;
}

}  // namespace penstock
