// These tests compare every op's gradient with central differences of the op's own forward pass, on
// the op's samples. For a random projection L = sum(r * y), dL/dx[i] must be close to
// (L(x[i]+h) - L(x[i]-h)) / 2h, summed in double. The inputs are drawn so that a step crosses no
// kink.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;

/// Gradients are checked at no more than this number of elements of an input, evenly chosen.
constexpr std::size_t most_elements = 200;

double project(const Tensor& output, const Tensor& weights) {
  const auto y = output.as<float>(), r = weights.as<float>();
  return std::inner_product(y.begin(), y.end(), r.begin(), 0.0, std::plus<>(),
                            [](float a, float b) {  // An element that is masked out stays -inf.
                              return std::isinf(a) ? 0.0 : static_cast<double>(a) * b;
                            });
}

/// A Moved has a call with a step added to one element, and the step as float32 has rounded it.
struct Moved {
  OpCall call;
  double step;
};

Moved moved(const OpCall& call, std::size_t input, std::size_t element, double step) {
  const auto before = call.inputs[input].as<float>();
  std::vector<float> values(before.begin(), before.end());
  values[element] = static_cast<float>(values[element] + step);
  Moved result{call, static_cast<double>(values[element]) - before[element]};
  result.call.inputs[input] = Tensor(call.inputs[input].shape(), std::span<const float>(values));
  return result;
}

double difference(const OpCall& call, std::size_t input, std::size_t element, double step,
                  const Tensor& weights) {
  const Moved up = moved(call, input, element, step), down = moved(call, input, element, -step);
  return (project(run(up.call)[0], weights) - project(run(down.call)[0], weights)) /
         (up.step - down.step);
}

/// Returns a step that is a fraction of the distance between two drawn values, and small enough for
/// the truncation error.
double step_for(const OpSample& sample, std::size_t elements) {
  return std::min(0.01, 0.2 * (sample.high - sample.low) / static_cast<double>(elements));
}

void expect_gradient(const SampleRun& run, const OpSample& sample, std::size_t input) {
  const Tensor& gradient = run.tape.gradient(run.inputs[input]);
  const auto elements = static_cast<std::size_t>(run.tape[run.inputs[input]].elements());
  const double step = step_for(sample, elements);
  float largest = 0;
  if (gradient)
    for (const float value : gradient.as<float>()) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < elements; i += 1 + elements / most_elements) {
    const double expected = difference(run.tape.calls()[0], input, i, step, run.output_gradient);
    const double actual = gradient ? static_cast<double>(gradient.as<float>()[i]) : 0.0;
    ASSERT_NEAR(actual, expected, 2e-3 * largest + 1e-4) << "input " << input << ", element " << i;
  }
}

class FiniteDifferences : public ::testing::TestWithParam<const Op*> {};

TEST_P(FiniteDifferences, AgreeWithTheGradient) {
  for (const OpSample& sample : GetParam()->samples()) {
    const SampleRun run = run_sample(*GetParam(), sample);
    for (std::size_t i = 0; i < run.inputs.size(); ++i)
      if (testing::is_constant(*GetParam(), sample, i))
        EXPECT_FALSE(run.tape.gradient(run.inputs[i])) << "input " << i;
      else if (sample.inputs[i].dtype == DType::f32)
        expect_gradient(run, sample, i);
  }
}

std::vector<const Op*> differentiable_ops() {
  auto ops = ops_with_samples();
  std::erase_if(ops, [](const Op* op) { return op->backward == nullptr; });
  return ops;
}

INSTANTIATE_TEST_SUITE_P(AllOps, FiniteDifferences, ::testing::ValuesIn(differentiable_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace penstock::graph
