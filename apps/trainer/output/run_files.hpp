// A RunFile is a file that a run reads or writes, or a directory all of which it reads, with the
// option that names the file. check_distinct() decides which files may be the same one, before any
// file is opened for writing.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace trainer {

struct RunFile {
  std::string option;  ///< `option` is a text such as "--metrics".
  std::filesystem::path path;
};

/// Checks that no output replaces an input or another output, even under another name of the file,
/// that none lies in a directory that is an input, and that none stands where another one needs a
/// directory. Only the weights and the
/// optimizer's state with which the run begins may be replaced, by those that the run saves.
/// @throws penstock::Error invalid_argument that names both files.
void check_distinct(std::span<const RunFile> outputs, std::span<const RunFile> inputs);

}  // namespace trainer
