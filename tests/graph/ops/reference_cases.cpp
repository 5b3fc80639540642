#include "tests/graph/ops/reference_cases.hpp"

namespace penstock::graph {
namespace {

ValueId conv2d(ReferenceTape& tape) {
  return tape.apply("conv2d", {tape.in("x"), tape.in("weight"), tape.in("bias")},
                    {{"stride", tape.integer("stride")},
                     {"padding", tape.integer("padding")},
                     {"dilation", tape.integer("dilation")},
                     {"groups", tape.integer("groups")}})[0];
}

ValueId linear(ReferenceTape& tape) {
  return tape.apply("linear", {tape.in("x"), tape.in("weight"), tape.in("bias")})[0];
}

/// The op that has the file's name, of one input, without attributes.
ValueId unary(ReferenceTape& tape) {
  return tape.apply(tape.text("op"), {tape.in("x")})[0];
}

ValueId leaky_relu(ReferenceTape& tape) {
  return tape.apply("leaky_relu", {tape.in("x")},
                    {{"negative_slope", tape.real("negative_slope")}})[0];
}

ValueId along_axis(ReferenceTape& tape) {
  return tape.apply(tape.text("op"), {tape.in("x")}, {{"axis", tape.integer("dim")}})[0];
}

ValueId avg_pool2d(ReferenceTape& tape) {
  return tape.apply("avg_pool2d", {tape.in("x")},
                    {{"kernel", tape.integer("kernel")}, {"stride", tape.integer("stride")}})[0];
}

ValueId max_pool2d(ReferenceTape& tape) {
  return tape.apply("max_pool2d", {tape.in("x")},
                    {{"kernel", tape.integer("kernel")},
                     {"stride", tape.integer("stride")},
                     {"padding", tape.integer("padding")}})[0];
}

ValueId matmul(ReferenceTape& tape) {
  return tape.apply("matmul", {tape.in("a"), tape.in("b")})[0];
}

constexpr ReferenceCase cases[] = {
    {"avg_pool2d_k2", avg_pool2d},
    {"conv2d_depthwise", conv2d},
    {"conv2d_dil2_groups2", conv2d},
    {"conv2d_k1_s2", conv2d},
    {"conv2d_k3_s2_p1", conv2d},
    {"conv2d_k5", conv2d},
    {"conv2d_k5_c10", conv2d},
    {"conv2d_k7_s2_p3", conv2d},
    {"gelu", unary},
    {"global_avg_pool2d", unary},
    {"leaky_relu", leaky_relu},
    {"linear", linear},
    {"log_softmax", along_axis},
    {"matmul_batched", matmul},
    {"max_pool2d_2", max_pool2d},
    {"max_pool2d_k3_s2_p1", max_pool2d},
    {"relu", unary},
    {"sigmoid", unary},
    {"silu", unary},
    {"softmax", along_axis},
    {"tanh", unary},
};

}  // namespace

std::span<const ReferenceCase> reference_cases() {
  return cases;
}

}  // namespace penstock::graph
