// A WireReader reads one message in the wire format of Protocol Buffers, field by field. It copies
// nothing and never reads outside of the bytes that it is given, which may be damaged or hostile.
// One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock {

class WireReader {
 public:
  /// Begins to read `message`, which errors call `what`, a literal such as "node". The reader does
  /// not own the bytes.
  WireReader(std::span<const std::byte> message, std::string_view what)
      : unread_bytes_(message), what_(what) {}

  /// Goes to the next field, and skips the value of the last one if nothing has read it. Returns
  /// false at the end of the message. @throws Error corrupt_file, as all functions, if the message
  /// breaks the format.
  bool next();
  /// Returns the number of the field.
  std::uint32_t field() const noexcept { return field_; }

  /// Returns whether the field is an integer.
  bool is_integer() const noexcept { return type_ == WireType::varint; }

  /// Returns the field's integer.
  std::int64_t integer();
  /// Returns the field's number of 4 bytes.
  float real();
  /// Returns the field's bytes, such as another message. They live as long as the message.
  std::span<const std::byte> bytes();
  /// Returns the field's bytes as a text.
  std::string_view text();
  /// Appends the field's integers, of which it has one, or any number if they are packed.
  void append_to(std::vector<std::int64_t>& integers);
  /// Appends the field's numbers, of which it has one, or any number if they are packed.
  void append_to(std::vector<float>& numbers);
  /// Appends the field's numbers of 8 bytes, as append_to() does those of 4 bytes.
  void append_to(std::vector<double>& numbers);

 private:
  enum class WireType : std::uint8_t { varint = 0, bytes8 = 1, length = 2, bytes4 = 5 };

  [[noreturn]] void refuse(const char* reason) const;
  void expect(WireType type);
  std::uint64_t varint(std::span<const std::byte>& from) const;
  std::span<const std::byte> take(std::uint64_t count);
  void skip();
  template <class Number>
  void append_fixed(std::vector<Number>& numbers, WireType type);

  std::span<const std::byte> unread_bytes_;
  std::string_view what_;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  bool unread_ = false;  // `unread_` says that the value of the field begins where `rest_` does.
};

}  // namespace penstock
