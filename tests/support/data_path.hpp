// The tests' data files are in tests/data of the source tree, whatever the working directory is.
#pragma once

#include <filesystem>
#include <string_view>

namespace penstock::testing {

/// Returns the file or folder `relative` under tests/data, such as
/// data_path("ops/relu.safetensors").
std::filesystem::path data_path(std::string_view relative);

}  // namespace penstock::testing
