// hostile_onnx() makes files in the ONNX format that want to do harm.
#pragma once

#include <string>
#include <vector>

namespace penstock::testing {

/// Returns files that Model::from_onnx() refuses: some would compute for ever, or call themselves,
/// some have names twice or not at all, some ask for more memory than there is, and some for files
/// that are not theirs.
std::vector<std::string> hostile_onnx();

}  // namespace penstock::testing
