#include "tests/graph/ops/sample_run.hpp"

#include <algorithm>
#include <iterator>

#include "graph/ops/list.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {

SampleRun run_sample(const Op& op, const OpSample& sample, std::vector<std::size_t> wanted) {
  SampleRun run{.tape = {}, .inputs = {}, .output = none, .output_gradient = {}};
  for (Tensor& input : testing::draw_inputs(op, sample, 1))
    run.inputs.push_back(run.tape.leaf(std::move(input)));
  run.output = run.tape.apply(op, run.inputs, sample.attributes)[0];
  if (!op.backward) return run;
  std::vector<ValueId> wanted_values;
  for (const std::size_t position : wanted) wanted_values.push_back(run.inputs[position]);
  run.output_gradient = testing::uniform(run.tape[run.output].shape(), 99);
  run.tape.backward(run.output, run.output_gradient, wanted_values);
  return run;
}

std::vector<const Op*> ops_with_samples() {
  std::vector<const Op*> result;
  std::copy_if(all_ops().begin(), all_ops().end(), std::back_inserter(result),
               [](const Op* op) { return op->samples != nullptr; });
  return result;
}

}  // namespace penstock::graph
