#include "graph/ir/attributes.hpp"

#include <algorithm>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

template <class T>
const T& typed(std::string_view name, const AttributeValue& value) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw Error(Errc::internal, "attribute \"" + std::string(name) + "\" has another type");
}

}  // namespace

Attributes::Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

Attributes& Attributes::set(std::string name, AttributeValue value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const auto& e, const auto& n) { return e.first < n; });
  if (at != entries_.end() && at->first == name)
    at->second = std::move(value);
  else
    entries_.insert(at, {std::move(name), std::move(value)});
  return *this;
}

const AttributeValue* Attributes::find(std::string_view name) const noexcept {
  for (const auto& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
  const auto* value = find(name);
  return value ? typed<std::int64_t>(name, *value) : fallback;
}

double Attributes::real(std::string_view name, double fallback) const {
  const auto* value = find(name);
  return value ? typed<double>(name, *value) : fallback;
}

std::string_view Attributes::text(std::string_view name, std::string_view fallback) const {
  const auto* value = find(name);
  return value ? std::string_view(typed<std::string>(name, *value)) : fallback;
}

const std::vector<std::int64_t>& Attributes::integers(std::string_view name) const {
  static const Integers empty;
  const auto* value = find(name);
  return value ? typed<Integers>(name, *value) : empty;
}

}  // namespace penstock::graph
