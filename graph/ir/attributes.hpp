// Attributes: the named constants of a node (stride, eps, ...). Plain data, ordered by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock::graph {

/// A list of integers, as a type of its own: the variant of GCC 12's library takes each of its own
/// types to be copied without exceptions, and a copy that has no memory is then destroyed although
/// it was never made.
struct Integers : std::vector<std::int64_t> {
  using std::vector<std::int64_t>::vector;
  Integers(std::vector<std::int64_t> values) : std::vector<std::int64_t>(std::move(values)) {}
};

using AttributeValue = std::variant<std::int64_t, double, std::string, Integers>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> entries);

  Attributes& set(std::string name, AttributeValue value);
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

  /// The value of `name`, or `fallback` where it is not set.
  /// @throws Error internal if it is set to another type.
  std::int64_t integer(std::string_view name, std::int64_t fallback = 0) const;
  double real(std::string_view name, double fallback = 0) const;
  bool flag(std::string_view name, bool fallback = false) const {
    return integer(name, fallback) != 0;
  }
  std::string_view text(std::string_view name, std::string_view fallback = "") const;
  /// An empty list where it is not set.
  const std::vector<std::int64_t>& integers(std::string_view name) const;

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  bool operator==(const Attributes&) const = default;

 private:
  const AttributeValue* find(std::string_view name) const noexcept;

  std::vector<std::pair<std::string, AttributeValue>> entries_;
};

}  // namespace penstock::graph
