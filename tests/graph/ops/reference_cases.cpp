#include "tests/graph/ops/reference_cases.hpp"

namespace penstock::graph {
namespace {

ValueId linear(ReferenceTape& tape) {
  return tape.apply("linear", {tape.in("x"), tape.in("weight"), tape.in("bias")})[0];
}

ValueId relu(ReferenceTape& tape) {
  return tape.apply("relu", {tape.in("x")})[0];
}

constexpr ReferenceCase cases[] = {
    {"linear", linear},
    {"relu", relu},
};

}  // namespace

std::span<const ReferenceCase> reference_cases() {
  return cases;
}

}  // namespace penstock::graph
