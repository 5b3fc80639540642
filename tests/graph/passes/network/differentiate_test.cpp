#include "graph/passes/network/differentiate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/op.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::frozen;
using testing::ModelBuilder;
using testing::refusal;

std::vector<Node> nodes_of(const Graph& graph, std::string_view op) {
  std::vector<Node> found;
  for (const Node& node : graph.nodes)
    if (node.op->name == op) found.push_back(node);
  return found;
}

const Node& producer(const Graph& graph, ValueId value) {
  return graph.node(graph.value(value).producer);
}

TEST(Differentiate, SumsTheGradientsOfAValueFromTheLastUseToTheFirst) {
  ModelBuilder model;
  const auto h = model.linear("fc", model.input("x", {3}), 3);
  const auto a = model.apply("relu", {h}, {}, "a"), b = model.apply("tanh", {h}, {}, "b"),
             c = model.apply("sigmoid", {h}, {}, "c");
  model.loss(model.apply("add", {model.apply("add", {a, b}), c}));

  const Graph graph = differentiate(model.graph());
  const auto sums = nodes_of(graph, "add");
  ASSERT_EQ(sums.size(), 4u) << "two of the model, two of its gradient";
  EXPECT_EQ(producer(graph, sums[2].inputs[0]).name, "c/sigmoid_gradient");
  EXPECT_EQ(producer(graph, sums[2].inputs[1]).name, "b/tanh_gradient");
  EXPECT_EQ(sums[3].inputs[0], sums[2].outputs[0]);
  EXPECT_EQ(producer(graph, sums[3].inputs[1]).name, "a/relu_gradient");
  EXPECT_EQ(graph.node(sums[2].forward_of).name, "fc") << "belongs to the value's producer";
}

TEST(Differentiate, KeepsTheGradientsOfAParametersUsesApart) {
  ModelBuilder model;
  const auto x = model.input("x", {3});
  const auto second = model.parameter("second", {3, 3}), first = model.parameter("first", {3, 3});
  const auto h = model.apply("linear", {x, first}, {}, "use1");
  const auto g = model.apply("linear", {h, second}, {}, "use2");
  model.loss(model.apply("linear", {g, first}, {}, "use3"));

  const Graph graph = differentiate(model.graph());
  std::vector<std::string> uses;
  for (const ParameterGradient& gradient : graph.parameter_gradients) {
    uses.push_back(graph.value(gradient.parameter).name + " in " + graph.node(gradient.use).name);
    EXPECT_EQ(graph.value(gradient.sum).kind, ValueKind::accumulator);
    EXPECT_EQ(graph.type(gradient.sum), graph.type(gradient.parameter));
  }
  EXPECT_EQ(uses, (std::vector<std::string>{"second in use2", "first in use1", "first in use3"}))
      << "in model order";
  EXPECT_EQ(nodes_of(graph, "accumulate").size(), 3u);
  EXPECT_TRUE(nodes_of(graph, "add").empty());
}

TEST(Differentiate, GoesNowhereThatHasNoParameterBehindIt) {
  ModelBuilder model;
  const auto x = model.apply("relu", {model.input("x", {3})});
  const auto h = model.apply("tanh", {model.linear("fc1", x, 3)});
  model.loss(model.linear("fc2", h, 2));

  const Graph graph = differentiate(model.graph());
  EXPECT_TRUE(nodes_of(graph, "relu_gradient").empty());
  ASSERT_EQ(nodes_of(graph, "linear_input_gradient").size(), 1u);
  EXPECT_EQ(nodes_of(graph, "linear_input_gradient")[0].name, "fc2/linear_input_gradient");
}

TEST(Differentiate, GivesNoSumToAParameterThatTheLossDoesNotDependOn) {
  ModelBuilder model;
  const auto x = model.input("x", {3});
  model.output("aside", model.linear("aside", x, 3));
  model.loss(model.linear("fc", x, 3));
  const auto gradients = differentiate(model.graph()).parameter_gradients;
  EXPECT_EQ(gradients.size(), 2U);
  for (const ParameterGradient& gradient : gradients)
    EXPECT_EQ(model.graph().value(gradient.parameter).name.substr(0, 3), "fc.");
}

TEST(Differentiate, StartsFromOnesOfTheLosssShape) {
  ModelBuilder model;
  model.loss(model.linear("fc", model.input("x", {3}), 2));
  const Graph graph = differentiate(with_batch(model.graph(), 5));
  const auto seeds = nodes_of(graph, "fill");
  ASSERT_EQ(seeds.size(), 1u);
  EXPECT_EQ(graph.type(seeds[0].outputs[0]).shape, (Shape{5, 2}));
  EXPECT_EQ(seeds[0].attributes.real("value"), 1);
  EXPECT_TRUE(seeds[0].attributes.flag("loss_scaled"));
}

TEST(Differentiate, PutsBackwardNodesIntoTheBlockWhoseGradientTheyServe) {
  ModelBuilder model;
  model.block("B1");
  const auto h = model.linear("fc1", model.input("x", {3}), 3);
  model.block("B2");
  model.loss(model.linear("fc2", h, 2));
  std::size_t in_blocks[] = {0, 0};
  for (const Node& node : differentiate(model.graph()).nodes) {
    const BlockId block = node.name.starts_with("fc1") ? 0 : 1;
    EXPECT_EQ(node.block, block) << node.name;
    ++in_blocks[static_cast<std::size_t>(block)];
  }
  for (const std::size_t nodes : in_blocks) EXPECT_GT(nodes, 1U) << "no backward node";
}

/// Returns the differentiated graph of a model if the host asks for the gradient of `wanted`.
Graph anchored(const ModelBuilder& model, ValueId wanted) {
  Graph graph = model.graph();
  graph.gradients.push_back({.value = wanted, .anchor = 0});
  return differentiate(std::move(graph));
}

TEST(Differentiate, NamesEachSumOfAnAnchorOfUsesByOneNodeOnce) {
  ModelBuilder model;
  const auto w = model.parameter("w", {3});
  const auto x = model.apply("mul", {model.input("x", {3}), w}, {}, "first");
  const auto all = model.apply("concat", {w, w, w, w}, {{"axis", 0}}, "all");
  const auto loss =
      model.apply("add", {model.apply("identity_loss", {x}), model.apply("identity_loss", {all})});
  model.loss(loss);
  const Graph graph = anchored(model, w);
  std::vector<std::string> names;
  for (const Node& node : nodes_of(graph, "add"))
    if (node.backward) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"all/anchor0/add", "all/anchor0/add_2",
                                             "all/anchor0/add_3", "first/anchor0/add"}));
  EXPECT_EQ(graph.outputs.back().name, "w/gradient");
  EXPECT_EQ(producer(graph, graph.outputs.back().value).name, "first/anchor0/add");
}

TEST(Differentiate, LeavesLayersTheNamesThatItWouldGive) {
  ModelBuilder model;
  const auto w = model.parameter("w", {3});
  const auto h = model.apply("mul", {model.input("x", {3}), w}, {}, "a");
  const auto taken =
      model.apply("relu", {model.apply("tanh", {h}, {}, "b")}, {}, "b/tanh_gradient");
  model.loss(model.apply("identity_loss", {taken}));
  const auto gradients = nodes_of(differentiate(model.graph()), "tanh_gradient");
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0].name, "b/tanh_gradient_2");
}

/// Returns a chain of `layers` layers, each with a non-linearity behind it.
Graph chain(int layers) {
  ModelBuilder model;
  auto x = model.input("x", {2});
  for (int layer = 0; layer < layers; ++layer)
    x = model.apply("relu", {model.linear("fc" + std::to_string(layer), x, 2)}, {},
                    "relu" + std::to_string(layer));
  model.loss(model.apply("identity_loss", {x}));
  return model.graph();
}

TEST(Differentiate, GivesEveryNodeAndValueANameOfItsOwn) {
  const Graph graph = differentiate(chain(50));
  std::set<std::string> names;
  for (const Node& node : graph.nodes) {
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
    EXPECT_EQ(graph.value(node.outputs[0]).name, node.name);
  }
}

TEST(Differentiate, SaysWhyAnAnchorHasNoGradient) {
  ModelBuilder model;
  const auto before = model.apply("tanh", {model.input("x", {3})}, {}, "before");
  const auto fc = model.linear("fc", before, 3), aside = model.linear("aside", before, 3);
  model.loss(model.apply("identity_loss", {fc}));
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { anchored(model, before); }),
            "options.output.anchors[0]: expected a tensor that has a gradient, got \"before\", "
            "which does not depend on any parameter");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { anchored(model, aside); }),
            "options.output.anchors[0]: expected what the loss depends on, got \"aside\"");
}

std::vector<std::string> backward_ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes)
    if (node.backward) ops.emplace_back(node.op->name);
  return ops;
}

TEST(Differentiate, StopsAtTheFirstParameterThatIsNotFrozen) {
  const Graph graph = differentiate(
      frozen(chain(3), {"fc0.weight", "fc0.bias", "fc1.weight", "fc1.bias", "fc2.weight"}));
  ASSERT_EQ(graph.parameter_gradients.size(), 1u);
  EXPECT_EQ(graph.value(graph.parameter_gradients[0].parameter).name, "fc2.bias");
  for (const Node& node : graph.nodes) {
    if (!node.backward) continue;
    EXPECT_NE(graph.node(node.forward_of).name, "relu1") << node.name;
    EXPECT_NE(node.op->name, "linear_input_gradient") << node.name;
  }
}

TEST(Differentiate, GoesThroughFrozenLayersToOthers) {
  const Graph graph = differentiate(frozen(chain(3), {"fc1.weight", "fc1.bias"}));
  std::vector<std::string> trained;
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    trained.push_back(graph.value(gradient.parameter).name);
  EXPECT_EQ(trained,
            (std::vector<std::string>{"fc0.weight", "fc0.bias", "fc2.weight", "fc2.bias"}));
}

TEST(Differentiate, StopsAtAnOpThatStopsGradients) {
  ModelBuilder model;
  const auto before = model.linear("before", model.input("x", {3}), 3);
  const auto stopped = model.apply("stop_gradient", {before}, {}, "stopped");
  model.loss(model.apply("identity_loss", {model.linear("behind", stopped, 2)}));
  const Graph graph = differentiate(model.graph());
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    EXPECT_EQ(graph.node(gradient.use).name, "behind");
  EXPECT_EQ(graph.parameter_gradients.size(), 2u);
  EXPECT_EQ(std::ranges::count(backward_ops(graph), "linear_input_gradient"), 0);
}

TEST(Differentiate, TakesFunctionsWithStepsForConstants) {
  for (const std::string op : {"floor", "ceil", "round", "sign", "equal", "less", "less_equal"}) {
    ModelBuilder model;
    const auto x = model.input("x", {3});
    const auto h = model.linear("h", x, 3);
    std::vector<ValueId> inputs{h};
    if (op == "equal" || op.starts_with("less")) inputs.push_back(x);
    const auto step = model.apply(op, inputs, {}, "step");
    model.loss(model.apply("identity_loss", {model.apply("mul", {step, h})}));
    const Graph graph = differentiate(model.graph());
    EXPECT_EQ(graph.parameter_gradients.size(), 2U) << op;
    EXPECT_EQ(std::ranges::count(backward_ops(graph), "mul"), 1) << op << " has a gradient";
  }
}

TEST(Differentiate, RefusesAConditionThatDependsOnWhatIsTrained) {
  const auto build = [](const std::string& kind) {
    ModelBuilder model;
    const auto x = model.input("x", {3});
    const auto h = model.linear("h", x, 3);
    const auto condition = kind == "trained"   ? model.apply("sigmoid", {h}, {}, "gate")
                           : kind == "stopped" ? model.apply("stop_gradient", {h})
                                               : model.apply("less", {x, h});
    model.loss(model.apply(
        "identity_loss",
        {model.apply("where", {condition, h, model.apply("floor", {h})}, {}, "chosen")}));
    return model.graph();
  };
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { differentiate(build("trained")); }),
            "model \"test\": where \"chosen\": gives no gradient to its input \"gate\", which "
            "depends on a "
            "parameter that is trained; stop_gradient() makes a constant of it");
  EXPECT_EQ(differentiate(build("stopped")).parameter_gradients.size(), 2U);
  EXPECT_EQ(differentiate(build("compared")).parameter_gradients.size(), 2U);
}

TEST(Differentiate, RefusesAnInputThatAnOpGivesNoGradient) {
  const auto build = [](const std::string& kind) {
    ModelBuilder model;
    const auto x = model.input("x", {3});
    const auto h = model.linear("h", x, 3);
    const auto target = kind == "constant"  ? x
                        : kind == "stopped" ? model.apply("stop_gradient", {h})
                                            : h;
    model.loss(model.apply("hinge_embedding_loss", {model.linear("y", x, 3), target}, {}, "loss"));
    return model.graph();
  };
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { differentiate(build("trained")); }),
            "model \"test\": hinge_embedding_loss \"loss\": gives no gradient to its input \"h\", "
            "which depends on "
            "a parameter that is trained; stop_gradient() makes a constant of it");
  EXPECT_EQ(differentiate(build("constant")).parameter_gradients.size(), 2U);
  EXPECT_EQ(differentiate(build("stopped")).parameter_gradients.size(), 2U);
}

// This follows what the refusal of a condition on which alone the loss depends advises.
TEST(Differentiate, TakesAConstantConditionBesideAnotherWayToWhatIsTrained) {
  ModelBuilder model;
  const auto x = model.input("x", {3}), h = model.linear("h", x, 3);
  const auto condition = model.apply("stop_gradient", {h});
  const auto chosen = model.apply("where", {condition, x, model.apply("tanh", {x})});
  model.loss(model.apply("identity_loss", {model.apply("add", {chosen, h})}));
  EXPECT_EQ(differentiate(model.graph()).parameter_gradients.size(), 2U);
}

TEST(Differentiate, NamesTheModelOfAnOpThatRefusesToBeTrained) {
  ModelBuilder model;
  const auto x = model.input("x", {6, 1, 1});
  const auto weight = model.parameter("weight", {6}), bias = model.parameter("bias", {6});
  const auto normal = model.apply(
      "batch_norm", {x, weight, bias, model.buffer("mean", {6}), model.buffer("var", {6})}, {},
      "norm");
  model.loss(model.apply("identity_loss", {normal}));
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { differentiate(model.graph()); }),
      "model \"test\": batch_norm \"norm\": expected more than one value per channel to train "
      "on, got f32[1,6,1,1]");
}

struct Refusal {
  const char* name;
  void (*build)(ModelBuilder&);
  const char* text;
};

const Refusal refusals[] = {
    {"LossThatIsAnInput", [](ModelBuilder& model) { model.loss(model.input("x", {3})); },
     "model \"test\": the loss is not computed by any layer"},
    {"LossWithoutParameters",
     [](ModelBuilder& model) { model.loss(model.apply("relu", {model.input("x", {3})})); },
     "model \"test\": the loss does not depend on any parameter"},
    {"OpWithoutGradient",
     [](ModelBuilder& model) {
       const auto h = model.linear("fc", model.input("x", {3}), 3);
       model.loss(model.apply("relu_gradient", {h, h}, {}, "kink"));
     },
     "model \"test\": relu_gradient \"kink\": gives no gradient to its input \"fc\", which depends "
     "on a parameter that is trained; let the loss depend on it in another way, and make a "
     "constant "
     "of this input by stop_gradient()"},
    {"ConditionOnWhichAloneTheLossDepends",
     [](ModelBuilder& model) {
       const auto x = model.input("x", {3}), h = model.linear("fc", x, 3);
       const auto chosen = model.apply("where", {h, x, model.apply("tanh", {x})}, {}, "chosen");
       model.loss(model.apply("identity_loss", {chosen}));
     },
     "model \"test\": where \"chosen\": gives no gradient to its input \"fc\", which depends on a "
     "parameter that is trained; let the loss depend on it in another way, and make a constant of "
     "this input by stop_gradient()"},
    {"ParametersThatGetNoGradient",
     [](ModelBuilder& model) {
       const auto x = model.input("x", {3, 4}, DType::u8);
       const auto mean = model.parameter("mean", {3}), std = model.parameter("std", {3});
       model.loss(model.apply("identity_loss", {model.apply("to_float", {x, mean, std})}));
     },
     "model \"test\": to_float \"to_float_1\": gives no gradient to its input \"mean\", which is a "
     "parameter that is trained; let the loss depend on it in another way, and make a constant of "
     "this input by stop_gradient()"},
    {"ParameterOnWhichTheLossDependsInAnotherWay",
     [](ModelBuilder& model) {
       const auto p = model.parameter("p", {3});
       const auto chosen = model.apply("where", {p, p, model.input("x", {3})}, {}, "chosen");
       model.loss(model.apply("identity_loss", {chosen}));
     },
     "model \"test\": where \"chosen\": gives no gradient to its input \"p\", which is a parameter "
     "that is trained; make a constant of it by stop_gradient()"},
    {"ParameterThatGetsNoGradient",
     [](ModelBuilder& model) {
       const auto x = model.input("x", {3, 4}, DType::u8);
       const auto mean = model.parameter("mean", {3}), std = model.parameter("std", {3});
       const auto normal = model.apply("to_float", {x, mean, std});
       const auto scale = model.parameter("scale", {3, 4});
       model.loss(model.apply("identity_loss", {model.apply("mul", {normal, scale})}));
     },
     "model \"test\": to_float \"to_float_1\": gives no gradient to its input \"mean\", which is a "
     "parameter that is trained; freeze it, or make a constant of it by stop_gradient()"},
};

class DifferentiateRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(DifferentiateRefuses, ModelsWithoutGradients) {
  ModelBuilder model;
  GetParam().build(model);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { differentiate(model.graph()); }), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Models, DifferentiateRefuses, ::testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock::graph
