#include "engine/model/shared_names.hpp"

namespace penstock {

bool belongs_to(const std::string& parameter, const std::string& layer) {
  return parameter.starts_with(layer) &&
         (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

std::optional<std::string> SharedNames::source_of(const std::string& parameter) const {
  std::optional<std::string> found;
  std::size_t longest = 0;
  for (const auto& [layer, source] : sources_) {
    if (layer.size() < longest || !belongs_to(parameter, layer)) continue;
    longest = layer.size();
    found = source + parameter.substr(layer.size());
  }
  if (!found) return found;
  // The source may itself have the parameters of a layer before it.
  const std::optional<std::string> first = source_of(*found);
  return first ? first : found;
}

}  // namespace penstock
