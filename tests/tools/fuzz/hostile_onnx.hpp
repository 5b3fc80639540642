// hostile_onnx() makes files in the ONNX format that want to do harm.
#pragma once

#include <string>
#include <vector>

namespace penstock::testing {

/// Returns files that Model::from_onnx() refuses: some would compute for ever, or call themselves,
/// some have names twice or not at all, some ask for more memory than there is, some for files that
/// are not theirs, and in some, what is computed at import has a number of axes that depends on the
/// number of samples.
std::vector<std::string> hostile_onnx();

}  // namespace penstock::testing
