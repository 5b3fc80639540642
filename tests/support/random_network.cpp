#include "tests/support/random_network.hpp"

#include <string>

#include "graph/ir/random.hpp"

namespace penstock::testing {
namespace {

using graph::ValueId;

constexpr std::int64_t width = 6;

/// A Network builds layers over values of the shape [N,6]. The inputs of a layer are drawn from the
/// values that exist already.
class Network {
 public:
  explicit Network(std::uint64_t seed) : seed_(seed) {
    values_.push_back(model_.input("x", {width}));
    target_ = model_.input("y", {width});
  }

  ModelBuilder build() {
    for (int block = 0; block < 4; ++block) {
      model_.block("B" + std::to_string(block));
      add(model_.linear("fc" + std::to_string(block), values_.back(), width));
      for (std::uint32_t i = 0, count = 1 + draw(5); i < count; ++i) add(next_layer());
    }
    const ValueId out = model_.apply("add", {values_.back(), pick()});
    model_.output("out", out);
    model_.loss(model_.apply("mse_loss", {out, target_}, {{"reduction", "mean"}}));
    return std::move(model_);
  }

 private:
  std::uint32_t draw(std::uint32_t limit) {
    return graph::philox({.seed = seed_}, next_++)[0] % limit;
  }
  ValueId pick() { return values_[draw(static_cast<std::uint32_t>(values_.size()))]; }
  void add(ValueId value) { values_.push_back(value); }

  /// Adds a layer and returns its value. The layer depends on the newest value, so that no block is
  /// idle; another input may be any earlier value.
  ValueId next_layer() {
    const ValueId x = values_.back();
    switch (draw(7)) {
      case 0:
        return model_.apply("relu", {x});
      case 1:
        return model_.apply("sigmoid", {x});
      case 2:
        return model_.apply("add", {x, pick()});
      case 3:
        return model_.apply("add", {x, x});
      case 4:
        return model_.apply("add", {x, target_});
      case 5:
        return model_.apply("mul", {x, model_.apply("tanh", {pick()})});
      default:
        return tied_layer();
    }
  }

  /// Adds a linear layer without bias. All layers that this function adds share one weight,
  /// whatever block they are in.
  ValueId tied_layer() {
    if (shared_ == graph::none)
      shared_ = model_.parameter("tied" + std::to_string(next_), {width, width});
    return model_.apply("linear", {model_.apply("tanh", {values_.back()}), shared_});
  }

  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  ModelBuilder model_;
  std::vector<ValueId> values_;
  ValueId target_ = graph::none;
  ValueId shared_ = graph::none;
};

}  // namespace

ModelBuilder random_network(std::uint64_t seed) {
  return Network(seed).build();
}

}  // namespace penstock::testing
