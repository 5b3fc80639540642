#include "engine/json/json_reader.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/json/json_string.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;

/// A Builder builds a tree of another JSON library from the events of a reader.
class Builder : public JsonEvents {
 public:
  Json root;

  void begin_object(std::size_t) override { open(Json::object()); }
  void end_object() override { open_.pop_back(); }
  void begin_list(std::size_t) override { open(Json::array()); }
  void end_list() override { open_.pop_back(); }
  void key(std::string&& name, std::size_t) override { key_ = std::move(name); }
  void text(std::string&& value, std::size_t) override { add(std::move(value)); }
  void number(std::string_view spelling, std::size_t at) override {
    Json value = Json::parse(spelling, nullptr, false);
    if (value.is_discarded()) throw failure(at, "a number that no double holds");
    add(std::move(value));
  }
  void boolean(bool truth, std::size_t) override { add(truth); }
  void null(std::size_t) override { add(nullptr); }
  Error failure(std::size_t at, const char* reason) override {
    return {Errc::corrupt_file, std::to_string(at) + ": " + reason};
  }

 private:
  Json& add(Json value) {
    if (open_.empty()) return root = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    return (*open_.back())[key_] = std::move(value);
  }
  void open(Json value) { open_.push_back(&add(std::move(value))); }

  std::vector<Json*> open_;
  std::string key_;
};

std::string reading_refusal(std::string_view text) {
  Builder builder;
  try {
    read_json_text(text, builder);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// Expects that another library's reader and this one read the same value from `text`, or that both
/// refuse it.
void expect_agreement(const std::string& text) {
  const Json expected = Json::parse(text, nullptr, false);
  Builder builder;
  bool accepted = true;
  try {
    read_json_text(text, builder);
  } catch (const Error&) {
    accepted = false;
  }
  ASSERT_EQ(accepted, !expected.is_discarded()) << text;
  if (!accepted) return;
  EXPECT_EQ(builder.root, expected) << text;
}

const std::string sample =
    "\xEF\xBB\xBF { \"a\" : [1, -0.5e+3, 1E-2, 0, {}, []], \"\\u00e9\\ud83d\\ude00\\\"\\/\" :\r\n"
    "\t{\"b\": true, \"c\": false, \"d\": null, \"e\": \"\\b\\f\\n\\r\\t\\\\ \xC3\xA9\xE2\x82\xAC"
    "\xF0\x9F\x98\x80\"}} ";

TEST(JsonReader, ReadsWhatAnotherReaderReads) {
  expect_agreement(sample);
  EXPECT_EQ(reading_refusal(sample), "accepted");
}

/// Returns `text` with up to three changes, most of them by characters that mean something in JSON.
std::string mutated_json(std::string text, std::mt19937& random) {
  constexpr std::string_view meaningful = "{}[]\":,\\u0123456789abcdefEe+-.tn \xC3\xA9\xED\xA0\xF4";
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = random() % text.size();
    const char c = random() % 8 == 0 ? static_cast<char>(1 + random() % 255)
                                     : meaningful[random() % meaningful.size()];
    if (random() % 3 == 0)
      text.insert(at, 1, c);
    else if (random() % 3 == 0)
      text.erase(at, 1);
    else
      text[at] = c;
  }
  return text;
}

TEST(JsonReader, AcceptsAndRefusesWhatAnotherReaderDoes) {
  std::mt19937 random(1);
  const std::string number = "-120.50e+12", escapes = R"("\ud83d\ude00\u00e9\n")";
  for (int round = 0; round < 20'000; ++round)
    for (const std::string& text : {sample, number, escapes})
      ASSERT_NO_FATAL_FAILURE(expect_agreement(mutated_json(text, random))) << "round " << round;
}

TEST(JsonReader, EndsAtNoNulByte) {
  using namespace std::string_literals;
  EXPECT_EQ(reading_refusal("{\"a\": 1}\0, \"b\": 2}"s), "8: expected nothing behind the value");
  EXPECT_EQ(reading_refusal("[1,\0 2]"s), "3: expected a value");
  EXPECT_EQ(reading_refusal("[1\0]"s), "2: expected ',' or ']'");
  EXPECT_EQ(reading_refusal("\"a\0b\""s), "2: expected no control character in a text");
  EXPECT_EQ(reading_refusal("\0"s), "0: expected a value");
  EXPECT_EQ(reading_refusal("{\0}"s), "1: expected a key in quotes");
}

TEST(JsonReader, SaysWhereWhatDoesNotFit) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "0: expected a value"},
      {"[1 2]", "3: expected ',' or ']'"},
      {"{\"a\":1 \"b\":2}", "7: expected ',' or '}'"},
      {"{\"a\" 1}", "5: expected ':' behind a key"},
      {"[1,]", "3: expected a value"},
      {"{\"a\":1,}", "7: expected a key in quotes"},
      {"-", "1: expected a digit"},
      {"1.e5", "2: expected a digit"},
      {"01", "1: expected nothing behind the value"},
      {"\"\\x\"", "2: expected a known letter behind a backslash"},
      {"\"\\u12g4\"", "3: expected four hexadecimal digits behind \\u"},
      {"\"\\ude00\"", "3: expected both halves of a character behind \\u"},
      {"\"abc", "4: expected the end of a text in quotes"},
      {"\"\xC0\xAF\"", "1: expected UTF-8"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(reading_refusal(text), expected) << text;
}

/// A Counter counts the objects and lists that open and keeps nothing else, so that only the
/// reader's own state grows.
class Counter : public JsonEvents {
 public:
  std::size_t opened = 0;
  void begin_object(std::size_t) override { ++opened; }
  void end_object() override {}
  void begin_list(std::size_t) override { ++opened; }
  void end_list() override {}
  void key(std::string&&, std::size_t) override {}
  void text(std::string&&, std::size_t) override {}
  void number(std::string_view, std::size_t) override {}
  void boolean(bool, std::size_t) override {}
  void null(std::size_t) override {}
  Error failure(std::size_t, const char* reason) override { return {Errc::corrupt_file, reason}; }
};

TEST(JsonReader, NeedsNoStackForWhatIsNestedDeeply) {
  constexpr std::size_t depth = 5'000'000;
  Counter counter;
  read_json_text(std::string(depth, '[') + std::string(depth, ']'), counter);
  EXPECT_EQ(counter.opened, depth);
}

TEST(JsonString, IsReadBackAsItWas) {
  std::string every_byte;
  for (int byte = 0; byte < 128; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& text :
       {every_byte, std::string("\xC3\xA9\xF0\x9F\x98\x80"), std::string()}) {
    EXPECT_EQ(json_string(text), Json(text).dump());
    std::string read;
    EXPECT_EQ(read_json_string(json_string(text), 0, read).reason, nullptr);
    EXPECT_EQ(read, text);
  }
  for (const char* text : {"\xff", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80"})
    EXPECT_THROW(json_string(text), Error);
}

}  // namespace
}  // namespace penstock
