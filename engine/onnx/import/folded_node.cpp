#include "engine/onnx/import/folded_node.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/format/tensor_values.hpp"

namespace penstock {
namespace {

/// Returns the type in ONNX of what a node has folded to.
OnnxType type_of(const OnnxNode& node, const Tensor& result, const std::vector<Imported*>& inputs) {
  if (node.op_type == "Cast")
    if (const OnnxAttribute* const to = node.find("to"); to && to->integer)
      return static_cast<OnnxType>(*to->integer);
  for (const Imported* x : inputs)
    if (x && dtype_of_onnx(x->type) == result.dtype()) return x->type;
  return onnx_type_of(result.dtype());
}

/// Returns the input whose elements a result shares, or null if the result has its own.
const Imported* source_of(const Tensor& result, const std::vector<Imported*>& inputs,
                          std::size_t probe) {
  for (const Imported* x : inputs)
    if (x && x->known[probe].storage() == result.storage()) return x;
  return nullptr;
}

/// Returns whether a result has the elements of the same input for both numbers of samples, and
/// these were compared when the input was made. Tensors of different dimensions were not compared.
bool is_compared(const std::array<Tensor, probes>& result, const std::vector<Imported*>& inputs) {
  const Imported* const source = source_of(result[0], inputs, 0);
  return source && source == source_of(result[1], inputs, 1) &&
         source->known[0].shape() == source->known[1].shape();
}

/// Returns how many elements a node reads when it is folded. A node that takes some elements of its
/// first input reads no others of them, and these count as elements of its result.
std::uint64_t elements_read(const OnnxNode& node, const std::vector<Tensor>& inputs) {
  const bool takes_some = node.op_type == "Gather" || node.op_type == "Slice";
  std::uint64_t sum = 0;
  for (std::size_t i = takes_some ? 1 : 0; i < inputs.size(); ++i)
    if (inputs[i]) sum += static_cast<std::uint64_t>(inputs[i].elements());
  return sum;
}

/// Counts a result that has elements of its own.
void count_made(const Tensor& result, ComputedCount& count) {
  count.add_elements(static_cast<std::uint64_t>(result.elements()));
  count.add_bytes(result.bytes());
}

}  // namespace

std::vector<Imported> folded_outputs(const OnnxNode& node, const std::vector<Imported*>& inputs,
                                     TensorReader& reader, ComputedCount& count) {
  if (!is_folded(node.op_type)) return {};
  const bool is_constant =
      std::ranges::all_of(inputs, [](const Imported* x) { return !x || x->is_constant(); });
  std::vector<Imported> outputs;
  for (std::size_t probe = 0; probe < (is_constant ? 1 : probes); ++probe) {
    std::vector<Tensor> tensors;
    for (const Imported* x : inputs) tensors.push_back(x ? x->known[probe] : Tensor());
    count.check();
    const ComputedCount before = count;
    count.expect_elements(elements_read(node, tensors));
    const std::vector<Tensor> results = fold({.node = node, .inputs = tensors, .reader = reader});
    if (std::ranges::all_of(results, [&](const Tensor& x) { return source_of(x, inputs, probe); }))
      count = before;  // No element was read, as the results are those of inputs.
    count.check();
    if (probe > 0 && results.size() != outputs.size())
      throw MixedSamples{"the number of its results depends on the number of samples"};
    outputs.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Imported* const source = source_of(results[i], inputs, probe);
      outputs[i].is_of_file = source ? source->is_of_file : node.op_type == "Constant";
      if (!source && !outputs[i].is_of_file) count_made(results[i], count);
      outputs[i].known[probe] = results[i];
      if (is_constant) outputs[i].known[1] = results[i];
      outputs[i].type = type_of(node, results[i], inputs);
    }
  }
  for (Imported& output : outputs)
    if (!is_compared(output.known, inputs)) join_equal(output.known, count);
  return outputs;
}

void join_equal(std::array<Tensor, probes>& known, ComputedCount& count) {
  const Tensor &first = known[0], &second = known[1];
  if (first.storage() == second.storage() || first.dtype() != second.dtype() ||
      first.shape() != second.shape())
    return;
  count.add_elements(static_cast<std::uint64_t>(first.elements()));
  if (std::memcmp(first.raw(), second.raw(), first.bytes()) == 0) known[1] = first;
}

}  // namespace penstock
