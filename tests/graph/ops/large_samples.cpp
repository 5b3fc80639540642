#include "tests/graph/ops/large_samples.hpp"

#include <string_view>
#include <utility>

#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/conv2d_inference.hpp"

namespace penstock::graph {
namespace {

std::vector<OpSample> large_samples(std::string_view op) {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  if (op == "conv2d")
    return {{.inputs = {f32({5, 40, 16, 17}), f32({50, 40, 3, 3}), f32({50})},
             .attributes = {{"padding", 1}}},
            {.inputs = {f32({3, 34, 20, 20}), f32({36, 17, 3, 3})},
             .attributes = {{"stride", 2}, {"groups", 2}}},
            // The images of the other samples are read where they lie.
            {.inputs = {f32({5, 48, 16, 16}), f32({64, 48, 3, 3}), f32({64})},
             .attributes = {{"padding", 1}}},
            {.inputs = {f32({3, 300, 10, 12}), f32({96, 300, 1, 1})}},
            {.inputs = {f32({2, 40, 6, 6}), f32({256, 40, 3, 3}), f32({256})},
             .attributes = {{"padding", 1}, {"stride", 2}}},
            // The rows of tiles are samples.
            {.inputs = {f32({19, 70, 2, 2}), f32({96, 70, 3, 3}), f32({96})},
             .attributes = {{"padding", 1}, {"relu", 1}}},
            {.inputs = {f32({16, 600, 1, 1}), f32({112, 600, 1, 1})}},
            {.inputs = {f32({70, 320, 7, 7}), f32({16, 320, 1, 1})}, .attributes = {{"stride", 2}}},
            // Channels are convolved by themselves, several at a time.
            {.inputs = {f32({5, 40, 12, 7}), f32({40, 1, 3, 3}), f32({40})},
             .attributes = {{"padding", 1}, {"groups", 40}, {"relu", 1}}},
            {.inputs = {f32({2, 30, 3, 3}), f32({30, 1, 3, 3})},
             .attributes = {{"padding", 1}, {"groups", 30}, {"stride", 2}}}};
  if (op == "conv2d_inference") {
    std::vector<OpSample> samples = large_samples("conv2d");
    for (OpSample& sample : samples) {
      sample.attributes = only_declared(conv2d_inference.attributes, sample.attributes);
      sample.attributes.set("adds", std::int64_t{1}).set("low", 1.0);
      const TensorType y = conv2d.infer(sample.attributes, sample.inputs)[0];
      sample.inputs.insert(sample.inputs.end(), 4, f32({y.shape[1]}));
      sample.inputs.push_back(y);
      sample.low = 0.5;
      sample.high = 2;
    }
    return samples;
  }
  if (op == "linear")
    return {{.inputs = {f32({20, 400}), f32({130, 400}), f32({130})}},
            {.inputs = {f32({40, 300}), f32({330, 300})}},
            {.inputs = {f32({300, 40}), f32({10, 40}), f32({10})}}};
  // The samples have many short runs in several blocks of channels, long runs, and so many samples
  // that the sums of a column are cut.
  if (op == "batch_norm" || op == "batch_norm_inference") {
    std::vector<OpSample> samples;
    for (const Shape& x :
         {Shape{3, 1030, 1}, Shape{5, 70, 6, 6}, Shape{2, 3, 20, 17}, Shape{67, 5, 3, 3}}) {
      const TensorType c = f32({x[1]});
      samples.push_back({.inputs = {f32(x), c, c, c, c}, .low = 0.5, .high = 2});
      if (op == "batch_norm_inference") samples.back().constants = {3, 4};
    }
    return samples;
  }
  // The gradient of this node goes through several blocks of depth.
  if (op == "lstm")
    return {{.inputs = {f32({33, 2, 280}), f32({280, 70}), f32({280})},
             .attributes = {{"bias", std::int64_t{1}}}}};
  return {};
}

}  // namespace

std::vector<OpSample> all_samples_of(const Op& op) {
  std::vector<OpSample> samples = op.samples();
  for (OpSample& large : large_samples(op.name)) samples.push_back(std::move(large));
  return samples;
}

}  // namespace penstock::graph
