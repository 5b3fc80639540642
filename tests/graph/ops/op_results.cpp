// This program prints the results of every kernel call of the ops' samples and of the reference
// cases, one tensor per line: its name, its type, its elements. With this output, the results of
// two instruction sets can be compared.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "graph/ops/convolution/conv2d_inference.hpp"
#include "graph/ops/convolution/conv2d_pack.hpp"
#include "tests/graph/ops/large_samples.hpp"
#include "tests/graph/ops/reference_cases.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/data_path.hpp"

namespace penstock::graph {
namespace {

void print(const std::string& name, const Tensor& tensor) {
  std::printf("%s %s", name.c_str(), tensor.dtype() == DType::f32 ? "f32" : "i64");
  if (tensor.dtype() == DType::f32)
    for (const float element : tensor.as<float>()) std::printf(" %.9g", element);
  else
    for (const std::int64_t element : tensor.as<std::int64_t>()) std::printf(" %" PRId64, element);
  std::puts("");
}

void print_calls(const std::string& name, const testing::Tape& tape) {
  std::size_t number = 0;
  for (const testing::OpCall& call : tape.calls()) {
    const std::string prefix = name + "/" + std::to_string(number++) + "/";
    std::size_t output = 0;
    for (const Tensor& tensor : run(call))
      print(prefix + std::string(call.op->name) + "/" + std::to_string(output++), tensor);
  }
}

/// Returns whether `op` makes or reads packed weights in `sample`. Their elements are in another
/// order under each instruction set.
bool has_packed_weights(const Op& op, const OpSample& sample) {
  return &op == &conv2d_pack ||
         (&op == &conv2d_inference && sample.attributes.has(attribute::out_channels.name));
}

void print_samples() {
  for (const Op* op : ops_with_samples()) {
    std::size_t number = 0;
    for (const OpSample& sample : all_samples_of(*op)) {
      if (has_packed_weights(*op, sample)) continue;
      print_calls("sample/" + std::string(op->name) + "/" + std::to_string(number++),
                  run_sample(*op, sample).tape);
    }
  }
}

void print_reference_cases() {
  for (const ReferenceCase& row : reference_cases()) {
    const std::string file(row.file);
    ReferenceTape reference(
        testing::read_reference(testing::data_path("ops/" + file + ".safetensors")));
    const ValueId out = row.build(reference);
    testing::Tape& tape = reference.tape();
    tape.backward(out, reference.file().tensors.at("grad.out").reshaped(tape[out].shape()));
    print_calls("reference/" + file, tape);
  }
}

}  // namespace
}  // namespace penstock::graph

int main() {
  penstock::graph::print_samples();
  penstock::graph::print_reference_cases();
}
