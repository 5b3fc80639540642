// A RunFile is a file that a run reads or writes, and the option that brings it. Which of them may
// be the same file is decided here, before any is opened for writing.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace trainer {

struct RunFile {
  std::string option;  ///< Is a text such as "--metrics".
  std::filesystem::path path;
};

/// Checks what the outputs replace. Weights may take the place of those that the run began with;
/// nothing else may replace an input or another output, by whatever name, or stand where an output
/// needs a directory.
/// @throws penstock::Error invalid_argument naming both.
void check_distinct(std::span<const RunFile> outputs, std::span<const RunFile> inputs);

}  // namespace trainer
