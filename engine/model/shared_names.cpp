#include "engine/model/shared_names.hpp"

namespace penstock {

bool belongs_to(std::string_view parameter, std::string_view layer) {
  return parameter.starts_with(layer) &&
         (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

std::map<std::string, SharedNames::Source>::const_iterator SharedNames::find(
    const std::string& parameter) const {
  auto found = sources_.end();
  for (auto at = sources_.begin(); at != sources_.end(); ++at)
    if (belongs_to(parameter, at->first) &&
        (found == sources_.end() || at->first.size() > found->first.size()))
      found = at;
  return found;
}

std::optional<std::string> SharedNames::source_of(const std::string& parameter) const {
  const auto found = find(parameter);
  if (found == sources_.end()) return std::nullopt;
  const std::string source = found->second.name + parameter.substr(found->first.size());
  // The source may itself have the parameters of a layer before it.
  return source_of(source).value_or(source);
}

void SharedNames::note_use(const std::string& parameter) {
  if (const auto found = find(parameter); found != sources_.end())
    sources_.at(found->first).used = true;
}

std::string SharedNames::unused() const {
  for (const auto& [layer, source] : sources_)
    if (!source.used) return layer;
  return {};
}

}  // namespace penstock
