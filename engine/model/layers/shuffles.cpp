// These are the layers of Model that exchange channels for pixels.
#include "engine/model/layers/composition.hpp"
#include "graph/ops/movement/rearrange.hpp"

namespace penstock {
namespace {

/// Checks that x is an image and that `factor` is at least 1, and returns the shape of x.
Shape checked_image(const Composition& layer, const Value& x, std::int64_t factor,
                    const std::string& call) {
  const Shape shape = layer.shape(x);
  layer.expect_rank(x, 4);
  if (factor < 1)
    throw Error(Errc::invalid_argument,
                call + ": expected a factor of 1 or more, got " + std::to_string(factor));
  return shape;
}

/// Gives x the shape `split`, then its axes the order `axes`, and then the shape `joined`.
Value rearranged(const Composition& layer, const Value& x, Integers split, Integers axes,
                 Integers joined) {
  const Value parts = layer.reshaped(x, std::move(split));
  const Value turned = layer.apply(graph::transpose, {parts}, {{"axes", std::move(axes)}});
  return layer.reshaped(turned, std::move(joined));
}

}  // namespace

Value SpatialLayers::pixel_shuffle(Value x, std::int64_t factor) {
  return composed(*impl_, "pixel_shuffle", [&](const Composition& layer) {
    const Shape shape = checked_image(layer, x, factor, "pixel_shuffle");
    const std::int64_t channels = shape[1] / factor / factor;
    layer.expect(channels * factor * factor == shape[1],
                 "expected x with channels that divide by the square of the factor " +
                     std::to_string(factor) + ", got " + to_string(shape));
    return rearranged(layer, x, {0, channels, factor, factor, shape[2], shape[3]},
                      {0, 1, 4, 2, 5, 3}, {0, channels, shape[2] * factor, shape[3] * factor});
  });
}

Value SpatialLayers::pixel_unshuffle(Value x, std::int64_t factor) {
  return composed(*impl_, "pixel_unshuffle", [&](const Composition& layer) {
    const Shape shape = checked_image(layer, x, factor, "pixel_unshuffle");
    const std::int64_t rows = shape[2] / factor, columns = shape[3] / factor;
    layer.expect(rows * factor == shape[2] && columns * factor == shape[3],
                 "expected x with rows and columns that divide by the factor " +
                     std::to_string(factor) + ", got " + to_string(shape));
    return rearranged(layer, x, {0, shape[1], rows, factor, columns, factor}, {0, 1, 3, 5, 2, 4},
                      {0, shape[1] * factor * factor, rows, columns});
  });
}

}  // namespace penstock
