// A WireMessage is one message in the wire format of Protocol Buffers while it is put together. It
// copies texts and numbers, but only refers to large bytes such as the elements of tensors, which
// have to outlive it. It is plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace penstock {

class WireMessage {
 public:
  /// Appends field number `field`, which is an integer.
  void integer(unsigned field, std::int64_t value);
  /// Appends a number of 4 bytes.
  void real(unsigned field, float value);
  /// Appends a copy of a text.
  void text(unsigned field, std::string_view value);
  /// Appends bytes that the caller keeps.
  void bytes(unsigned field, std::span<const std::byte> kept);
  /// Appends another message.
  void message(unsigned field, WireMessage&& value);
  /// Appends a packed list of integers.
  void integers(unsigned field, std::span<const std::int64_t> values);
  /// Appends a packed list of numbers of 4 bytes.
  void reals(unsigned field, std::span<const float> values);

  /// Returns the number of bytes.
  std::uint64_t size() const noexcept { return size_; }
  /// Calls `visit` with each piece of the message's bytes, in their order.
  void for_each_piece(const auto& visit) const {
    for (const Piece& piece : pieces_)
      if (const auto* copied = std::get_if<std::string>(&piece))
        visit(std::as_bytes(std::span(*copied)));
      else
        visit(std::get<std::span<const std::byte>>(piece));
  }

 private:
  using Piece = std::variant<std::string, std::span<const std::byte>>;

  void varint(std::uint64_t value);
  /// Appends the beginning of a field whose content has `size` bytes.
  void begin_content(unsigned field, std::uint64_t size);
  void copy(std::string_view content);

  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace penstock
