#include "graph/ops/arithmetic/fill.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};
constexpr RealAttribute value{"value"};
constexpr FlagAttribute loss_scaled{"loss_scaled"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 0, "");
  return {{DType::f32, Shape(attribute::shape.of(attributes))}};
}

void forward(const KernelCall& call) {
  const Operand& out = call.outputs[0];
  const auto [first, count] = ElementRange(call, out.elements());
  const double scale =
      attribute::loss_scaled.of(call.attributes) ? static_cast<double>(call.loss_scale) : 1.0;
  const double value = attribute::value.of(call.attributes) * scale;
  kernel_table().arithmetic.fill(count, static_cast<float>(value), out.f32().data() + first);
}

Cost cost(const Attributes&, Types, Types out) {
  return {.bytes = static_cast<double>(out[0].bytes())};
}

std::vector<OpSample> samples() {
  return {{.attributes = {{"shape", std::vector<std::int64_t>{3, 7}}, {"value", 0.5}}},
          {.attributes = {{"value", 1.0}, {"loss_scaled", std::int64_t{1}}}}};
}

}  // namespace

const Op fill{.name = "fill",
              .attributes = {attribute::shape, attribute::value, attribute::loss_scaled},
              .infer = infer,
              .forward = forward,
              .cost = cost,
              .units = element_units,
              .samples = samples};

}  // namespace penstock::graph
