#include "engine/onnx/format/wire_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/onnx_bytes.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(WireReader, ReadsIntegersNumbersAndTexts) {
  const std::string message =
      wire_integer(1, 300) + wire_integer(2, -1) + wire_real(3, 1.5f) + wire_bytes(4, "abc");
  WireReader reader(bytes_of(message), "message");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.integer(), 300);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.integer(), -1);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.real(), 1.5f);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(), "abc");
  EXPECT_FALSE(reader.next());
}

TEST(WireReader, SkipsFieldsThatNobodyReads) {
  const std::string message =
      wire_integer(1, 1) + wire_real(2, 2) + wire_bytes(3, "x") + wire_integer(4, 7);
  WireReader reader(bytes_of(message), "message");
  std::int64_t found = 0;
  while (reader.next())
    if (reader.field() == 4) found = reader.integer();
  EXPECT_EQ(found, 7);
}

TEST(WireReader, ReadsListsPackedOrOneByOne) {
  const std::string message = wire_bytes(1, std::string("\x01\x96\x01", 3)) + wire_integer(1, 5);
  WireReader reader(bytes_of(message), "message");
  std::vector<std::int64_t> integers;
  while (reader.next()) reader.append_to(integers);
  EXPECT_EQ(integers, (std::vector<std::int64_t>{1, 150, 5}));
}

TEST(WireReader, RefusesMessagesThatEndTooEarly) {
  const std::string message = wire_integer(1, 300) + wire_bytes(2, "abcdef") + wire_real(3, 1);
  for (std::size_t size = 1; size < message.size(); ++size) {
    const std::string part = message.substr(0, size);
    const auto read_all = [&] {
      WireReader reader(bytes_of(part), "message");
      while (reader.next()) {
      }
    };
    // The message may end between two fields.
    if (size == 3 || size == 11) continue;
    EXPECT_NE(refusal(Errc::corrupt_file, read_all), "accepted") << size << " bytes";
  }
}

TEST(WireReader, RefusesOtherTypesThanTheFormatSays) {
  const std::string message = wire_integer(1, 3);
  WireReader reader(bytes_of(message), "message");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(refusal(Errc::corrupt_file, [&] { reader.text(); }),
            "message: a field does not have the type that the format says");
}

TEST(WireReader, RefusesFieldsAndTypesThatThereAreNot) {
  for (const std::string& message : {std::string(1, '\0'), std::string("\x0b", 1),
                                     std::string("\x0e", 1), std::string(11, '\xff')}) {
    WireReader reader(bytes_of(message), "message");
    EXPECT_NE(refusal(Errc::corrupt_file, [&] { reader.next(); }), "accepted");
  }
}

}  // namespace
}  // namespace penstock::testing
