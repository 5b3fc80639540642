#include "engine/model/shared_names.hpp"

#include <algorithm>
#include <set>

namespace penstock {

bool belongs_to(std::string_view parameter, std::string_view layer) {
  return parameter.starts_with(layer) &&
         (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

SharedNames::Sources::const_iterator SharedNames::find(std::string_view parameter) const {
  std::string_view layer = parameter;
  for (;;) {
    if (const auto found = sources_.find(layer); found != sources_.end()) return found;
    const std::size_t dot = layer.rfind('.');
    if (dot == std::string_view::npos) return sources_.end();
    layer = layer.substr(0, dot);
  }
}

std::string SharedNames::source_by(Sources::const_iterator share, const std::string& parameter) {
  return share->second + parameter.substr(share->first.size());
}

std::optional<std::string> SharedNames::source_of(const std::string& parameter) const {
  const auto found = find(parameter);
  if (found == sources_.end()) return std::nullopt;
  const std::string source = source_by(found, parameter);
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

std::string SharedNames::unused() const {
  std::set<std::string> parameters;  // These were asked for, or stand in the place of such.
  std::set<std::string_view> used;   // These are the layers whose sources were asked for.
  for (const Use& use : uses_)
    for (std::string parameter = use.parameter; parameters.insert(parameter).second;) {
      const auto found = find(parameter);
      if (found == sources_.end()) break;
      used.insert(found->first);
      parameter = source_by(found, parameter);
    }
  for (const auto& [layer, source] : sources_)
    if (!used.contains(layer)) return layer;
  return {};
}

}  // namespace penstock
