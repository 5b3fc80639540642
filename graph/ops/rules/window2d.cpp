#include "graph/ops/rules/window2d.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

/// No size, stride, padding or dilation may be larger than this number. A larger one is a mistake,
/// and would overflow the arithmetic of sizes.
constexpr std::int64_t largest = std::int64_t{1} << 30;

void expect_range(Pair values, std::int64_t least, const std::string& name) {
  for (const std::int64_t value : values) {
    expect(value >= least, "expected " + name + " of at least " + std::to_string(least) + ", got " +
                               std::to_string(value));
    expect(value <= largest, "expected " + name + " of at most " + std::to_string(largest) +
                                 ", got " + std::to_string(value));
  }
}

std::string text(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

}  // namespace

Pair PairAttribute::of(const Attributes& attributes, Pair otherwise) const {
  for (const auto& [key, value] : attributes) {
    if (key != name) continue;
    if (const auto* both = std::get_if<std::int64_t>(&value)) return {*both, *both};
    const auto& list = attributes.integers(name);
    expect(list.size() == 1 || list.size() == 2,
           "expected " + key + " of one or two integers, got " + std::to_string(list.size()));
    return {list.front(), list.back()};
  }
  return otherwise;
}

Window2d conv_window(const Attributes& attributes, Pair kernel) {
  return {.kernel = kernel,
          .stride = attribute::stride.of(attributes),
          .padding = attribute::padding.of(attributes),
          .dilation = attribute::dilation.of(attributes)};
}

Window2d pool_window(const Attributes& attributes) {
  const Pair kernel = attribute::kernel.of(attributes);
  return {.kernel = kernel,
          .stride = attribute::stride.of(attributes, kernel),
          .padding = attribute::padding.of(attributes),
          .dilation = attribute::dilation.of(attributes)};
}

void expect_padded(std::int64_t size) {
  expect(size <= largest, "expected an image with its padding of at most " +
                              std::to_string(largest) + " rows and columns, got " +
                              std::to_string(size));
}

void expect_window(const Window2d& window) {
  expect_range(window.kernel, 1, "kernel");
  expect_range(window.stride, 1, "stride");
  expect_range(window.padding, 0, "padding");
  expect_range(window.dilation, 1, "dilation");
}

Pair window_counts(const Window2d& window, const TensorType& x) {
  expect_window(window);
  Pair counts{}, padded{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    padded[axis] = x.shape[static_cast<std::ptrdiff_t>(axis) + 2] + 2 * window.padding[axis];
    expect_padded(padded[axis]);
    counts[axis] = (padded[axis] - window.extent(axis)) / window.stride[axis] + 1;
  }
  expect(window.extent(0) <= padded[0] && window.extent(1) <= padded[1],
         "expected a kernel no larger than the padded input " + text(padded[0], padded[1]) +
             ", got " + text(window.extent(0), window.extent(1)));
  return counts;
}

Attributes with_input_size(Attributes attributes, const Shape& x) {
  attributes.set("input_size", std::vector<std::int64_t>{x[2], x[3]});
  return attributes;
}

Shape image_shape(const Attributes& attributes, const Shape& pooled) {
  const Pair size = attribute::input_size.of(attributes);
  return pooled.with(2, size[0]).with(3, size[1]);
}

Range inside(const Window2d& window, std::size_t axis, std::int64_t k, std::int64_t size,
             std::int64_t count) noexcept {
  const std::int64_t first = window.position(axis, 0, k), stride = window.stride[axis];
  const std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
  const std::int64_t end = first >= size ? 0 : (size - 1 - first) / stride + 1;
  return {std::min(begin, count), std::clamp(end, std::min(begin, count), count)};
}

}  // namespace penstock::graph
