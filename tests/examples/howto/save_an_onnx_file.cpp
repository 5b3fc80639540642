// This program writes a network as a file in the ONNX format, and the layer before its last one as
// another file, whose weights are beside it. It reads the first file again.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  Model model("network");
  Value x = model.input("x", {16});
  x = model.relu(model.linear("fc1", x, 32));
  x = model.relu(model.linear("fc2", model.dropout("drop", x, 0.1), 8));
  model.output("scores", model.linear("fc3", x, 3));

  model.save_onnx("network.onnx");
  model.save_onnx("features.onnx", {.weights = OnnxWeights::beside, .outputs = {"relu_2"}});

  const Tensor samples = Tensor::zeros(DType::f32, {2, 16});
  const auto scores = [&](const Model& network) {
    return InferenceModel(network, {.batch_size = 2}).run({samples}).output("scores");
  };
  const Tensor written = scores(model), read = scores(Model::from_onnx("network.onnx"));
  for (std::size_t i = 0; i < 6; ++i)
    if (written.as<float>()[i] != read.as<float>()[i]) return 1;
  std::cout << "features.onnx has " << load_onnx_weights("features.onnx").size()
            << " weights beside it\n";
  return 0;
}
