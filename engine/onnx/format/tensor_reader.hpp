// A TensorReader reads the elements of tensors of one ONNX file, once for all tensors that have the
// same ones. One thread uses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/onnx/format/external_data.hpp"
#include "engine/onnx/format/onnx_file.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class TensorReader {
 public:
  /// Reads elements that are in other files from `directory`.
  explicit TensorReader(std::filesystem::path directory)
      : directory_(std::move(directory)), external_(directory_) {}

  /// Returns the elements of a tensor, which lives as long as the reader. Tensors of one type and
  /// shape that have their elements at the same place of a file share them. @throws Error as
  /// values_of(), and corrupt_file if another file has fewer bytes than the tensors that have
  /// elements there.
  Tensor read(const OnnxTensor& tensor);

 private:
  /// A Source is where the elements of a tensor are, in another file or in this one, and what is
  /// made of them.
  using Source = std::tuple<ExternalPlace, const void*, OnnxType, std::vector<std::int64_t>>;

  Source source_of(const OnnxTensor& tensor) const;

  std::filesystem::path directory_;
  ExternalCount external_;
  std::map<Source, Tensor> read_;
};

}  // namespace penstock
