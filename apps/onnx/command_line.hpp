// read_command_line() says what the arguments of penstock-onnx ask for.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace onnx_tool {

struct SummaryCommand {
  std::string file;
};

struct RunCommand {
  std::string file;
  std::vector<std::string> inputs;
  std::string directory;
};

struct CheckCommand {
  std::vector<std::string> folders;
};

struct ConvertCommand {
  std::string file;
  std::string result;
  std::optional<std::string> weights = {};  ///< This file's weights replace those of `file`.
};

using Command = std::variant<SummaryCommand, RunCommand, CheckCommand, ConvertCommand>;

/// A Misuse is thrown for arguments that say nothing that the program could do.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the command that `arguments` give, which are those of the process without its name.
/// @throws Misuse, whose text says what was expected and what came.
Command read_command_line(const std::vector<std::string>& arguments);

}  // namespace onnx_tool
