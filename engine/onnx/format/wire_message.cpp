#include "engine/onnx/format/wire_message.hpp"

#include <utility>

namespace penstock {
namespace {

// These are the numbers of the types that fields have in the wire format.
constexpr unsigned type_varint = 0, type_length = 2, type_bytes4 = 5;

template <class Number>
std::string_view as_text(std::span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace

void WireMessage::integer(unsigned field, std::int64_t value) {
  varint(field << 3 | type_varint);
  varint(static_cast<std::uint64_t>(value));
}

void WireMessage::real(unsigned field, float value) {
  varint(field << 3 | type_bytes4);
  copy(as_text(std::span<const float>(&value, 1)));
}

void WireMessage::text(unsigned field, std::string_view value) {
  begin_content(field, value.size());
  copy(value);
}

void WireMessage::bytes(unsigned field, std::span<const std::byte> kept) {
  begin_content(field, kept.size());
  pieces_.emplace_back(kept);
  size_ += kept.size();
}

void WireMessage::message(unsigned field, WireMessage&& value) {
  begin_content(field, value.size_);
  for (Piece& piece : value.pieces_)
    if (const auto* copied = std::get_if<std::string>(&piece))
      copy(*copied);
    else {
      size_ += std::get<std::span<const std::byte>>(piece).size();
      pieces_.push_back(std::move(piece));
    }
}

void WireMessage::integers(unsigned field, std::span<const std::int64_t> values) {
  WireMessage list;
  for (const std::int64_t value : values) list.varint(static_cast<std::uint64_t>(value));
  message(field, std::move(list));
}

void WireMessage::reals(unsigned field, std::span<const float> values) {
  text(field, as_text(values));
}

void WireMessage::varint(std::uint64_t value) {
  std::string digits;
  for (; value >= 128; value >>= 7) digits += static_cast<char>(value | 128);
  digits += static_cast<char>(value);
  copy(digits);
}

void WireMessage::begin_content(unsigned field, std::uint64_t size) {
  varint(field << 3 | type_length);
  varint(size);
}

void WireMessage::copy(std::string_view content) {
  if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back()))
    pieces_.emplace_back(std::string());
  std::get<std::string>(pieces_.back()) += content;
  size_ += content.size();
}

}  // namespace penstock
