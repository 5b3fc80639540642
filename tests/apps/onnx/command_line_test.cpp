#include "apps/onnx/command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onnx_tool {
namespace {

using Arguments = std::vector<std::string>;

/// Returns why the arguments are refused, or "accepted".
std::string refusal(const Arguments& arguments) {
  try {
    read_command_line(arguments);
  } catch (const Misuse& misuse) {
    return misuse.what();
  }
  return "accepted";
}

TEST(OnnxCommandLine, TakesOptionsInAnyOrder) {
  for (const Arguments& arguments :
       {Arguments{"run", "f", "--inputs", "a,b", "--output-dir", "d"},
        Arguments{"run", "--output-dir", "d", "f", "--inputs", "a,b"}}) {
    const auto run = std::get<RunCommand>(read_command_line(arguments));
    EXPECT_EQ(run.file, "f");
    EXPECT_EQ(run.inputs, (Arguments{"a", "b"}));
    EXPECT_EQ(run.directory, "d");
  }
}

TEST(OnnxCommandLine, ReadsEveryCommand) {
  EXPECT_EQ(std::get<SummaryCommand>(read_command_line({"summary", "f"})).file, "f");
  EXPECT_EQ(std::get<CheckCommand>(read_command_line({"check", "a", "b"})).folders,
            (Arguments{"a", "b"}));
  const auto extraction = std::get<ConvertCommand>(read_command_line({"convert", "f", "r"}));
  EXPECT_EQ(extraction.result, "r");
  EXPECT_FALSE(extraction.weights);
  const auto change =
      std::get<ConvertCommand>(read_command_line({"convert", "f", "r", "--weights", "w"}));
  EXPECT_EQ(change.weights, "w");
}

TEST(OnnxCommandLine, SaysWhatIsWrong) {
  const std::string commands = "expected the command summary, run, check or convert, got ";
  EXPECT_EQ(refusal({}), commands + "none");
  EXPECT_EQ(refusal({"foo"}), commands + "\"foo\"");
  EXPECT_EQ(refusal({"run", "f", "--input", "a", "--output-dir", "d"}),
            "run: expected no option but --inputs and --output-dir, got \"--input\"");
  EXPECT_EQ(refusal({"run", "f", "--inputs", "a"}),
            "run: expected --output-dir DIR, got no such option");
  EXPECT_EQ(refusal({"run", "f", "--output-dir", "d"}),
            "run: expected --inputs FILE,..., got no such option");
  EXPECT_EQ(refusal({"run", "f", "--inputs"}), "run: expected a value behind --inputs, got none");
  EXPECT_EQ(refusal({"run", "f", "--inputs", "a", "--inputs", "b"}),
            "run: expected --inputs once, got it twice");
  EXPECT_EQ(refusal({"run", "--inputs", "a", "--output-dir", "d"}),
            "run: expected one FILE, got none");
  EXPECT_EQ(refusal({"summary", "f", "g"}), "summary: expected one FILE, got \"f\" and \"g\"");
  EXPECT_EQ(refusal({"summary", "--all"}), "summary: expected no option, got \"--all\"");
  EXPECT_EQ(refusal({"check"}), "check: expected one FOLDER or more, got none");
  EXPECT_EQ(refusal({"convert", "f"}), "convert: expected FILE and RESULT, got \"f\"");
}

}  // namespace
}  // namespace onnx_tool
