// These tests check the refusals of JSON texts, which may have any names and texts in them. A
// refusal is one line that a terminal can show, and is no longer than a message may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "penstock/data_loader_json.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// This is a name with the end of a line and an escape character, as JSON spells it.
const std::string name = R"(a\nb\u001b[1mc\u007f)";

bool is_printable(const std::string& text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::string in_quotes(const std::string& text) {
  return '"' + text + '"';
}

using Reading = std::function<void(const std::string& json)>;

void expect_printable_refusals(const Reading& read, const std::vector<std::string>& texts) {
  for (const std::string& json : texts) {
    const std::string text = refusal(Errc::invalid_argument, [&] { read(json); });
    EXPECT_NE(text, "accepted") << json.substr(0, 200);
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_LE(text.size(), 4200U) << json.substr(0, 200);
  }
}

TEST(PrintableRefusals, OfJson) {
  expect_printable_refusals([](const std::string& json) { parse_json(json); },
                            {"{" + in_quotes(name) + ": {" + in_quotes(name) + ": 1e999}}",
                             "{" + in_quotes(name) + ": [1, 1e999]}",
                             "{" + in_quotes(name) + ": 1, " + in_quotes(name) + ": 2}",
                             "{" + in_quotes(std::string(100'000, 'x')) + ": 1e999}"});
}

TEST(PrintableRefusals, OfOptions) {
  const std::string anchor = "{\"name\": " + in_quotes(name) + ", \"tensor\": \"fc\"}";
  const std::string endless =
      "{\"name\": " + in_quotes(std::string(100'000, 'x')) + ", \"tensor\": \"fc\"}";
  const std::string stage = "{\"stages\": [{\"blocks\": [" + in_quotes(name) + "]}]}";
  expect_printable_refusals(
      [](const std::string& json) { options_from_json(json); },
      {"{" + in_quotes(name) + ": 1}", "{\"output\": {\"mode\": " + in_quotes(name) + "}}",
       "{\"output\": {\"anchors\": [" + anchor + ", " + anchor + "]}}",
       "{\"output\": {\"anchors\": [" + endless + ", " + endless + "]}}",
       "{\"topology\": {\"strategy\": \"serial_phased\", \"phased\": {\"phases\": [" + stage +
           ", " + stage + "]}}}"});
}

TEST(PrintableRefusals, OfOptimizers) {
  const std::string groups = "{\"parameters\": [" + in_quotes(name) + ", " + in_quotes(name) +
                             "], \"settings\": {\"rule\": \"sgd\"}}";
  expect_printable_refusals(
      [](const std::string& json) { optimizer_from_json(json); },
      {"{\"marked\": {" + in_quotes(name) + ": 3}}",
       "{\"marked\": {" + in_quotes(name) + ": true}}",
       "{\"marked\": {" + in_quotes(std::string(100'000, 'x')) + ": true}}",
       "{\"settings\": {\"rule\": " + in_quotes(name) + "}}", "{\"groups\": [" + groups + "]}"});
}

TEST(PrintableRefusals, NameTheLineOfAnUnprintableName) {
  const std::string json = "{\"marked\": {\n\"eps\": true,\n" + in_quotes(name) + ": true}}";
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { optimizer_from_json(json, AdamW{}); }).substr(0, 43),
      "line 3: optimizer.marked.a?b?[1mc?: adamw h");
}

TEST(PrintableRefusals, NameTheLineOfTheRefusedOneOfTwoNamesThatPrintTheSame) {
  const std::string tab = R"("a\tb": true)", end_of_line = R"("a\nb": true)";
  const auto refused = [](const std::string& first, const std::string& second) {
    const std::string json = "{\"marked\": {\n" + first + ",\n" + second + "}}";
    return refusal(Errc::invalid_argument, [&] { optimizer_from_json(json, AdamW{}); });
  };
  // Names are checked in the order of their bytes, in which a tab comes before the end of a line.
  EXPECT_TRUE(refused(tab, end_of_line).starts_with("line 2: optimizer.marked.a?b: "));
  EXPECT_TRUE(refused(end_of_line, tab).starts_with("line 3: optimizer.marked.a?b: "));
}

TEST(PrintableRefusals, OfStagesAndPhases) {
  const std::string text = "a\nb,|c" + std::string(100'000, 'x');
  for (const auto& parse :
       std::vector<std::function<void()>>{[&] { parse_stages(text); }, [&] { parse_phases(text); },
                                          [&] { parse_phases("a\nb;;" + text); }}) {
    const std::string refused = refusal(Errc::invalid_argument, parse);
    EXPECT_TRUE(is_printable(refused)) << refused.substr(0, 200);
    EXPECT_LE(refused.size(), 400U);
  }
}

TEST(PrintableRefusals, OfAnAnchorNameAmongManySayWhereItIs) {
  Options options;
  for (int i = 0; i < 1000; ++i)
    options.output.anchors.push_back({.name = "anchor " + std::to_string(i), .tensor = "fc"});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { options.validate(); }), "accepted");
  options.output.anchors.push_back(options.output.anchors.front());
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { options.validate(); }),
            "options.output.anchors[1000].name: expected a name of its own, got \"anchor 0\"");
}

}  // namespace
}  // namespace penstock
