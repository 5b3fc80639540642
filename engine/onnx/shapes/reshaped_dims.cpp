#include "engine/onnx/shapes/reshaped_dims.hpp"

#include <algorithm>
#include <string>

#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "penstock/error.hpp"
#include "penstock/shape.hpp"

namespace penstock {
namespace {

/// Returns whether each axis of `rank` is one of `axes`.
std::vector<bool> flags_of(const Dims& axes, std::size_t rank) {
  std::vector<bool> flags(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t number = axis_of(axis, rank);
    if (flags[number])
      corrupt("expected each axis once, got axis " + std::to_string(axis) + " twice");
    flags[number] = true;
  }
  return flags;
}

}  // namespace

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count)
    corrupt("expected an axis from " + std::to_string(-count) + " to " + std::to_string(count - 1) +
            ", got " + std::to_string(axis));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

Dims reshaped_dims(const Dims& dims, Dims wanted, bool allow_zero) {
  const std::int64_t all = Shape(dims).elements();
  std::int64_t said = 1;
  std::int64_t* open = nullptr;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    std::int64_t& size = wanted[axis];
    if (size == 0 && !allow_zero) {
      if (axis >= dims.size())
        corrupt("a 0 in the wanted shape keeps a dimension that the input does not have");
      size = dims[axis];
    }
    if (size < -1) corrupt("expected a dimension of -1 or more, got " + std::to_string(size));
    if (size != -1) {
      said = checked_product(said, size);
      continue;
    }
    if (open) corrupt("expected at most one -1 in the wanted shape");
    open = &size;
  }
  if (open) *open = said == 0 ? 0 : all / said;
  if ((open ? said * *open : said) != all)
    corrupt("expected a shape of as many elements as " + to_string(Shape(dims)));
  return wanted;
}

Dims flattened_dims(const Dims& dims, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (axis < -rank || axis > rank)
    corrupt("expected an axis from " + std::to_string(-rank) + " to " + std::to_string(rank) +
            ", got " + std::to_string(axis));
  if (axis < 0) axis += rank;
  Dims result{1, 1};
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t& size = result[i < axis ? 0 : 1];
    size = checked_product(size, dims[static_cast<std::size_t>(i)]);
  }
  return result;
}

Dims squeezed_dims(const Dims& dims, const Dims& axes) {
  const std::vector<bool> flags = flags_of(axes, dims.size());
  Dims result;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const bool dropped = axes.empty() ? dims[axis] == 1 : flags[axis];
    if (dropped && dims[axis] != 1)
      corrupt("expected an axis of one element to drop, got axis " + std::to_string(axis) + " of " +
              to_string(Shape(dims)));
    if (!dropped) result.push_back(dims[axis]);
  }
  return result;
}

Dims unsqueezed_dims(const Dims& dims, const Dims& axes) {
  const std::vector<bool> flags = flags_of(axes, dims.size() + axes.size());
  Dims result;
  auto next = dims.begin();
  for (const bool added : flags) result.push_back(added ? 1 : *next++);
  return result;
}

Dims split_sizes(std::int64_t size, const Dims& sizes, std::size_t parts) {
  if (!sizes.empty()) {
    std::int64_t uncut = size;
    for (const std::int64_t part : sizes) {
      if (part < 0 || part > uncut) corrupt("expected sizes of parts that add up to the axis");
      uncut -= part;
    }
    if (uncut != 0) corrupt("expected sizes of parts that add up to the axis");
    Dims first = sizes;
    first.resize(std::min(sizes.size(), parts));
    return first;
  }
  if (parts == 0) corrupt("expected one part or more");
  const auto count = static_cast<std::int64_t>(parts);
  const std::int64_t each = size / count + (size % count != 0 ? 1 : 0);
  Dims result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(std::clamp<std::int64_t>(size - i * each, 0, each));
  return result;
}

void check_repeats(const Dims& repeats, std::size_t rank) {
  if (repeats.size() != rank)
    corrupt("expected a number of repeats for each axis, which makes " + std::to_string(rank) +
            " of them, got " + std::to_string(repeats.size()));
}

}  // namespace penstock
