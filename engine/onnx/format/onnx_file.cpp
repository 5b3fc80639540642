#include "engine/onnx/format/onnx_file.hpp"

#include <algorithm>
#include <array>

namespace penstock {

std::string to_string(OnnxType type) {
  constexpr std::array names{
      "undefined",      "float",      "uint8",          "int8",       "uint16",   "int16",
      "int32",          "int64",      "string",         "bool",       "float16",  "double",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4"};
  const auto number = static_cast<std::int64_t>(type);
  if (number < 0 || number >= static_cast<std::int64_t>(names.size()))
    return "type " + std::to_string(number);
  return names[static_cast<std::size_t>(number)];
}

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const noexcept {
  const auto found = std::ranges::find(attributes, attribute, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t OnnxNode::integer(std::string_view attribute, std::int64_t fallback) const noexcept {
  const OnnxAttribute* const found = find(attribute);
  return found && found->integer ? *found->integer : fallback;
}

std::vector<std::int64_t> OnnxNode::integers(std::string_view attribute) const {
  const OnnxAttribute* const found = find(attribute);
  return found ? found->integers : std::vector<std::int64_t>{};
}

}  // namespace penstock
