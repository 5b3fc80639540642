#include "engine/files/weights_header.hpp"

#include <gtest/gtest.h>

#include <string>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

WeightsHeader many_tensors(int count, std::int64_t elements) {
  WeightsHeader header;
  std::uint64_t end = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t begin = end;
    end += static_cast<std::uint64_t>(elements) * 4;
    header.entries.push_back(
        {"t" + std::to_string(i), ElementType::f32, Shape{elements}, begin, end});
  }
  return header;
}

// If each tensor took as long as all tensors before it together, this test would take half an hour.
TEST(WeightsHeader, OfManyTensorsIsWrittenAndReadInNoTime) {
  constexpr int count = 250'000;
  for (const std::int64_t elements : {0, 2}) {
    const WeightsHeader header = many_tensors(count, elements);
    const auto bytes = static_cast<std::uint64_t>(count * elements * 4);
    const WeightsHeader read = parse_weights_header(to_json(header), bytes);
    ASSERT_EQ(read.entries.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(read.entries.back().end, bytes);
  }
}

TEST(WeightsHeader, KeepsNamesAndMetadata) {
  WeightsHeader header = many_tensors(2, 3);
  header.entries[0].name = "quote \" \xC3\xA9";
  header.metadata = {{"a", "line\n"}, {"b", ""}};
  const std::string text = to_json(header);
  const WeightsHeader read = parse_weights_header(text, 24);
  EXPECT_EQ(read.metadata, header.metadata);
  EXPECT_EQ(read.entries[0].name, header.entries[0].name);
  EXPECT_EQ(to_json(read), text);
  header.entries[0].name = "\xff";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { to_json(header); }), "\"?\" is not valid UTF-8");
}

TEST(WeightsHeader, EndsAtNoNulByte) {
  const std::string text = to_json(many_tensors(1, 1));
  EXPECT_NE(
      refusal(Errc::corrupt_file, [&] { parse_weights_header(text + std::string("\0, x", 4), 4); })
          .find("header: not valid JSON near byte " + std::to_string(text.size() + 1)),
      std::string::npos);
}

TEST(WeightsHeader, IsRefusedInAShortLineWhateverItHolds) {
  const std::string large(1'000'000, 'x');
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::string headers[] = {
      "{\"" + large + "\":1}",
      "{\"" + large + "\":" + entry + ",\"" + large + "\":" + entry + "}",
      "{\"w\":{\"dtype\":\"" + large + "\",\"shape\":[1],\"data_offsets\":[0,4]}}",
      "{\"w\":{\"" + large + "\":\"\"}}",
      "{\"__metadata__\":{\"" + large + "\":1}}",
      "{\"w\":{\"shape\":[" + std::string(1'000'000, '9') + "]}}",
      large,
  };
  for (const std::string& header : headers) try {
      parse_weights_header(header, 4);
      ADD_FAILURE() << "accepted " << header.substr(0, 50);
    } catch (const Error& error) {
      EXPECT_LT(std::string(error.what()).size(), 400U) << header.substr(0, 50);
    }
}

}  // namespace
}  // namespace penstock
