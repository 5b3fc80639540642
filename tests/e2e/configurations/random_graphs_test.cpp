// These tests train random networks in random ways, and compare the results with those of one stage
// on one IPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>
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

constexpr const char* layers_of_every_kind =
    "abs add amax argmax attention attention_dropout avg_pool2d batch_norm clamp concat conv2d "
    "conv_transpose2d cross_entropy cumsum cumulative_batch_norm div dropout elu fill flatten "
    "gather gelu global_avg_pool2d group_norm gru hardswish hardtanh index_select interpolate "
    "layer_norm leaky_relu less linear logsumexp lstm matmul max_pool2d maximum mean minimum mish "
    "mse_loss mul pad pow prelu relu reshape rms_norm rnn rotary_embedding scale sigmoid silu "
    "slice smooth_l1_loss softmax softplus sort sqrt squeeze stop_gradient sub sum tanh transpose "
    "unsqueeze untracked_batch_norm vector_norm where";

// If a change of the draws leaves out an op, this test notices it.
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
  std::istringstream expected(layers_of_every_kind);
  for (std::string kind; expected >> kind;) EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_EQ(networks.size(), count);
}

}  // namespace
}  // namespace penstock::testing
