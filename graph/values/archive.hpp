// An archive writes plain data as bytes, or reads plain data from such bytes. The fields of a type
// are listed once, in a function `fields`, which serves both directions. An aggregate without such
// a function has its members as fields. Numbers have the same bytes in an archive as in this
// machine's memory, so that only a machine of the same kind can read them.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/values/members.hpp"
#include "graph/values/memory.hpp"
#include "penstock/error.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"

namespace penstock::graph {

template <class T>
concept Enumeration = std::is_enum_v<T>;
template <class T>
concept Number = std::is_arithmetic_v<T>;

/// Each enumeration that a Reader reads has a specialization of `last_of`, which is its last
/// enumerator. The first one is 0, and no number between the two is missing.
template <Enumeration E>
inline constexpr E last_of = [] {
  static_assert(sizeof(E) == 0, "the last enumerator of this enumeration is not known");
  return E();
}();
template <>
inline constexpr DType last_of<DType> = DType::boolean;

/// The concept accepts `Structure` and `const Structure`. Only a Writer takes a constant structure.
template <class T, class Structure>
concept Either = std::same_as<std::remove_const_t<T>, Structure>;

/// Calls `archive` with the fields of `structure`.
void each_field(auto& archive, auto& structure) {
  if constexpr (requires { fields(archive, structure); })
    fields(archive, structure);
  else
    std::apply(archive, members::all(structure));
}

class Writer {
 public:
  template <class... Items>
  void operator()(const Items&... items) {
    (item(items), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  template <class T>
    requires(Number<T> || Enumeration<T>)
  void item(const T& scalar) {
    raw(&scalar, sizeof scalar);
  }
  void item(const std::string& text) {
    item(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void item(const std::vector<T>& list) {
    item(list.size());
    for (const T& each : list) item(each);
  }
  template <class T>
  void item(const std::optional<T>& maybe) {
    item(maybe.has_value());
    if (maybe) item(*maybe);
  }
  template <class First, class Second>
  void item(const std::pair<First, Second>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Kinds>
  void item(const std::variant<Kinds...>& one) {
    item(static_cast<std::uint8_t>(one.index()));
    std::visit([&](const auto& held) { item(held); }, one);
  }
  void item(const Shape& shape) { item(std::vector<std::int64_t>(shape.begin(), shape.end())); }
  void item(const Tensor& tensor) {
    item(static_cast<bool>(tensor));
    if (!tensor) return;
    (*this)(tensor.dtype(), tensor.shape());
    raw(tensor.raw(), tensor.bytes());
  }
  void item(const auto& structure) { each_field(*this, structure); }

  std::string bytes_;
};

/// A Reader reads what a Writer has written. Even if the bytes are corrupt, a Reader reads nothing
/// behind the end of the bytes, makes no list with more items than there are bytes left, and no
/// tensor with more bytes than there are left.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  /// Reads `items` one after the other. @throws Error corrupt_file if it is seen that no Writer has
  /// written the bytes.
  template <class... Items>
  void operator()(Items&... items) {
    (item(items), ...);
  }
  bool at_end() const noexcept { return bytes_.empty(); }
  [[noreturn]] static void fail(const std::string& what) {
    throw Error(Errc::corrupt_file, "expected " + what);
  }

 private:
  std::string_view raw(std::size_t size) {
    if (size > bytes_.size()) fail(std::to_string(size) + " more bytes");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  void item(Number auto& number) { std::memcpy(&number, raw(sizeof number).data(), sizeof number); }
  void item(bool& truth) {
    std::uint8_t byte = 0;
    item(byte);
    if (byte > 1) fail("a truth value");
    truth = byte == 1;
  }
  template <Enumeration E>
  void item(E& enumerator) {
    std::underlying_type_t<E> number{};
    item(number);
    if (number < std::underlying_type_t<E>{} ||
        number > static_cast<std::underlying_type_t<E>>(last_of<E>))
      fail("an enumerator");
    enumerator = static_cast<E>(number);
  }
  std::size_t length() {
    std::size_t count = 0;
    item(count);
    if (count > bytes_.size())
      fail("a list of at most " + std::to_string(bytes_.size()) + " items");
    return count;
  }
  void item(std::string& text) { text = std::string(raw(length())); }
  template <class T>
  void item(std::vector<T>& list) {
    list.clear();
    for (std::size_t left = length(); left > 0; --left) item(list.emplace_back());
  }
  template <class T>
  void item(std::optional<T>& maybe) {
    bool there = false;
    item(there);
    maybe.reset();
    if (there) item(maybe.emplace());
  }
  template <class First, class Second>
  void item(std::pair<First, Second>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Kinds>
  void item(std::variant<Kinds...>& one) {
    std::uint8_t kind = 0;
    item(kind);
    if (!alternative(one, kind, std::index_sequence_for<Kinds...>{}))
      fail("one of " + std::to_string(sizeof...(Kinds)) + " kinds");
  }
  template <class Variant, std::size_t... Kinds>
  bool alternative(Variant& one, std::size_t kind, std::index_sequence<Kinds...>) {
    return ((kind == Kinds && (item(one.template emplace<Kinds>()), true)) || ...);
  }
  void item(Shape& shape) {
    std::vector<std::int64_t> dims;
    item(dims);
    shape = Shape(dims);
  }
  void item(Tensor& tensor) {
    bool there = false;
    item(there);
    tensor = {};
    if (!there) return;
    DType dtype = DType::f32;
    Shape shape;
    (*this)(dtype, shape);
    const std::string_view elements =
        raw(static_cast<std::size_t>(shape.elements()) * size_of(dtype));
    std::shared_ptr<std::byte> block = allocate_block(elements.size());
    std::memcpy(block.get(), elements.data(), elements.size());
    if (dtype == DType::boolean &&
        elements.find_first_not_of(std::string_view("\0\1", 2)) != elements.npos)
      fail("a tensor of truth values");
    tensor = Tensor::wrap(dtype, shape, std::move(block));
  }
  void item(auto& structure) { each_field(*this, structure); }

  std::string_view bytes_;
};

}  // namespace penstock::graph
