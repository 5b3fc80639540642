// This program writes networks as ONNX files, each with an input and what the network computes for
// it, for tools/check_exports.py.
// Usage: export_networks DIRECTORY
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "penstock/npy.hpp"
#include "penstock/penstock.hpp"

namespace {

using namespace penstock;

Tensor sines(const Shape& shape) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(std::sin(0.7f * static_cast<float>(i)));
  return {shape, std::span<const float>(elements)};
}

/// Writes NAME.onnx, and NAME.x.npy and NAME.y.npy, which are the input and the output of two
/// samples.
void write(const std::filesystem::path& directory, const std::string& name, const Model& model,
           const Tensor& x, const std::string& output, const OnnxExportOptions& options = {}) {
  const auto path = [&](const char* end) { return (directory / (name + end)).string(); };
  model.save_onnx(path(".onnx"), options);
  InferenceModel inference(model, {.batch_size = 2});
  const std::vector<Tensor> inputs(inference.inputs().size(), x);
  save_npy(path(".x.npy"), x);
  save_npy(path(".y.npy"), inference.run(inputs).output(output));
}

/// Returns a model of x [N,...] with the layers that `layers` adds.
Model model_of(const Shape& sample, const auto& layers) {
  Model model("network", 7);
  model.output("y", layers(model, model.input("x", sample)));
  return model;
}

void write_all(const std::filesystem::path& directory) {
  for (const networks::Network* network : networks::all_networks()) {
    const Shape image = network->images.shape();
    write(directory, std::string(network->name), network->build(3),
          sines({2, image[0], image[1], image[2]}), "logits");
  }
  const std::vector<std::int64_t> tokens{1, 5, 64, 0, 3, 2, 9, 33, 7, 7, 8, 60, 12, 4, 1, 0};
  write(directory, "gpt",
        networks::gpt({.layers = 2, .heads = 2, .width = 16, .context = 8, .dropout = 0.1}, 3),
        Tensor({2, 8}, std::span<const std::int64_t>(tokens)), "logits");
  const auto write_layers = [&](const std::string& name, const Shape& sample, const auto& layers,
                                const OnnxExportOptions& options = {}) {
    std::vector<std::int64_t> dims{2};
    dims.insert(dims.end(), sample.begin(), sample.end());
    write(directory, name, model_of(sample, layers), sines(Shape(dims)), "y", options);
  };
  // OpenCV takes the last of three axes for the colours of an image, so that there are four, and
  // wants to know the number of samples to go back to three.
  const auto lstm = [](Model& model, Value x) {
    x = model.reshape(x, {6, 3});
    const Recurrent all =
        model.lstm("lstm", x, {.hidden_size = 4, .layers = 2, .bidirectional = true});
    return model.linear("head", model.flatten(all.output), 5);
  };
  write_layers("lstm", {1, 6, 3}, lstm, {.batch_size = 2});
  write_layers("gru", {6, 3}, [](Model& model, const Value& x) {
    return model.gru("gru", x, {.hidden_size = 4, .layers = 2}).output;
  });
  write_layers("rnn", {6, 3}, [](Model& model, const Value& x) {
    return model.rnn("rnn", x, {.hidden_size = 4, .nonlinearity = Nonlinearity::relu}).output;
  });
  write_layers("encoder", {6, 8}, [](Model& model, const Value& x) {
    return model.transformer_encoder_layer("layer", x, {.heads = 2, .dim_feedforward = 16});
  });
  write_layers("upsampling", {3, 4, 5}, [](Model& model, Value x) {
    x = model.conv_transpose2d("up", x, {.out_channels = 4, .kernel = 3, .stride = 2});
    x = model.gelu(model.interpolate(x, {.scale_factor = {2, 2}, .mode = InterpolateMode::linear}));
    return model.silu(model.group_norm("norm", model.pad(x, {1, 2, 0, 1}), 2));
  });
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: export_networks DIRECTORY\n", stderr);
    return 2;
  }
  write_all(arguments[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "export_networks: %s\n", error.what());
  return 1;
}
