// Where the tests' data files are: tests/data in the source tree, whatever the working directory.
#pragma once

#include <filesystem>
#include <string_view>

namespace penstock::testing {

/// The file or folder `relative` under tests/data, e.g. data_path("ops/relu.safetensors").
std::filesystem::path data_path(std::string_view relative);

}  // namespace penstock::testing
