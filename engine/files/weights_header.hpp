// WeightsHeader is the checked JSON header of a safetensors file. It says which bytes of the data
// behind it are which tensor. All functions are pure; the text may come from anybody.
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
  std::uint64_t begin = 0;  ///< Is the first byte, counted from the start of the data.
  std::uint64_t end = 0;    ///< Is the byte behind the last one.
};

struct WeightsHeader {
  /// Has the entries in the order of their bytes, which leave no gap and do not overlap.
  std::vector<WeightsEntry> entries = {};
  std::map<std::string, std::string> metadata = {};
};

/// Returns the header in `text`, of `data_bytes` bytes of data. Time and memory grow as `text`.
/// @throws Error corrupt_file naming the tensor if the text breaks the format or the entries do not
/// cover the data exactly once; unsupported if a tensor is of another type than F32 or I64.
WeightsHeader parse_weights_header(std::string_view text, std::uint64_t data_bytes);

/// Returns the header as JSON. @throws Error invalid_argument if a text is not UTF-8.
std::string to_json(const WeightsHeader& header);

}  // namespace penstock
