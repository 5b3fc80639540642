#include "apps/networks/networks.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "apps/networks/cifar_cnn.hpp"
#include "apps/networks/fashion_cnn.hpp"
#include "apps/networks/mlp.hpp"
#include "apps/networks/mnist_cnn.hpp"
#include "apps/networks/mobilenet_v2.hpp"
#include "apps/networks/resnet.hpp"
#include "penstock/error.hpp"

namespace penstock::networks {
namespace {

constexpr std::array networks{&cifar_cnn,    &fashion_cnn, &mlp,     &mnist_cnn,
                              &mobilenet_v2, &resnet18,    &resnet50};

std::string names() {
  std::string text;
  for (const Network* network : networks)
    text += (text.empty() ? "" : ", ") + std::string(network->name);
  return text;
}

void check_kind(const Network& network, const ImageKind& kind) {
  const bool is_possible = std::min({kind.channels, kind.height, kind.width, kind.classes}) >= 1;
  if (is_possible && (network.takes_all_images || kind == network.images)) return;
  const std::string expected = network.takes_all_images
                                   ? "images of one pixel and one class or more"
                                   : "images " + to_string(network.images);
  throw Error(Errc::invalid_argument,
              std::string(network.name) + ": expected " + expected + ", got " + to_string(kind));
}

}  // namespace

std::string to_string(const ImageKind& kind) {
  return '[' + std::to_string(kind.channels) + ',' + std::to_string(kind.height) + ',' +
         std::to_string(kind.width) + "] in " + std::to_string(kind.classes) + " classes";
}

Model Network::build(const ImageKind& kind, std::uint64_t seed) const {
  check_kind(*this, kind);
  Model model(std::string(name), seed);
  const Value image = model.input("image", kind.shape());
  const Value labels = model.labels();
  const Value logits = layers(model, image, kind.classes);
  model.output("logits", logits);
  model.loss(loss ? loss(model, logits, labels) : model.cross_entropy(logits, labels));
  for (const auto& [layer, block] : blocks) model.begin_block_at(layer, block);
  return model;
}

const Network& find_network(std::string_view name) {
  for (const Network* network : networks)
    if (network->name == name) return *network;
  throw Error(Errc::invalid_argument,
              "there is no network named \"" + std::string(name) + "\"; there are " + names());
}

std::span<const Network* const> all_networks() {
  return networks;
}

}  // namespace penstock::networks
