// These are the layers of Model that exchange channels for pixels.
#include "engine/model/layers/inputs.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/movement/rearrange.hpp"

namespace penstock {
namespace {

void expect_factor(const std::string& call, std::int64_t factor, bool divides, const Shape& shape) {
  if (divides) return;
  throw Error(Errc::shape_mismatch, call + ": expected a shape that divides by the factor " +
                                        std::to_string(factor) + ", got " + to_string(shape));
}

void expect_positive(const std::string& call, std::int64_t factor) {
  if (factor >= 1) return;
  throw Error(Errc::invalid_argument,
              call + ": expected a factor of 1 or more, got " + std::to_string(factor));
}

/// Gives x the shape `split`, then its axes the order `axes`, and then the shape `joined`.
Value rearranged(ModelState& model, const Value& x, std::vector<std::int64_t> split,
                 std::vector<std::int64_t> axes, std::vector<std::int64_t> joined) {
  NetworkBuilder::Draft draft(model.network);
  const Value parts = reshaped(model, x, std::move(split));
  const Value turned = model.apply(graph::transpose, {parts}, {{"axes", std::move(axes)}});
  const Value result = reshaped(model, turned, std::move(joined));
  draft.keep();
  return result;
}

}  // namespace

Value Layers::pixel_shuffle(Value x, std::int64_t factor) {
  return impl_->calling("pixel_shuffle", [&](Impl& impl) {
    const std::string call = "pixel_shuffle";
    expect_rank(impl, call, x, 4);
    expect_positive(call, factor);
    const Shape shape = shape_of(impl, call, x);
    const std::int64_t channels = shape[1] / factor / factor;
    expect_factor(call, factor * factor, channels * factor * factor == shape[1], shape);
    return rearranged(impl, x, {0, channels, factor, factor, shape[2], shape[3]},
                      {0, 1, 4, 2, 5, 3}, {0, channels, shape[2] * factor, shape[3] * factor});
  });
}

Value Layers::pixel_unshuffle(Value x, std::int64_t factor) {
  return impl_->calling("pixel_unshuffle", [&](Impl& impl) {
    const std::string call = "pixel_unshuffle";
    expect_rank(impl, call, x, 4);
    expect_positive(call, factor);
    const Shape shape = shape_of(impl, call, x);
    const std::int64_t rows = shape[2] / factor, columns = shape[3] / factor;
    expect_factor(call, factor, rows * factor == shape[2] && columns * factor == shape[3], shape);
    return rearranged(impl, x, {0, shape[1], rows, factor, columns, factor}, {0, 1, 3, 5, 2, 4},
                      {0, shape[1] * factor * factor, rows, columns});
  });
}

}  // namespace penstock
