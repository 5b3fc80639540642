// Layers that put elements around a tensor share these declarations.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model/layers/composition.hpp"
#include "penstock/pad_options.hpp"

namespace penstock {

/// PadWidths say how many elements are put before an axis and how many behind it, 0 or more.
struct PadWidths {
  std::int64_t before, after;
};

/// Adds a node called `name` that pads axis number `axis` of x, and returns the padded x. Returns x
/// itself if nothing is put around it.
/// @throws Error shape_mismatch if the widths do not fit the axis.
Value padded(const Composition& layer, Value x, std::size_t axis, PadWidths widths,
             const PadOptions& options, const std::string& name = "");

}  // namespace penstock
