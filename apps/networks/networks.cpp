#include "apps/networks/networks.hpp"

#include <array>
#include <string>

#include "apps/networks/cifar_cnn.hpp"
#include "apps/networks/fashion_cnn.hpp"
#include "apps/networks/mlp.hpp"
#include "apps/networks/mnist_cnn.hpp"
#include "penstock/error.hpp"

namespace penstock::networks {
namespace {

constexpr std::array networks{&cifar_cnn, &fashion_cnn, &mlp, &mnist_cnn};

std::string names() {
  std::string text;
  for (const Network* network : networks)
    text += (text.empty() ? "" : ", ") + std::string(network->name);
  return text;
}

}  // namespace

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
