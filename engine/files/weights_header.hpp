// WeightsHeader is the checked JSON header of a safetensors file. It says for each tensor which
// bytes of the data behind the header are the tensor's. All functions are pure. The text may be
// damaged or hostile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/element_type.hpp"
#include "penstock/shape.hpp"

namespace penstock {

/// This is the name of the metadata in a header, which no tensor can have.
inline constexpr std::string_view metadata_key = "__metadata__";

struct WeightsEntry {
  std::string name;
  ElementType type = ElementType::f32;  ///< `type` is the type of the elements in the file.
  Shape shape = {};
  /// `begin` is the place of the tensor's first byte, counted from the start of the data.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< `end` is the place behind the tensor's last byte.

  /// Returns the type of the elements once they were read.
  DType dtype() const { return read_as(type); }
};

struct WeightsHeader {
  /// `entries` has the entries in the order of their bytes, which leave no gap and do not overlap.
  std::vector<WeightsEntry> entries = {};
  std::map<std::string, std::string> metadata = {};
};

/// Returns the header that `text` has in JSON, for a file with `data_bytes` bytes of data. Time and
/// memory grow with the length of `text`.
/// @throws Error corrupt_file naming the tensor if the text breaks the format or the entries do not
/// cover the data exactly once; unsupported if a tensor is of a type that is no ElementType.
WeightsHeader parse_weights_header(std::string_view text, std::uint64_t data_bytes);

/// Returns the header as JSON. @throws Error invalid_argument if a text is not UTF-8.
std::string to_json(const WeightsHeader& header);

}  // namespace penstock
