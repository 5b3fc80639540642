#include "benchmarks/runners/benchmark_networks.hpp"

#include "apps/networks/gpt.hpp"
#include "apps/networks/mobilenet_v2.hpp"
#include "apps/networks/networks.hpp"

namespace penstock::benchmarks {
namespace {

constexpr std::int64_t steps = 49, bands = 10, channels = 64, words = 12;

/// Returns the DS-CNN of "Hello Edge" (Zhang et al.), which MLPerf Tiny uses, too: a convolution of
/// 10 steps by 4 bands, and four pairs of a depthwise and a pointwise convolution.
Model keywords() {
  Model model("keywords", 0);
  Value x = model.input("spectrum", {1, steps, bands});
  const Value word = model.labels("word");
  const auto normed = [&](const std::string& name, Value image) {
    return model.relu(model.batch_norm2d(name, image));
  };
  x = model.conv2d(
      "first", x,
      {.out_channels = channels, .kernel = {10, 4}, .stride = 2, .padding = {5, 1}, .bias = false});
  x = normed("first.norm", x);
  for (const std::string block : {"b1", "b2", "b3", "b4"}) {
    x = model.conv2d(
        block + ".each", x,
        {.out_channels = channels, .kernel = 3, .padding = 1, .groups = channels, .bias = false});
    x = normed(block + ".each.norm", x);
    x = model.conv2d(block + ".mixed", x, {.out_channels = channels, .kernel = 1, .bias = false});
    x = normed(block + ".mixed.norm", x);
  }
  x = model.linear("out", model.flatten(model.global_avg_pool2d(x)), words);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, word));
  return model;
}

/// MobileNet-v2 gets larger images than the other networks do, because it halves them five times.
constexpr networks::ImageKind mobilenet_images{
    .channels = 3, .height = 96, .width = 96, .classes = 10};

/// Returns MobileNet-v2 without its dropout, whose random numbers PyTorch draws otherwise.
Model mobilenet() {
  networks::Network network = networks::mobilenet_v2;
  network.layers = [](Model& model, Value x, std::int64_t classes) {
    return networks::mobilenet_v2_layers(model, x, classes, 0);
  };
  return network.build(mobilenet_images, 0);
}

constexpr std::int64_t lstm_steps = 64, lstm_width = 128, lstm_classes = 10;

Model lstm() {
  Model model("lstm", 0);
  const Value x = model.input("x", {lstm_steps, lstm_width}), labels = model.labels();
  const Recurrent layers = model.lstm("lstm", x, {.hidden_size = lstm_width, .layers = 2});
  const Value last = model.flatten(model.slice(layers.hidden, 1, 1, 2));
  const Value logits = model.linear("head", last, lstm_classes);
  model.output("logits", logits);
  model.loss(model.cross_entropy(logits, labels));
  return model;
}

}  // namespace

Model build_network(const std::string& name) {
  if (name == "keywords") return keywords();
  if (name == "mobilenet-v2") return mobilenet();
  if (name == "lstm") return lstm();
  if (name == "gpt") return networks::gpt({}, 0);
  if (name == "gpt-decoder") {
    Model decoder = networks::gpt_decoder({});
    networks::copy_parameters(networks::gpt({}, 0), decoder);
    return decoder;
  }
  return networks::find_network(name).build(0);
}

std::vector<InputSize> inputs_of(const std::string& name) {
  if (name == "keywords") return {{{1, steps, bands}}, {{}, words}};
  if (name == "lstm") return {{{lstm_steps, lstm_width}}, {{}, lstm_classes}};
  if (name == "gpt-decoder") return {{{1}, networks::GptOptions().vocabulary}, {{}, 1}};
  if (name == "gpt") {
    const networks::GptOptions sizes;
    return {{{sizes.context}, sizes.vocabulary}, {{sizes.context}, sizes.vocabulary}};
  }
  const networks::ImageKind& images =
      name == "mobilenet-v2" ? mobilenet_images : networks::find_network(name).images;
  return {{{images.channels, images.height, images.width}}, {{}, images.classes}};
}

}  // namespace penstock::benchmarks
