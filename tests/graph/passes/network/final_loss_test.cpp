// F4: exactly one final loss, and what is said if there is another number of them.
#include "graph/passes/network/final_loss.hpp"

#include <gtest/gtest.h>

#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

struct Network {
  Network() {
    const ValueId x = builder.input("x", {3});
    y = builder.linear("fc", x, 3);
    target = builder.input("target", {3});
  }
  ValueId loss(const std::string& op, const std::string& name) {
    return builder.apply(op, {y, target}, {}, name);
  }
  ModelBuilder builder;
  ValueId y, target;
};

TEST(FinalLoss, IsTheOnlyOne) {
  Network network;
  const ValueId loss = network.loss("mse_loss", "m");
  EXPECT_EQ(final_loss(network.builder.graph()), loss);
}

TEST(FinalLoss, IsTheOneThatWasNamedWhateverElseIsThere) {
  Network network;
  const ValueId first = network.loss("mse_loss", "m");
  network.loss("l1_loss", "l");
  network.builder.loss(first);
  EXPECT_EQ(final_loss(network.builder.graph()), first);
}

TEST(FinalLoss, IsTheOneThatTheOthersLeadTo) {
  Network network;
  const ValueId a = network.loss("mse_loss", "m"), b = network.loss("l1_loss", "l");
  const ValueId sum = network.builder.apply("add", {a, b});
  const ValueId loss = network.builder.apply("identity_loss", {sum});
  EXPECT_EQ(final_loss(network.builder.graph()), loss);
}

TEST(FinalLoss, IsMissingWhereThereIsNone) {
  Network network;
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": has no loss, and training needs one: end in a loss such as "
            "cross_entropy, or wrap what should be minimised in identity_loss");
}

TEST(FinalLoss, IsAmbiguousWhereSeveralAreIndependent) {
  Network network;
  const ValueId upstream = network.loss("mse_loss", "m");
  network.loss("l1_loss", "l");
  network.loss("smooth_l1_loss", "s");
  network.builder.apply("identity_loss", {upstream}, {}, "i");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": has several independent losses, l1_loss \"l\", smooth_l1_loss \"s\" "
            "and identity_loss \"i\", and training minimises one: add them up and wrap the sum in "
            "identity_loss");
}

TEST(FinalLoss, IsAmbiguousWhereSomethingElseWasMadeOfTheLast) {
  Network network;
  network.builder.apply("scale", {network.loss("mse_loss", "m")}, {{"factor", 2.0}}, "twice");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": the loss mse_loss \"m\" is an input of scale \"twice\", which is no "
            "loss: wrap what should be minimised in identity_loss, or say with loss() what it is");
}

}  // namespace
}  // namespace penstock::graph
