// Attributes are the named constants of a node, such as a stride. They are plain data, ordered by
// name. An op declares which attributes its nodes may set, and reads the attributes by these
// declarations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace penstock::graph {

/// An Integers is a list of integers. It is a type of its own because std::variant in GCC 12's
/// library assumes that a std::vector, which is a type of the same library, is copied without
/// exceptions: if a copy failed for lack of memory, the variant would destroy a vector that was
/// never made.
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

  /// Returns the value of the attribute `name`, or `fallback` if the attribute is not set. So do
  /// real(), flag() and text().
  /// @throws Error internal if the attribute is set to a value of another type.
  std::int64_t integer(std::string_view name, std::int64_t fallback = 0) const;
  double real(std::string_view name, double fallback = 0) const;
  bool flag(std::string_view name, bool fallback = false) const {
    return integer(name, fallback) != 0;
  }
  std::string_view text(std::string_view name, std::string_view fallback = "") const;
  /// Returns the list called `name`, or an empty list if the attribute is not set.
  const std::vector<std::int64_t>& integers(std::string_view name) const;

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  bool operator==(const Attributes&) const = default;

 private:
  const AttributeValue* find(std::string_view name) const noexcept;

  std::vector<std::pair<std::string, AttributeValue>> entries_;
};

/// An AttributeKind says what an attribute may be set to. A flag is kept as an integer; a pair is
/// kept as a list of two integers, or as one integer that stands for both axes.
enum class AttributeKind : std::uint8_t { integer, real, flag, text, integers, pair };

/// A DeclaredAttribute declares an attribute of an op, whose nodes may set `name` to a value of the
/// kind `kind`.
struct DeclaredAttribute {
  std::string_view name;
  AttributeKind kind;
};

/// An IntegerAttribute declares an attribute that is an integer. An op reads the attribute by of(),
/// which returns `fallback` if a node does not set the attribute. append() checks the nodes by the
/// same declaration.
struct IntegerAttribute : DeclaredAttribute {
  constexpr explicit IntegerAttribute(std::string_view name, std::int64_t otherwise = 0)
      : DeclaredAttribute{name, AttributeKind::integer}, fallback(otherwise) {}
  std::int64_t of(const Attributes& attributes) const { return of(attributes, fallback); }
  std::int64_t of(const Attributes& attributes, std::int64_t otherwise) const {
    return attributes.integer(name, otherwise);
  }
  std::int64_t fallback;
};

/// A RealAttribute declares an attribute that is a real number.
struct RealAttribute : DeclaredAttribute {
  constexpr explicit RealAttribute(std::string_view name, double otherwise = 0)
      : DeclaredAttribute{name, AttributeKind::real}, fallback(otherwise) {}
  double of(const Attributes& attributes) const { return attributes.real(name, fallback); }
  double fallback;
};

/// A FlagAttribute declares an attribute that is on or off.
struct FlagAttribute : DeclaredAttribute {
  constexpr explicit FlagAttribute(std::string_view name, bool otherwise = false)
      : DeclaredAttribute{name, AttributeKind::flag}, fallback(otherwise) {}
  bool of(const Attributes& attributes) const { return attributes.flag(name, fallback); }
  bool fallback;
};

/// A TextAttribute declares an attribute that is a text.
struct TextAttribute : DeclaredAttribute {
  constexpr TextAttribute(std::string_view name, std::string_view otherwise)
      : DeclaredAttribute{name, AttributeKind::text}, fallback(otherwise) {}
  std::string_view of(const Attributes& attributes) const {
    return attributes.text(name, fallback);
  }
  std::string_view fallback;
};

/// A ListAttribute declares an attribute that is a list of integers. The list is empty if a node
/// does not set the attribute.
struct ListAttribute : DeclaredAttribute {
  constexpr explicit ListAttribute(std::string_view name)
      : DeclaredAttribute{name, AttributeKind::integers} {}
  const std::vector<std::int64_t>& of(const Attributes& attributes) const {
    return attributes.integers(name);
  }
};

/// Checks the attributes that a node sets, `attributes`, against those that its op declares,
/// `declared`.
/// @throws Error invalid_argument if an attribute is not declared or is of another kind, with a
/// text such as: expected one of the attributes stride, padding, got "strid".
void check_declared(std::span<const DeclaredAttribute> declared, const Attributes& attributes);

/// Returns those of `attributes` that `declared` names.
Attributes only_declared(std::span<const DeclaredAttribute> declared, const Attributes& attributes);

}  // namespace penstock::graph
