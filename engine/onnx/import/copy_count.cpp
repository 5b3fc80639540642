#include "engine/onnx/import/copy_count.hpp"

#include "engine/onnx/shapes/corrupt.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;

template <class T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.size() * sizeof(T);
}

}  // namespace

void CopyCount::add(std::uint64_t bytes) {
  if (bytes > most_bytes - bytes_)
    corrupt("functions and branches take more than " + std::to_string(most_bytes) +
            " bytes of memory once they are written out for each call");
  bytes_ += bytes;
}

void CopyCount::add(const OnnxAttribute& attribute) {
  add(sizeof attribute + attribute.name.size() + attribute.reference.size());
  if (attribute.text) add(attribute.text->size());
  add(bytes_of(attribute.reals) + bytes_of(attribute.integers));
  for (const std::string& text : attribute.texts) add(text);
}

void CopyCount::add(const OnnxNode& node) {
  add(sizeof node + node.name.size() + node.op_type.size() + node.domain.size());
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.outputs) add(name);
  for (const OnnxAttribute& attribute : node.attributes) add(attribute);
}

void CopyCount::add(const OnnxTensor& tensor) {
  add(sizeof tensor + bytes_of(tensor.dims) + bytes_of(tensor.floats) + bytes_of(tensor.doubles) +
      bytes_of(tensor.integers));
  for (const auto& [key, value] : tensor.external) {
    add(key);
    add(value);
  }
}

}  // namespace penstock
