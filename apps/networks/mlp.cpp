#include "apps/networks/mlp.hpp"

#include <string>

namespace penstock::networks {
namespace {

Value dense(Model& model, Value x, std::int64_t features) {
  return model.relu(model.linear("dense" + std::to_string(features), x, features));
}

Model build(std::uint64_t seed) {
  Model model("mlp", seed);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = dense(model, model.flatten(x), 256);
  }
  {
    const auto block = model.block("B2");
    x = dense(model, x, 128);
  }
  {
    const auto block = model.block("B3");
    x = dense(model, dense(model, x, 64), 32);
  }
  const auto block = model.block("B4");
  x = model.linear("logits", x, 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

}  // namespace

const Network mlp{.name = "mlp", .build = build};

}  // namespace penstock::networks
