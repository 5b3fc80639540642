// A CopyCount bounds the memory that copies of parts of an ONNX file take. Functions and branches
// are copied for each node that calls them, so that a small file could take any amount of it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/onnx/format/onnx_file.hpp"

namespace penstock {

/// One thread uses a CopyCount.
class CopyCount {
 public:
  /// Counts `bytes` bytes. @throws Error corrupt_file, as all functions, if that makes too many.
  void add(std::uint64_t bytes);
  /// Counts a name.
  void add(const std::string& name) { add(sizeof name + name.size()); }
  /// Counts an attribute, without its tensor and graph, which copies share.
  void add(const OnnxAttribute& attribute);
  /// Counts a node with its names and attributes.
  void add(const OnnxNode& node);
  /// Counts a tensor, without the elements that it has as raw bytes, which copies share.
  void add(const OnnxTensor& tensor);

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock
