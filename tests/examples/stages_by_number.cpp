// This program assigns layers to stages by number, as in Keras for IPU: in scopes while the model
// is written, or afterwards by naming the layer after which the finished model is cut.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

/// Adds a dense layer over the last axis of [N,rows,columns], which is held as [N,columns,rows,1].
/// The layer has the same weights for every row, so it is a convolution with a kernel of one cell.
Value dense(Model& model, const char* name, Value x, std::int64_t units) {
  return model.conv2d(name, x, {.out_channels = units, .kernel = 1});
}

Value rows_first(Model& model, Value x) {
  return model.reshape(model.transpose(x, {0, 2, 1}), {28, 28, 1});
}

Model with_scopes() {
  Model model("with scopes");
  Value x = model.input("x", {28, 28});
  {
    const auto stage = model.pipeline_stage(0);
    x = dense(model, "dense8", rows_first(model, x), 8);
    x = dense(model, "dense16", x, 16);
  }
  {
    const auto stage = model.pipeline_stage(1);
    x = dense(model, "again16", x, 16);
    model.output("y", dense(model, "dense1", x, 1));
  }
  return model;
}

Model without_scopes() {
  Model model("without scopes");
  Value x = rows_first(model, model.input("x", {28, 28}));
  x = dense(model, "dense16", dense(model, "dense8", x, 8), 16);
  model.output("y", dense(model, "dense1", dense(model, "again16", x, 16), 1));
  return model;
}

// F8 of docs/reference.md: two stages by scopes compute the same as two stages by splitting a
// finished model.
int main() {
  Model first = with_scopes(), second = without_scopes();
  second.set_stage_assignment(split_after(second.stage_assignment(), "dense16"));
  std::cout << to_string(second.stage_assignment()) << to_json(second.stage_assignment()) << '\n';

  const std::vector<Tensor> ones{Tensor({1, 28, 28}, std::vector<float>(28 * 28, 1.0f))};
  float sums[2] = {};
  for (int i = 0; i < 2; ++i) {
    InferenceModel inference(i == 0 ? first : second, {});
    std::cout << inference.compile_report().stages.size() << " stages\n";
    const Tensor y = inference.run(ones).output("y");
    for (const float value : y.as<float>()) sums[i] += value;
  }
  std::cout << "both compute " << sums[0] << '\n';
  return sums[0] == sums[1] ? 0 : 1;
}
