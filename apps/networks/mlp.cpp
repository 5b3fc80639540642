#include "apps/networks/mlp.hpp"

#include <string>

namespace penstock::networks {
namespace {

Value dense(Model& model, Value x, std::int64_t features) {
  return model.relu(model.linear("dense" + std::to_string(features), x, features));
}

Value layers(Model& model, Value x, std::int64_t classes) {
  x = dense(model, model.flatten(x), 256);
  x = dense(model, x, 128);
  x = dense(model, dense(model, x, 64), 32);
  return model.linear("logits", x, classes);
}

constexpr BlockStart blocks[] = {
    {"flatten_1", "B1"}, {"dense128", "B2"}, {"dense64", "B3"}, {"logits", "B4"}};

}  // namespace

const Network mlp{.name = "mlp", .layers = layers, .blocks = blocks};

}  // namespace penstock::networks
