// These are the poolings of Model. Sequences are pooled as images of one row.
#include "engine/model/layers/inputs.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

graph::Attributes attributes_of(const MaxPool2dOptions& options) {
  graph::Attributes attributes{{"kernel", pair(options.kernel)},
                               {"padding", pair(options.padding)}};
  if (options.stride != 0) attributes.set("stride", pair(options.stride));
  if (options.ceil_mode) attributes.set("ceil_mode", std::int64_t{1});
  return attributes;
}

graph::Attributes attributes_of(const AvgPool2dOptions& options) {
  graph::Attributes attributes = attributes_of(MaxPool2dOptions{.kernel = options.kernel,
                                                                .stride = options.stride,
                                                                .padding = options.padding,
                                                                .ceil_mode = options.ceil_mode});
  if (!options.count_include_pad) attributes.set("count_include_pad", std::int64_t{0});
  return attributes;
}

Size2d of_one_row(std::int64_t stride) {
  return stride == 0 ? Size2d(0) : Size2d(1, stride);
}

/// Pools x [N,C,L] by `pool`, which pools images.
Value pooled_row(ModelState& model, std::string_view call, const graph::Op& pool, const Value& x,
                 graph::Attributes attributes) {
  expect_rank(model, std::string(call), x, 3);
  NetworkBuilder::Draft draft(model.network);
  const Value image = model.apply(pool, {reshaped(model, x, {0, 0, 1, -1})}, std::move(attributes));
  const Value result = reshaped(model, image, {0, 0, -1});
  draft.keep();
  return result;
}

/// Divides `axis` of `x` into `windows` windows, and reduces each of them to one element by
/// `reduce`.
Value adapted(ModelState& model, const graph::Op& reduce, const Value& x, std::int64_t axis,
              std::int64_t windows) {
  const std::int64_t size = shape_of(model, reduce.name, x)[static_cast<std::ptrdiff_t>(axis)];
  std::vector<Value> parts;
  for (std::int64_t window = 0; window < windows; ++window) {
    const std::int64_t begin = window * size / windows;
    const std::int64_t end = ((window + 1) * size + windows - 1) / windows;
    const Value part =
        model.apply(graph::slice, {x}, {{"axis", axis}, {"begin", begin}, {"end", end}});
    parts.push_back(model.apply(
        reduce, {part}, {{"axes", std::vector<std::int64_t>{axis}}, {"keep", std::int64_t{1}}}));
  }
  return model.apply(graph::concat, parts, {{"axis", axis}});
}

/// Pools x [N,C,H,W] to `size`, by `pool` where all windows are of one size, and else by `reduce`
/// along one axis after the other.
Value adapted(ModelState& model, std::string_view call, const graph::Op& pool,
              const graph::Op& reduce, const Value& x, Size2d size) {
  expect_rank(model, std::string(call), x, 4);
  const Shape shape = shape_of(model, call, x);
  if (size.rows < 1 || size.columns < 1)
    throw Error(Errc::invalid_argument, std::string(call) +
                                            ": expected at least one row and one "
                                            "column of windows, got " +
                                            std::to_string(size.rows) + "x" +
                                            std::to_string(size.columns));
  if (shape[2] % size.rows == 0 && shape[3] % size.columns == 0 && shape.elements() > 0)
    return model.apply(pool, {x},
                       {{"kernel", pair({shape[2] / size.rows, shape[3] / size.columns})}});
  NetworkBuilder::Draft draft(model.network);
  const Value result =
      adapted(model, reduce, adapted(model, reduce, x, 2, size.rows), 3, size.columns);
  draft.keep();
  return result;
}

}  // namespace

Value SpatialLayers::max_pool2d(Value x, const MaxPool2dOptions& options) {
  return impl_->add(graph::max_pool2d, {x}, [&] { return attributes_of(options); });
}

Value SpatialLayers::avg_pool2d(Value x, const AvgPool2dOptions& options) {
  return impl_->add(graph::avg_pool2d, {x}, [&] { return attributes_of(options); });
}

Value SpatialLayers::max_pool1d(Value x, const MaxPool1dOptions& options) {
  return impl_->calling("max_pool1d", [&](Impl& impl) {
    const MaxPool2dOptions row{.kernel = {1, options.kernel},
                               .stride = of_one_row(options.stride),
                               .padding = {0, options.padding},
                               .ceil_mode = options.ceil_mode};
    return pooled_row(impl, "max_pool1d", graph::max_pool2d, x, attributes_of(row));
  });
}

Value SpatialLayers::avg_pool1d(Value x, const AvgPool1dOptions& options) {
  return impl_->calling("avg_pool1d", [&](Impl& impl) {
    const AvgPool2dOptions row{.kernel = {1, options.kernel},
                               .stride = of_one_row(options.stride),
                               .padding = {0, options.padding},
                               .ceil_mode = options.ceil_mode,
                               .count_include_pad = options.count_include_pad};
    return pooled_row(impl, "avg_pool1d", graph::avg_pool2d, x, attributes_of(row));
  });
}

Value SpatialLayers::lp_pool2d(Value x, double norm, const LpPool2dOptions& options) {
  return impl_->calling("lp_pool2d", [&](Impl& impl) {
    if (!(norm > 0))
      throw Error(Errc::invalid_argument,
                  "lp_pool2d: expected a norm above 0, got " + number_text(norm));
    NetworkBuilder::Draft draft(impl.network);
    const AvgPool2dOptions window{
        .kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode};
    const Value powers = impl.apply(graph::pow, {x}, {{"exponent", norm}});
    const Value means = impl.apply(graph::avg_pool2d, {powers}, attributes_of(window));
    const double cells =
        static_cast<double>(options.kernel.rows) * static_cast<double>(options.kernel.columns);
    const Value sums =
        impl.apply(graph::scale, {impl.apply(graph::relu, {means})}, {{"factor", cells}});
    const Value result = impl.apply(graph::pow, {sums}, {{"exponent", 1 / norm}});
    draft.keep();
    return result;
  });
}

Value SpatialLayers::adaptive_avg_pool2d(Value x, Size2d size) {
  return impl_->calling("adaptive_avg_pool2d", [&](Impl& impl) {
    return adapted(impl, "adaptive_avg_pool2d", graph::avg_pool2d, graph::mean, x, size);
  });
}

Value SpatialLayers::adaptive_max_pool2d(Value x, Size2d size) {
  return impl_->calling("adaptive_max_pool2d", [&](Impl& impl) {
    return adapted(impl, "adaptive_max_pool2d", graph::max_pool2d, graph::amax, x, size);
  });
}

Value SpatialLayers::global_avg_pool2d(Value x) {
  return impl_->add(graph::global_avg_pool2d, {x});
}

}  // namespace penstock
