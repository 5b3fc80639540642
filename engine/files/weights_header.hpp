// WeightsHeader: the JSON header of a safetensors file, checked. It says which bytes of the data
// behind it are which tensor. Pure; the text may come from anybody.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/shape.hpp"

namespace penstock {

struct WeightsEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape = {};
  std::uint64_t begin = 0;  ///< first byte, from the start of the data
  std::uint64_t end = 0;    ///< one past the last byte
};

struct WeightsHeader {
  std::vector<WeightsEntry> entries = {};  ///< in the order of their bytes, without gap or overlap
  std::map<std::string, std::string> metadata = {};
};

/// The header in `text`, over `data_bytes` bytes of data, in time and memory in proportion to it.
/// @throws Error corrupt_file naming the tensor if the text breaks the format or the entries do not
/// cover the data exactly once; unsupported if a tensor is of another type than F32 or I64.
WeightsHeader parse_weights_header(std::string_view text, std::uint64_t data_bytes);

/// The header as JSON. @throws Error invalid_argument if a text is not UTF-8.
std::string to_json(const WeightsHeader& header);

}  // namespace penstock
