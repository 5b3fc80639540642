#include "engine/model/layers/padding.hpp"

#include <algorithm>

#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// Returns which elements of an axis of `size` elements a padded axis has.
Integers padded_indices(PadMode mode, std::int64_t size, PadWidths widths) {
  Integers indices;
  for (std::int64_t i = -widths.before; i < size + widths.after; ++i) {
    if (mode == PadMode::replicate)
      indices.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
    else if (mode == PadMode::circular)
      indices.push_back((i + size) % size);
    else
      indices.push_back(i < 0 ? -i : i < size ? i : 2 * (size - 1) - i);
  }
  return indices;
}

}  // namespace

Value padded(const Composition& layer, Value x, std::size_t axis, PadWidths widths,
             const PadOptions& options, const std::string& name) {
  const auto [before, after] = widths;
  if (before == 0 && after == 0) return x;
  const auto number = static_cast<std::int64_t>(axis);
  const std::int64_t size = layer.shape(x)[number];
  if (options.mode == PadMode::constant)
    return layer.apply(
        graph::pad, {x},
        {{"axis", number}, {"before", before}, {"after", after}, {"value", options.value}}, name);
  const bool reflects = options.mode == PadMode::reflect;
  const std::int64_t most = reflects ? size - 1 : size;
  layer.expect(size > 0 && (options.mode == PadMode::replicate || std::max(before, after) <= most),
               "expected up to " + std::to_string(std::max<std::int64_t>(most, 0)) +
                   " elements before and after axis " + std::to_string(axis) + " of x " +
                   to_string(layer.shape(x)) + ", got " + std::to_string(before) + " and " +
                   std::to_string(after));
  return layer.apply(graph::index_select, {x},
                     {{"axis", number}, {"indices", padded_indices(options.mode, size, widths)}},
                     name);
}

}  // namespace penstock
