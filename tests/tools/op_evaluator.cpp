// This program computes the op cases of the safetensors file IN, whose metadata describes the cases
// by name (see tests/support/op_case.hpp), and writes their results to the safetensors file OUT. If
// an op refuses its inputs, OUT has the reason in its metadata, under the name of the case.
// Usage: op_evaluator IN OUT
#include <cstdio>
#include <exception>

#include "engine/files/weights_file.hpp"
#include "penstock/error.hpp"
#include "tests/support/op_case.hpp"

namespace {

penstock::WeightsFile computed(const penstock::WeightsFile& cases) {
  penstock::WeightsFile results;
  for (const auto& [name, description] : cases.metadata) try {
      results.tensors.merge(penstock::testing::compute_op_case(name, description, cases.tensors));
    } catch (const penstock::Error& refusal) {
      results.metadata[name] = refusal.what();
    }
  return results;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fputs("usage: op_evaluator IN OUT\n", stderr);
    return 2;
  }
  penstock::write_weights_file(arguments[2], computed(penstock::read_weights_file(arguments[1])));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "op_evaluator: %s\n", error.what());
  return 1;
}
