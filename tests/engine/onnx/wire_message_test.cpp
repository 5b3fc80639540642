#include "engine/onnx/format/wire_message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/onnx/format/write_onnx_file.hpp"
#include "tests/support/onnx_bytes.hpp"

namespace penstock::testing {
namespace {

TEST(WireMessage, HasTheBytesOfTheFormat) {
  WireMessage message;
  message.integer(1, 300);
  message.integer(2, -1);
  message.real(3, 0.5f);
  message.text(4, "text");
  EXPECT_EQ(bytes_of(message), wire_integer(1, 300) + wire_integer(2, -1) + wire_real(3, 0.5f) +
                                   wire_bytes(4, "text"));
  EXPECT_EQ(message.size(), bytes_of(message).size());
}

TEST(WireMessage, PacksLists) {
  WireMessage message;
  const std::int64_t integers[] = {1, 128};
  const float reals[] = {1, 2};
  message.integers(1, integers);
  message.reals(2, reals);
  EXPECT_EQ(bytes_of(message),
            std::string("\x0a\x03\x01\x80\x01\x12\x08\0\0\x80\x3f\0\0\0\x40", 15));
}

TEST(WireMessage, RefersToLargeBytesInMessagesOfMessages) {
  std::string elements(1000, 'x');
  WireMessage inner;
  inner.text(1, "before");
  inner.bytes(2, std::as_bytes(std::span(elements)));
  inner.text(3, "behind");
  WireMessage outer;
  outer.message(4, std::move(inner));
  elements[0] = 'y';
  EXPECT_EQ(bytes_of(outer), wire_bytes(4, wire_bytes(1, "before") + wire_bytes(2, elements) +
                                               wire_bytes(3, "behind")));
  EXPECT_EQ(outer.size(), bytes_of(outer).size());
}

}  // namespace
}  // namespace penstock::testing
