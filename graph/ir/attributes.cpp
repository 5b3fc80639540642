#include "graph/ir/attributes.hpp"

#include <algorithm>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

template <class T>
const T& typed(std::string_view name, const AttributeValue& value) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  throw Error(Errc::internal, "attribute \"" + std::string(name) + "\" has another type");
}

const DeclaredAttribute* find_declared(std::span<const DeclaredAttribute> declared,
                                       std::string_view name) {
  const auto at = std::ranges::find(declared, name, &DeclaredAttribute::name);
  return at == declared.end() ? nullptr : &*at;
}

bool fits(AttributeKind kind, const AttributeValue& value) {
  const bool one = std::holds_alternative<std::int64_t>(value);
  const bool list = std::holds_alternative<Integers>(value);
  switch (kind) {
    case AttributeKind::integer:
    case AttributeKind::flag:
      return one;
    case AttributeKind::real:
      return std::holds_alternative<double>(value);
    case AttributeKind::text:
      return std::holds_alternative<std::string>(value);
    case AttributeKind::integers:
      return list;
    case AttributeKind::pair:
      return one || list;
  }
  return false;
}

const char* kind_text(AttributeKind kind) {
  constexpr const char* texts[] = {"an integer", "a real number",      "a flag, 0 or 1",
                                   "a text",     "a list of integers", "one or two integers"};
  return texts[static_cast<std::size_t>(kind)];
}

const char* type_text(const AttributeValue& value) {
  constexpr const char* texts[] = {"an integer", "a real number", "a text", "a list of integers"};
  return texts[value.index()];
}

[[noreturn]] void refuse_unknown(std::span<const DeclaredAttribute> declared,
                                 std::string_view name) {
  std::string expected;
  for (const DeclaredAttribute& attribute : declared)
    expected += (expected.empty() ? "one of the attributes " : ", ") + std::string(attribute.name);
  throw Error(
      Errc::invalid_argument,
      "expected " + (expected.empty() ? "no attributes" : expected) + ", got " + quoted_text(name));
}

}  // namespace

void check_declared(std::span<const DeclaredAttribute> declared, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    const DeclaredAttribute* known = find_declared(declared, name);
    if (!known) refuse_unknown(declared, name);
    if (!fits(known->kind, value))
      throw Error(Errc::invalid_argument, "expected the attribute " + name + " to be " +
                                              kind_text(known->kind) + ", got " + type_text(value));
  }
}

Attributes only_declared(std::span<const DeclaredAttribute> declared,
                         const Attributes& attributes) {
  Attributes kept;
  for (const auto& [name, value] : attributes)
    if (find_declared(declared, name)) kept.set(name, value);
  return kept;
}

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
