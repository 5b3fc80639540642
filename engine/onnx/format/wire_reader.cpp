#include "engine/onnx/format/wire_reader.hpp"

#include <cstring>
#include <limits>
#include <string>

#include "penstock/error.hpp"

namespace penstock {

bool WireReader::next() {
  if (unread_) skip();
  if (unread_bytes_.empty()) return false;
  const std::uint64_t tag = varint(unread_bytes_);
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number > std::numeric_limits<std::uint32_t>::max() >> 3)
    refuse("a field has a number that no field has");
  field_ = static_cast<std::uint32_t>(number);
  switch (tag & 7) {
    case 0:
    case 1:
    case 2:
    case 5:
      type_ = static_cast<WireType>(tag & 7);
      break;
    default:
      refuse("a field has a type that no field has");
  }
  unread_ = true;
  return true;
}

std::int64_t WireReader::integer() {
  expect(WireType::varint);
  return static_cast<std::int64_t>(varint(unread_bytes_));
}

float WireReader::real() {
  expect(WireType::bytes4);
  float number = 0;
  std::memcpy(&number, take(sizeof number).data(), sizeof number);
  return number;
}

std::span<const std::byte> WireReader::bytes() {
  expect(WireType::length);
  return take(varint(unread_bytes_));
}

std::string_view WireReader::text() {
  const std::span<const std::byte> read = bytes();
  return {reinterpret_cast<const char*>(read.data()), read.size()};
}

void WireReader::append_to(std::vector<std::int64_t>& integers) {
  if (type_ == WireType::varint) return integers.push_back(integer());
  std::span<const std::byte> packed = bytes();
  while (!packed.empty()) integers.push_back(static_cast<std::int64_t>(varint(packed)));
}

void WireReader::append_to(std::vector<float>& numbers) {
  append_fixed(numbers, WireType::bytes4);
}

void WireReader::append_to(std::vector<double>& numbers) {
  append_fixed(numbers, WireType::bytes8);
}

template <class Number>
void WireReader::append_fixed(std::vector<Number>& numbers, WireType type) {
  std::span<const std::byte> packed;
  if (type_ == type) {
    expect(type);
    packed = take(sizeof(Number));
  } else {
    packed = bytes();
  }
  if (packed.size() % sizeof(Number) != 0) refuse("a list of numbers ends in the middle of one");
  const std::size_t count = numbers.size();
  numbers.resize(count + packed.size() / sizeof(Number));
  if (!packed.empty()) std::memcpy(numbers.data() + count, packed.data(), packed.size());
}

void WireReader::refuse(const char* reason) const {
  throw Error(Errc::corrupt_file, std::string(what_) + ": " + reason);
}

void WireReader::expect(WireType type) {
  if (type_ != type) refuse("a field does not have the type that the format says");
  unread_ = false;
}

std::uint64_t WireReader::varint(std::span<const std::byte>& from) const {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (from.empty()) refuse("it ends in the middle of an integer");
    const auto byte = static_cast<std::uint64_t>(from.front());
    from = from.subspan(1);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  refuse("an integer has more than 64 bits");
}

std::span<const std::byte> WireReader::take(std::uint64_t count) {
  if (count > unread_bytes_.size()) refuse("a field ends behind its end");
  const std::span<const std::byte> taken = unread_bytes_.first(static_cast<std::size_t>(count));
  unread_bytes_ = unread_bytes_.subspan(taken.size());
  return taken;
}

void WireReader::skip() {
  switch (type_) {
    case WireType::varint:
      integer();
      break;
    case WireType::bytes8:
      expect(WireType::bytes8);
      take(8);
      break;
    case WireType::length:
      bytes();
      break;
    case WireType::bytes4:
      real();
      break;
  }
}

}  // namespace penstock
