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

/// "mul" from "mul_broadcast".
ValueId broadcast(ReferenceTape& tape) {
  const std::string& file = tape.text("op");
  return tape.apply(file.substr(0, file.find('_')), {tape.in("a"), tape.in("b")})[0];
}

ValueId mse_loss(ReferenceTape& tape) {
  return tape.apply("mse_loss", {tape.in("x"), tape.in("target")},
                    {{"reduction", tape.text("reduction")}})[0];
}

ValueId nll_loss(ReferenceTape& tape) {
  const auto log_probabilities = tape.apply("log_softmax", {tape.in("x")});
  return tape.apply("nll_loss", {log_probabilities[0], tape.in("labels")},
                    {{"reduction", tape.text("reduction")}})[0];
}

ValueId cross_entropy(ReferenceTape& tape) {
  const bool smoothed = tape.file().metadata.contains("label_smoothing");
  return tape.apply("cross_entropy", {tape.in("x"), tape.in("labels")},
                    {{"reduction", tape.text("reduction")},
                     {"label_smoothing", smoothed ? tape.real("label_smoothing") : 0.0}})[0];
}

constexpr ReferenceCase cases[] = {
    {"add_broadcast", broadcast},
    {"avg_pool2d_k2", avg_pool2d},
    {"conv2d_depthwise", conv2d},
    {"conv2d_dil2_groups2", conv2d},
    {"conv2d_k1_s2", conv2d},
    {"conv2d_k3_s2_p1", conv2d},
    {"conv2d_k5", conv2d},
    {"conv2d_k5_c10", conv2d},
    {"conv2d_k7_s2_p3", conv2d},
    {"cross_entropy_label_smoothing", cross_entropy},
    {"cross_entropy_mean", cross_entropy},
    {"cross_entropy_sum", cross_entropy},
    {"gelu", unary},
    {"global_avg_pool2d", unary},
    {"leaky_relu", leaky_relu},
    {"linear", linear},
    {"log_softmax", along_axis},
    {"matmul_batched", matmul},
    {"max_pool2d_2", max_pool2d},
    {"max_pool2d_k3_s2_p1", max_pool2d},
    {"mse_loss", mse_loss},
    {"mul_broadcast", broadcast},
    {"nll_loss_mean", nll_loss},
    {"nll_loss_sum", nll_loss},
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
