// A ReferenceFile is a reference result in memory: the tensors and metadata of one safetensors
// file. read_reference() reads the files under tests/data, which are known to be well formed. It is
// not meant for other files.
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

/// Reads the file `path`. @throws std::runtime_error if it is missing or cut off, or if a tensor
/// has elements of another type than F32 or I64.
ReferenceFile read_reference(const std::filesystem::path& path);

/// Returns the largest difference of an element, relative to the largest magnitude in `expected`.
/// The result is infinite if an element is nan. Both tensors are f32 and have as many elements.
double relative_difference(const Tensor& actual, const Tensor& expected);

}  // namespace penstock::testing
