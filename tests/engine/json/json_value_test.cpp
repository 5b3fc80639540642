#include "penstock/json_value.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using Kind = JsonValue::Kind;

std::string value_refusal(std::string_view text) {
  try {
    parse_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "accepted";
}

TEST(JsonValue, KeepsKindsSpellingsOrderAndLines) {
  const JsonValue json = parse_json(
      "{\n"
      "  \"b\": 1e-3, \"a\": [1,\n"
      "    18446744073709551616\n"
      "  ],\n"
      "\n"
      "  \"c\":\n"
      "    \"text\\n\",\n"
      "  \"d\": {\"e\": true}, \"f\": null\n"
      "}\n");
  ASSERT_EQ(json.kind, Kind::object);
  ASSERT_EQ(json.items.size(), 5U);
  struct Expected {
    const char* name;
    Kind kind;
    const char* text;
    int line;
  };
  const Expected expected[] = {{"b", Kind::number, "1e-3", 2},
                               {"a", Kind::list, "", 2},
                               {"c", Kind::text, "text\n", 7},
                               {"d", Kind::object, "", 8},
                               {"f", Kind::null, "", 8}};
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    EXPECT_EQ(json.items[i].name, expected[i].name);
    EXPECT_EQ(json.items[i].kind, expected[i].kind);
    EXPECT_EQ(json.items[i].text, expected[i].text);
    EXPECT_EQ(json.items[i].line, expected[i].line) << expected[i].name;
  }
  ASSERT_EQ(json.items[1].items.size(), 2U);
  EXPECT_EQ(json.items[1].items[0].line, 2);
  EXPECT_EQ(json.items[1].items[1].line, 3);
  EXPECT_EQ(json.items[1].items[1].text, "18446744073709551616");
  EXPECT_TRUE(json.items[3].items[0].truth);
}

TEST(JsonValue, IsWrittenAsItIsRead) {
  const std::string text =
      "{\n"
      "  \"numbers\": [-1, 0.5, 1e-30],\n"
      "  \"group\": {\n"
      "    \"a \\\"text\\\"\": \"\\u0001\\\\\",\n"
      "    \"list\": [{\"x\": true}, {}, [], null]\n"
      "  },\n"
      "  \"nothing\": {}\n"
      "}";
  EXPECT_EQ(to_json(parse_json(text)), text);
}

TEST(JsonValue, RefusesWhatIsNoJsonByItsLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "line 1: not valid JSON"},
      {"\n\n", "line 2: not valid JSON"},
      {"{\n\"a\": 1,\n}", "line 3: not valid JSON"},
      {"{\n\"a\": 01\n}", "line 2: not valid JSON"},
      {"{\n\"a\": nan}", "line 2: not valid JSON"},
      {"{\"a\": 1}\n\n{}", "line 3: not valid JSON"},
      {"{\"a\": \"\xff\"}", "line 1: not valid JSON"},
      {"{\n\"a\": 1e999}", "line 2: a: expected a number that a double can hold, got 1e999"},
      {"{\n\"a\": 1e9223372036854775807}",
       "line 2: a: expected a number that a double can hold, got 1e9223372036854775807"},
      {"{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}", "line 4: \"a\" is there twice, first in line 2"},
      {"[\n" + std::string(32, '['), "line 2: nested more than 32 deep"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(value_refusal(text).substr(0, expected.size()), expected) << value_refusal(text);
  EXPECT_NO_THROW(parse_json(std::string(32, '[') + std::string(32, ']')));
}

TEST(JsonValue, TheSameNameInTwoObjectsIsNoRepetition) {
  EXPECT_NO_THROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})"));
}

TEST(JsonValue, CutAnywhereIsRefusedAndDoesNoHarm) {
  const std::string text = R"({"a": [1, {"b": "text"}], "c": true})";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(value_refusal(text.substr(0, size)), "accepted") << size;
  EXPECT_EQ(value_refusal(text), "accepted");
}

TEST(JsonValue, IsNotWrittenIfATextIsNotUtf8) {
  EXPECT_THROW(to_json(JsonValue{.kind = Kind::text, .text = "\xff"}), Error);
}

}  // namespace
}  // namespace penstock
