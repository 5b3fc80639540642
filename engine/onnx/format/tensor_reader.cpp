#include "engine/onnx/format/tensor_reader.hpp"

#include "engine/onnx/format/tensor_values.hpp"

namespace penstock {

Tensor TensorReader::read(const OnnxTensor& tensor) {
  const Source source = source_of(tensor);
  if (const auto found = read_.find(source); found != read_.end()) return found->second;
  if (!tensor.external.empty()) external_.add(tensor.external, bytes_in_file(tensor));
  return read_.emplace(source, values_of(tensor, directory_)).first->second;
}

TensorReader::Source TensorReader::source_of(const OnnxTensor& tensor) const {
  const void* elements = &tensor;
  if (!tensor.external.empty())
    return {external_place(tensor.external, directory_), nullptr, tensor.type, tensor.dims};
  if (tensor.raw) elements = tensor.raw->data();
  return {{}, elements, tensor.type, tensor.dims};
}

}  // namespace penstock
