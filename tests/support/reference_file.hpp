// A ReferenceFile is a reference result in memory: the tensors and attributes of one safetensors
// file. It reads the files under tests/data, which are known to be well formed; it is no reader for
// anybody else's files.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "penstock/tensor.hpp"

namespace penstock::testing {

struct ReferenceFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// @throws std::runtime_error if the file is missing or is not what these tests expect.
ReferenceFile read_reference(const std::filesystem::path& path);

}  // namespace penstock::testing
