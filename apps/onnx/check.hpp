// check() runs the models of ONNX's backend tests, and compares what they compute with what the
// tests expect.
#pragma once

#include <string>
#include <vector>

namespace onnx_tool {

enum class Outcome { passed, failed, unsupported };

/// A Verdict says what became of a folder.
struct Verdict {
  Outcome outcome = Outcome::passed;
  std::string text = {};  ///< This says what differs, or what is not supported.
};

/// Runs the model in `folder`, which has a file model.onnx and folders test_data_set_0 and so on
/// with the tensors input_0.pb, output_0.pb and so on. There has to be a tensor for each output of
/// the model, and no other, with the type and the shape of what the model computes. Numbers may
/// differ as difference() says.
Verdict check(const std::string& folder);

/// Checks all folders, prints a line for each, and then how many there were of each outcome.
/// Returns whether none has failed.
bool check_all(const std::vector<std::string>& folders);

}  // namespace onnx_tool
