// These tests train random networks in random ways, and compare the results with those of one stage
// on one IPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "tests/e2e/configurations/random_graphs.hpp"
#include "tests/e2e/configurations/trained.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock::testing {
namespace {

/// Returns the number in an environment variable, which allows longer runs than the suite's, or
/// `otherwise` if the variable is not set.
std::uint32_t wanted(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

constexpr int ways = 2;

/// Returns the name of the first tensor with an element that is not finite, or an empty text.
std::string first_infinite(const Trained& trained) {
  for (const auto& [name, tensor] : trained.tensors)
    if (tensor.dtype() == DType::f32 &&
        !std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); }))
      return name;
  return "";
}

TEST(RandomGraphs, GiveFiniteNumbersAndTheBitsOfASingleStage) {
  const std::uint32_t first = wanted("PENSTOCK_TEST_FIRST_GRAPH", 0);
  const std::uint32_t count = wanted("PENSTOCK_TEST_GRAPHS", sanitized ? 10 : 150);
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const SmallNetwork network = random_graph(seed);
    Draws draws(seed);
    const Experiment experiment = draw_experiment(draws, network, false);
    SCOPED_TRACE(network.name);
    Trained reference;
    ASSERT_NO_THROW(reference = train(experiment, reference_configuration(experiment)));
    ASSERT_EQ(first_infinite(reference), "");
    for (int way = 0; way < ways; ++way) {
      Configuration configuration = draw_configuration(draws, experiment);
      SCOPED_TRACE(to_json(experiment, configuration));
      std::string found;
      ASSERT_NO_THROW(found = difference(train(experiment, configuration), reference, experiment,
                                         configuration.options));
      ASSERT_EQ(found, "");
    }
  }
}

// If a change of the draws leaves out a kind of layer, this test notices it.
TEST(RandomGraphs, HaveLayersOfEveryKindAndAreAllDifferent) {
  constexpr std::uint32_t count = 150;
  std::set<std::string_view> kinds;
  std::set<std::string> networks;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    const Model model = random_graph(seed).build({});
    std::string network;
    for (const graph::Node& node : ModelAccess::graph(model).nodes) {
      kinds.insert(node.op->name);
      network += std::string(node.op->name) + ' ' +
                 to_string(ModelAccess::graph(model).type(node.outputs[0]).shape) + '\n';
    }
    networks.insert(network);
  }
  for (const char* kind : {"cumulative_batch_norm",
                           "untracked_batch_norm",
                           "rms_norm",
                           "elu",
                           "softplus",
                           "mish",
                           "hardswish",
                           "interpolate",
                           "index_select",
                           "hardtanh",
                           "prelu",
                           "fill",
                           "add",
                           "avg_pool2d",
                           "batch_norm",
                           "concat",
                           "conv2d",
                           "cross_entropy",
                           "dropout",
                           "flatten",
                           "gelu",
                           "global_avg_pool2d",
                           "group_norm",
                           "layer_norm",
                           "leaky_relu",
                           "linear",
                           "max_pool2d",
                           "mse_loss",
                           "mul",
                           "relu",
                           "scale",
                           "sigmoid",
                           "silu",
                           "slice",
                           "smooth_l1_loss",
                           "softmax",
                           "sub",
                           "tanh"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_EQ(networks.size(), count);
}

}  // namespace
}  // namespace penstock::testing
