#include "apps/onnx/command_line.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace onnx_tool {
namespace {

using Texts = std::vector<std::string>;

/// The Words of a command are its operands, such as files, and the values of its options by name.
struct Words {
  Texts operands = {};
  std::map<std::string, std::string> options = {};
};

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

/// Returns the names of options as a text, such as "--inputs and --output-dir".
std::string enumerated(const Texts& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

/// Separates the arguments behind the command's name, where `options` are the names of its options,
/// each of which has a value.
Words words_of(const Texts& arguments, const Texts& options) {
  Words words;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("-")) {
      words.operands.push_back(word);
      continue;
    }
    if (std::ranges::find(options, word) == options.end())
      throw Misuse(arguments[0] + ": expected " +
                   (options.empty() ? "no option" : "no option but " + enumerated(options)) +
                   ", got " + quoted(word));
    if (words.options.contains(word))
      throw Misuse(arguments[0] + ": expected " + word + " once, got it twice");
    if (++i == arguments.size())
      throw Misuse(arguments[0] + ": expected a value behind " + word + ", got none");
    words.options[word] = arguments[i];
  }
  return words;
}

/// Checks that there are as many operands as `expected`, which `what` describes.
void expect_operands(const std::string& command, const Words& words, std::size_t expected,
                     const std::string& what) {
  const std::size_t count = words.operands.size();
  if (count == expected) return;
  std::string operands = count == 0 ? "none" : quoted(words.operands[0]);
  for (std::size_t i = 1; i < count; ++i) operands += " and " + quoted(words.operands[i]);
  throw Misuse(command + ": expected " + what + ", got " + operands);
}

std::string value_of(const std::string& command, const Words& words, const std::string& option,
                     const std::string& what) {
  const auto found = words.options.find(option);
  if (found == words.options.end())
    throw Misuse(command + ": expected " + option + ' ' + what + ", got no such option");
  return found->second;
}

/// Returns the parts of a list that commas separate.
Texts parts_of(const std::string& list) {
  Texts parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

SummaryCommand read_summary(const Texts& arguments) {
  const Words words = words_of(arguments, {});
  expect_operands("summary", words, 1, "one FILE");
  return {words.operands[0]};
}

RunCommand read_run(const Texts& arguments) {
  const Words words = words_of(arguments, {"--inputs", "--output-dir"});
  expect_operands("run", words, 1, "one FILE");
  return {words.operands[0], parts_of(value_of("run", words, "--inputs", "FILE,...")),
          value_of("run", words, "--output-dir", "DIR")};
}

CheckCommand read_check(const Texts& arguments) {
  Words words = words_of(arguments, {});
  if (words.operands.empty()) throw Misuse("check: expected one FOLDER or more, got none");
  return {std::move(words.operands)};
}

ConvertCommand read_convert(const Texts& arguments) {
  const Words words = words_of(arguments, {"--weights"});
  expect_operands("convert", words, 2, "FILE and RESULT");
  ConvertCommand command{words.operands[0], words.operands[1]};
  if (const auto weights = words.options.find("--weights"); weights != words.options.end())
    command.weights = weights->second;
  return command;
}

}  // namespace

Command read_command_line(const Texts& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "summary") return read_summary(arguments);
  if (command == "run") return read_run(arguments);
  if (command == "check") return read_check(arguments);
  if (command == "convert") return read_convert(arguments);
  throw Misuse("expected the command summary, run, check or convert, got " +
               (arguments.empty() ? "none" : quoted(command)));
}

}  // namespace onnx_tool
