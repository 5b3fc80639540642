// An archive writes plain data as bytes, or reads plain data from such bytes. The fields of each
// type are listed once, in a function `fields`, which serves both directions. Numbers have the same
// bytes in an archive as in this machine's memory, so that only a machine of the same kind can read
// them.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

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
  void item(const Number auto& number) { raw(&number, sizeof number); }
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
  void item(const Shape& shape) { item(std::vector<std::int64_t>(shape.begin(), shape.end())); }
  void item(const Integers& list) { item(static_cast<const std::vector<std::int64_t>&>(list)); }
  void item(const AttributeValue& value) {
    item(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& held) { item(held); }, value);
  }
  void item(const Attributes& attributes) {
    item(std::vector<std::pair<std::string, AttributeValue>>(attributes.begin(), attributes.end()));
  }
  void item(const Op* op) { item(std::string(op ? op->name : "")); }
  void item(const Schedule* schedule) { item(std::string(schedule ? schedule->name : "")); }
  void item(const auto& structure) { fields(*this, structure); }

  std::string bytes_;
};

/// A Reader reads what a Writer has written. Even if the bytes are corrupt, a Reader reads nothing
/// behind the end of the bytes, and makes no list with more items than there are bytes left.
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
  void item(Shape& shape) {
    std::vector<std::int64_t> dims;
    item(dims);
    shape = Shape(dims);
  }
  void item(Integers& list) { item(static_cast<std::vector<std::int64_t>&>(list)); }
  void item(AttributeValue& value) {
    std::uint8_t kind = 0;
    item(kind);
    if (!alternative(value, kind, std::make_index_sequence<std::variant_size_v<AttributeValue>>{}))
      fail("a kind of attribute");
  }
  template <std::size_t... Kinds>
  bool alternative(AttributeValue& value, std::size_t kind, std::index_sequence<Kinds...>) {
    return ((kind == Kinds && (item(value.emplace<Kinds>()), true)) || ...);
  }
  void item(Attributes& attributes) {
    std::vector<std::pair<std::string, AttributeValue>> entries;
    item(entries);
    attributes = {};
    for (auto& [name, value] : entries) attributes.set(std::move(name), std::move(value));
  }
  void item(const Op*& op) {
    std::string name;
    item(name);
    op = name.empty() ? nullptr : &known<Op>(name, "op", find_op);
  }
  void item(const Schedule*& schedule) {
    std::string name;
    item(name);
    schedule = name.empty() ? nullptr : &known<Schedule>(name, "schedule", find_schedule);
  }
  template <class Known>
  static const Known& known(const std::string& name, const char* what, const auto& find) {
    try {
      return find(name);
    } catch (const Error&) {
      fail("a known " + std::string(what) + ", got " + quoted_name(name));
    }
  }
  void item(auto& structure) { fields(*this, structure); }

  std::string_view bytes_;
};

}  // namespace penstock::graph
