#include "graph/ops/convolution/products/geometry.hpp"

namespace penstock::graph {

Conv2dGeometry::Conv2dGeometry(const Attributes& attributes, const Shape& x, const Shape& weight,
                               const Shape& y)
    : n(x[0]),
      c(x[1]),
      h(x[2]),
      w(x[3]),
      o(y[1]),
      oh(y[2]),
      ow(y[3]),
      groups(attribute::groups.of(attributes)),
      window(conv_window(attributes, {weight[2], weight[3]})) {}

Cost Conv2dGeometry::cost() const noexcept {
  const auto outputs = static_cast<double>(n * o * pixels());
  const auto cells = static_cast<double>(n * c * h * w + o * depth()) + outputs;
  return {.flops = 2 * outputs * static_cast<double>(depth()), .bytes = 4 * cells};
}

}  // namespace penstock::graph
