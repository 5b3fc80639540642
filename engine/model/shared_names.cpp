#include "engine/model/shared_names.hpp"

#include <algorithm>

namespace penstock {

bool belongs_to(std::string_view parameter, std::string_view layer) {
  return parameter.starts_with(layer) &&
         (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

SharedNames::Sources::const_iterator SharedNames::find(std::string_view parameter) const {
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
  const std::string source = found->second + parameter.substr(found->first.size());
  // The source may itself have the parameters of a layer before it.
  return source_of(source).value_or(source);
}

void SharedNames::note_use(const std::string& parameter, bool added) {
  uses_.push_back({parameter, added});
}

bool SharedNames::is_added(std::string_view parameter) const {
  return std::ranges::any_of(
      uses_, [&](const Use& use) { return use.added && use.parameter == parameter; });
}

bool SharedNames::leads_through(std::string parameter, std::string_view layer) const {
  for (;;) {
    const auto found = find(parameter);
    if (found == sources_.end()) return false;
    if (found->first == layer) return true;
    parameter = found->second + parameter.substr(found->first.size());
  }
}

std::string SharedNames::unused() const {
  for (const auto& [layer, source] : sources_)
    if (std::ranges::none_of(uses_,
                             [&](const Use& use) { return leads_through(use.parameter, layer); }))
      return layer;
  return {};
}

}  // namespace penstock
