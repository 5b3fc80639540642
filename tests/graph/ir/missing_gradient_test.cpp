#include "graph/ir/missing_gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/network/fuse.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

const std::string only = "depends on parameters only by way of ";
const std::string in_another_way = "; let it depend on one in another way, too";
const std::string never_read =
    "the loss does not depend on, or only by ways that let no gradient back";
const std::string on_trained = "; let it depend in another way on one that is trained";

/// Returns what a refusal to train `model`, whose parameters called `names` are frozen, says of the
/// loss.
std::string refused(const ModelBuilder& model, const std::set<std::string>& names = {}) {
  const Graph graph = testing::frozen(model.graph(), names);
  const std::string text = refusal(Errc::invalid_model, [&] { differentiate(graph); });
  const std::string begin = "model \"test\": the loss ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

/// Returns what a refusal of the gradient of `value`, which is called `name`, says of it.
std::string refused_anchor(const ModelBuilder& model, ValueId value, const std::string& name,
                           const std::set<std::string>& names = {}) {
  Graph graph = testing::frozen(model.graph(), names);
  graph.gradients.push_back({.value = value, .anchor = 0});
  const std::string text = refusal(Errc::invalid_argument, [&] { differentiate(graph); });
  const std::string begin =
      "options.output.anchors[0]: expected a tensor that has a gradient, got \"" + name +
      "\", which ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

ValueId value_of(const ModelBuilder& model, const std::string& name) {
  const auto& values = model.graph().values;
  return static_cast<ValueId>(std::ranges::find(values, name, &Value::name) - values.begin());
}

/// Returns how many gradients of the value called `name` a training gives that does not train the
/// parameters called `frozen`.
std::size_t gradients(const ModelBuilder& model, const std::string& name,
                      const std::set<std::string>& frozen) {
  Graph graph = testing::frozen(model.graph(), frozen);
  graph.gradients.push_back({.value = value_of(model, name), .anchor = 0});
  return static_cast<std::size_t>(std::ranges::count(
      differentiate(graph).outputs, name + "/gradient", [](const auto& o) { return o.name; }));
}

void lose(ModelBuilder& model, ValueId value) {
  model.loss(model.apply("identity_loss", {value}));
}

TEST(MissingGradient, IsExplainedByTheOpThatLetsNoneBack) {
  ModelBuilder model;
  const auto h = model.linear("h", model.input("x", {3}), 3);
  const auto after = model.apply("tanh", {model.apply("floor", {h}, {}, "step")}, {}, "after");
  ModelBuilder of_step = model;
  lose(model, model.apply("mul", {after, h}));
  lose(of_step, after);
  const std::string text = only + "floor \"step\", which lets no gradient back" + in_another_way;
  EXPECT_EQ(refused_anchor(model, after, "after"), text);
  EXPECT_EQ(refused(of_step), text);
}

TEST(MissingGradient, IsExplainedByFrozenParameters) {
  ModelBuilder model;
  const auto first = model.linear("first", model.input("x", {3}), 3);
  const auto weight = model.graph().variables[0].value;
  ModelBuilder longer = model;
  lose(model, first);
  lose(longer, longer.linear("second", first, 3));
  const std::set<std::string> frozen{"first.weight", "first.bias"};
  const std::string text =
      "depends on no parameter that is trained: \"first.weight\" is frozen, or Objective::trains "
      "leaves it out; unfreeze() it, or add it there";
  EXPECT_EQ(refused(model, frozen), text);
  EXPECT_EQ(refused_anchor(longer, first, "first", frozen), text);
  EXPECT_EQ(refused_anchor(longer, weight, "first.weight", frozen),
            "is frozen, or Objective::trains leaves it out; unfreeze() it, or add it there");
}

// A discriminator's loss on what the frozen discriminator says of a generator's rounded output
// depends on parameters in both ways.
TEST(MissingGradient, IsExplainedByFrozenParametersBesideAnOpThatLetsNoneBack) {
  const auto text = [](bool judges, const std::set<std::string>& names) {
    ModelBuilder model;
    const auto x = model.input("x", {3});
    const auto floor = model.apply("floor", {model.linear("a", x, 3)}, {}, "floor");
    const auto sign = model.apply("sign", {model.linear("b", x, 3)}, {}, "sign");
    const auto sum = model.apply("add", {floor, sign});
    lose(model, judges ? model.linear("judge", sum, 3) : sum);
    return refused(model, names);
  };
  const std::string judge =
      ": \"judge.weight\" is frozen, or Objective::trains leaves it out; unfreeze() it, or add it "
      "there";
  EXPECT_EQ(text(true, {"judge.weight", "judge.bias"}),
            "depends on no parameter that is trained, except by way of layers such as floor "
            "\"floor\", which lets no gradient back" +
                judge);
  EXPECT_EQ(
      text(true, {"judge.weight", "judge.bias", "a.weight", "a.bias"}),
      "depends on no parameter that is trained, except by way of sign \"sign\", which lets no "
      "gradient back" +
          judge);
  EXPECT_EQ(text(true, {"judge.weight", "judge.bias", "a.weight", "a.bias", "b.weight", "b.bias"}),
            "depends on no parameter that is trained" + judge);
  EXPECT_EQ(text(false, {"a.weight", "a.bias"}),
            only + "layers such as sign \"sign\", which lets no gradient back" + in_another_way);
}

TEST(MissingGradient, OfIntegersAsksForAnotherWayToWhatIsTrained) {
  ModelBuilder model;
  const auto h = model.linear("h", model.input("x", {3}), 3);
  const auto place = model.apply("argmax", {h}, {{"axis", 1}}, "place");
  lose(model, model.apply("to_float", {place}));
  const std::string of_place = only + "argmax \"place\", whose integers have no gradient";
  EXPECT_EQ(refused(model), of_place + in_another_way);
  EXPECT_EQ(refused(model, {"h.bias"}), of_place + in_another_way);
  EXPECT_EQ(refused(model, {"h.weight", "h.bias"}), of_place + on_trained);
}

// Output 1 is integers, and through output 0 gradients go back. topk() is a sort with a count.
TEST(MissingGradient, OfTheIndicesOfASortIsThatOfIntegers) {
  for (const Attributes& attributes : {Attributes{{"axis", 1}}, {{"axis", 1}, {"count", 2}}}) {
    ModelBuilder model;
    const auto h = model.linear("h", model.input("x", {3}), 3);
    const auto values = model.apply("sort", {h}, attributes, "best");
    const Node& sort = model.graph().node(model.graph().value(values).producer);
    lose(model, model.apply("to_float", {sort.outputs[1]}));
    EXPECT_EQ(refused(model),
              only + "sort \"best\", whose integers have no gradient" + in_another_way);
  }
}

TEST(MissingGradient, AsksToTrainNothingThatAConditionDependsOn) {
  ModelBuilder model;
  const auto x = model.input("x", {3});
  const auto gate = model.linear("d", x, 3), h = model.linear("g", x, 3);
  lose(model, model.apply("where", {gate, h, x}, {}, "chosen"));
  EXPECT_EQ(refused(model, {"d.weight", "d.bias", "g.weight", "g.bias"}),
            "depends on no parameter that is trained: \"g.weight\" is frozen, or Objective::trains "
            "leaves it out; unfreeze() it, or add it there");
}

/// A Network adds nodes to a model and returns the last one's value. Its function returns the value
/// that it is given, or a constant of the same elements.
using Network = std::function<ValueId(ModelBuilder&, const std::function<ValueId(ValueId)>&)>;

ModelBuilder model_of(const Network& network, bool stops) {
  ModelBuilder model;
  lose(model, network(model, [&](ValueId value) {
         return stops ? model.apply("stop_gradient", {value}) : value;
       }));
  return model;
}

// The parameters are a, b, g and h, of which all that a network has are frozen.
TEST(MissingGradient, AsksToTrainAParameterThatCanBeTrained) {
  struct Row {
    std::string parameter;
    Network network;
  };
  const Row table[] = {
      {"h",
       [](ModelBuilder& m, const auto&) {
         const auto g = m.parameter("g", {3}), h = m.parameter("h", {3});
         return m.apply("where", {g, m.apply("mul", {g, h}), m.input("x", {3})});
       }},
      {"h",
       [](ModelBuilder& m, const auto&) {
         const auto g = m.parameter("g", {3}), h = m.parameter("h", {3}), x = m.input("x", {3});
         return m.apply("add", {m.apply("where", {g, x, x}), m.apply("add", {g, h})});
       }},
      {"h",
       [](ModelBuilder& m, const auto&) {
         const auto g = m.parameter("g", {3}), h = m.parameter("h", {3});
         return m.apply("where", {g, g, h});
       }},
      // The loss does not need the node whose condition is g.
      {"g",
       [](ModelBuilder& m, const auto&) {
         const auto g = m.parameter("g", {3}), x = m.input("x", {3});
         m.apply("where", {g, x, x});
         return m.apply("mul", {g, x});
       }},
      // The condition depends on both, and one of the branches on one of them.
      {"a",
       [](ModelBuilder& m, const auto&) {
         const auto a = m.parameter("a", {3}), b = m.parameter("b", {3}), x = m.input("x", {3});
         const auto condition = m.apply("less", {m.apply("mul", {a, x}), b});
         return m.apply("where", {condition, m.apply("add", {x, a}), x});
       }},
  };
  for (const Row& row : table) {
    const ModelBuilder model = model_of(row.network, false);
    std::set<std::string> names{"a", "b", "g", "h"};
    EXPECT_EQ(
        refused(model, names),
        "depends on no parameter that is trained: \"" + row.parameter +
            "\" is frozen, or Objective::trains leaves it out; unfreeze() it, or add it there");
    names.erase(row.parameter);
    EXPECT_EQ(differentiate(testing::frozen(model.graph(), names)).parameter_gradients.size(), 1U);
  }
}

TEST(MissingGradient, OfAParameterThatCannotBeTrainedTellsWhatToDoFirst) {
  struct Row {
    std::string parameter, lacking;
    Network network;  // Its function may be called on the input that gets no gradient.
  };
  const Row table[] = {
      {"g", "where \"where_1\" gives no gradient to its input \"g\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto g = m.parameter("g", {3});
         return m.apply("where", {stopped(g), g, m.input("x", {3})});
       }},
      {"g", "where \"where_1\" gives no gradient to its input \"g\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto g = m.parameter("g", {3}), x = m.input("x", {3});
         return m.apply("add", {m.apply("where", {stopped(g), x, x}), g});
       }},
      {"h.weight", "where \"where_1\" gives no gradient to its input \"h\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto x = m.input("x", {3}), h = m.linear("h", x, 3);
         return m.apply("add", {m.apply("where", {stopped(h), x, x}), h});
       }},
      {"b", "where \"where_1\" gives no gradient to its input \"add_1\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto a = m.parameter("a", {3}), b = m.parameter("b", {3}), x = m.input("x", {3});
         const auto condition = m.apply("add", {m.apply("mul", {a, x}), b});
         return m.apply("where", {stopped(condition), m.apply("add", {x, b}), x});
       }},
      {"b", "where \"where_2\" gives no gradient to its input \"b\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto a = m.parameter("a", {3}), b = m.parameter("b", {3});
         const auto inner = m.apply("where", {a, b, m.input("x", {3})});
         return m.apply("where", {stopped(b), inner, a});
       }},
      {"a", "to_float \"to_float_1\" gives no gradient to its input \"a\"",
       [](ModelBuilder& m, const auto& stopped) {
         const auto a = m.parameter("a", {3}), b = m.parameter("b", {3});
         const auto x = m.apply("to_float", {m.input("x", {3, 4}, DType::u8), stopped(a), b});
         return m.apply("mul",
                        {x, m.apply("reshape", {a}, {{"shape", std::vector<std::int64_t>{3, 1}}})});
       }},
  };
  for (const Row& row : table) {
    std::set<std::string> names{"a", "b", "g", "h.weight", "h.bias"};
    EXPECT_EQ(refused(model_of(row.network, false), names),
              "depends on no parameter that is trained: \"" + row.parameter +
                  "\" is frozen, or Objective::trains leaves it out, and its training would be "
                  "refused, for " +
                  row.lacking +
                  "; make a constant of that input by stop_gradient(), and unfreeze() the "
                  "parameter, or add it there");
    names.erase(row.parameter);
    const Graph followed = testing::frozen(model_of(row.network, true).graph(), names);
    EXPECT_EQ(differentiate(followed).parameter_gradients.size(), 1U);
  }
}

/// Returns a model whose loss depends on the layer h by the condition of a where() or, if `stops`
/// is true, by what stop_gradient() makes of h there. If `adds` is true, h is also added to what
/// the where() chooses.
ModelBuilder conditioned(bool stops, bool adds) {
  ModelBuilder model;
  const auto x = model.input("x", {3}), h = model.linear("h", x, 3);
  const auto condition = stops ? model.apply("stop_gradient", {h}) : h;
  const auto chosen =
      model.apply("where", {condition, model.linear("trained", x, 3), x}, {}, "chosen");
  lose(model, adds ? model.apply("add", {chosen, h}) : chosen);
  return model;
}

// The loss would need the gradient that is missing, and the value for which a host asks would not.
TEST(MissingGradient, OfAnAnchorAsksToTrainNothingOfWhichTheLossWouldHaveNoGradient) {
  const std::string text =
      "the loss depends on only by an input that gets no gradient, for where \"chosen\" gives no "
      "gradient to its input \"h\"; let the loss depend on it in another way, make a constant of "
      "that input by stop_gradient(), and unfreeze() the parameter \"h.weight\", or add it to "
      "Objective::trains";
  const ModelBuilder model = conditioned(false, false);
  const std::set<std::string> names{"h.weight", "h.bias"};
  for (const std::string name : {"h", "h.weight"})
    EXPECT_EQ(refused_anchor(model, value_of(model, name), name, names), text);
  const ModelBuilder followed = conditioned(true, true);
  for (const std::string name : {"h", "h.weight"})
    EXPECT_EQ(gradients(followed, name, {"h.bias"}), 1U) << name;
}

// The loss would need the gradient that is missing, but it depends on the value in another way.
TEST(MissingGradient, OfAnAnchorTellsWhatToDoFirst) {
  const ModelBuilder model = conditioned(false, true);
  EXPECT_EQ(refused_anchor(model, value_of(model, "h"), "h", {"h.weight", "h.bias"}),
            "depends on no parameter that is trained: \"h.weight\" is frozen, or Objective::trains "
            "leaves it out, and its training would be refused, for where \"chosen\" gives no "
            "gradient to its input \"h\"; make a constant of that input by stop_gradient(), and "
            "unfreeze() the parameter, or add it there");
  EXPECT_EQ(gradients(conditioned(true, true), "h", {"h.bias"}), 1U);
}

// The loss reads the result of the fused node, and the nodes that repeat its parts end in a twin.
TEST(MissingGradient, OfAnAnchorInsideAFusedNodeIsExplainedByFrozenParameters) {
  ModelBuilder model;
  const auto h = model.linear("h", model.input("x", {3}), 3);
  lose(model, model.linear("trained", model.apply("relu", {h}), 3));
  Graph graph = testing::frozen(model.graph(), {"h.weight", "h.bias"});
  graph.gradients.push_back({.value = h, .anchor = 0});
  const Graph fused = fuse(graph);
  EXPECT_EQ(fused.twins.size(), 1U);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { differentiate(fused); }),
            "options.output.anchors[0]: expected a tensor that has a gradient, got \"h\", which "
            "depends on no parameter that is trained: \"h.weight\" is frozen, or Objective::trains "
            "leaves it out; unfreeze() it, or add it there");
}

// Two nodes are fused here, and the loss reads the result of each in another way.
TEST(MissingGradient, OfAnAnchorInsideAFusedNodeIsJudgedByTheResultOfThatNode) {
  ModelBuilder model;
  const auto x = model.input("x", {3});
  const auto a = model.linear("a", x, 3), b = model.linear("b", x, 3);
  const auto trained = model.linear("trained", model.apply("relu", {a}), 3);
  lose(model, model.apply("where", {model.apply("relu", {b}), trained, x}, {}, "chosen"));
  const auto first_refused = [&](ValueId first, ValueId second) {
    Graph graph = testing::frozen(model.graph(), {"a.weight", "a.bias", "b.weight", "b.bias"});
    graph.gradients = {{.value = first, .anchor = 0}, {.value = second, .anchor = 1}};
    const Graph fused = fuse(graph);
    EXPECT_EQ(fused.twins.size(), 2U);
    return refusal(Errc::invalid_argument, [&] { differentiate(fused); });
  };
  EXPECT_NE(first_refused(a, b).find("\"a.weight\" is frozen"), std::string::npos);
  EXPECT_NE(first_refused(b, a).find("the loss depends on only by an input that gets no gradient"),
            std::string::npos);
}

TEST(MissingGradient, OfAnAnchorThatTheLossNeverReadsAsksToTrainNothing) {
  ModelBuilder model;
  const auto x = model.input("x", {3}), unread = model.linear("unread", x, 3);
  lose(model, model.linear("trained", x, 3));
  const std::set<std::string> names{"unread.weight", "unread.bias"};
  EXPECT_EQ(refused_anchor(model, unread, "unread", names), never_read);
  EXPECT_EQ(refused_anchor(model, value_of(model, "unread.weight"), "unread.weight", names),
            never_read);
}

// With one value per channel, the op refuses any training, which is not what is wrong here.
TEST(MissingGradient, IsExplainedByFrozenParametersOfAnOpThatRefusesToBeTrained) {
  ModelBuilder model;
  const auto x = model.input("x", {6, 1, 1});
  const auto of_channels = [&](const std::string& name) { return model.parameter(name, {6}); };
  lose(model, model.apply("batch_norm", {x, of_channels("weight"), of_channels("bias"),
                                         model.buffer("mean", {6}), model.buffer("var", {6})}));
  EXPECT_EQ(refused(model, {"weight", "bias"}),
            "depends on no parameter that is trained: \"weight\" is frozen, or Objective::trains "
            "leaves it out; unfreeze() it, or add it there");
}

TEST(MissingGradient, AsksToTrainAParameterOfAnOpThatDoesNotRefuseToBeTrained) {
  ModelBuilder model;
  const auto of_channels = [&](const std::string& name) { return model.parameter(name, {6}); };
  const auto normal = model.apply(
      "batch_norm", {model.input("x", {6, 1, 1}), of_channels("weight"), of_channels("bias"),
                     model.buffer("mean", {6}), model.buffer("var", {6})});
  lose(model, model.apply("mul", {normal, model.parameter("scale", {1, 1})}));
  EXPECT_EQ(refused(model, {"weight", "bias", "scale"}),
            "depends on no parameter that is trained: \"scale\" is frozen, or Objective::trains "
            "leaves it out; unfreeze() it, or add it there");
  const Graph followed = testing::frozen(model.graph(), {"weight", "bias"});
  EXPECT_EQ(differentiate(followed).parameter_gradients.size(), 1U);
}

TEST(MissingGradient, OfAConditionIsExplainedByTheOpThatComesFirst) {
  const auto text = [](const std::string& gate, const std::set<std::string>& names) {
    ModelBuilder model;
    const auto x = model.input("x", {3});
    const auto condition =
        gate == "compared"
            ? model.apply("less_equal", {model.parameter("t", {3}), x}, {}, "compared")
            : model.linear("gate", x, 3);
    const auto stopped =
        gate == "stopped" ? model.apply("stop_gradient", {condition}, {}, "stopped") : condition;
    lose(model, model.apply("where", {stopped, x, x}, {}, "chosen"));
    return refused(model, names);
  };
  EXPECT_EQ(text("compared", {}),
            only + "less_equal \"compared\", which lets no gradient back" + in_another_way);
  EXPECT_EQ(text("stopped", {}),
            only + "stop_gradient \"stopped\", which lets no gradient back" + in_another_way);
  EXPECT_EQ(text("frozen", {"gate.weight", "gate.bias"}),
            only + "where \"chosen\", which gives one of its inputs no gradient" + on_trained);
}

// The position of the mask among the inputs depends on whether q, k and v are one tensor.
TEST(MissingGradient, AsksToTrainNothingThatAMaskOfAttentionDependsOn) {
  for (const bool are_apart : {false, true}) {
    ModelBuilder model;
    const auto x = model.input("x", {6, 12});
    const auto mask = model.linear("gate", model.input("known", {6}), 6);
    const std::vector<ValueId> inputs =
        are_apart ? std::vector{x, x, x, mask} : std::vector{x, mask};
    lose(model, model.apply("attention", inputs, {{"key_padding_mask", 1}}, "mixed"));
    EXPECT_EQ(refused(model, {"gate.weight", "gate.bias"}),
              only + "attention \"mixed\", which gives one of its inputs no gradient" + on_trained);
  }
}

/// Returns a graph whose loss is output 0 of `op`. Input number `frozen` is a frozen parameter.
Graph graph_of(const Op& op, const OpSample& sample, std::size_t frozen) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
    inputs.push_back(static_cast<ValueId>(i));
    graph.values.push_back({.name = "input" + std::to_string(i),
                            .type = sample.inputs[i],
                            .kind = i == frozen ? ValueKind::parameter : ValueKind::input});
  }
  graph.variables.push_back({.value = inputs[frozen], .frozen = true});
  const NodeId node = append(graph, op, inputs, sample.attributes, "node");
  graph.loss = graph.node(node).outputs[0];
  return graph;
}

// An op's gradient leaves out what a sample calls constant, and buffers, which no layer makes of
// parameters.
TEST(MissingGradient, IsExplainedByAnyOpThatGivesAnInputNone) {
  for (const Op* op : all_ops()) {
    if (!op->backward || op->stops_gradient || !op->samples) continue;
    for (const OpSample& sample : op->samples())
      for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
        const auto is_it = [&](const Update& update) {
          return update.input == static_cast<int>(i);
        };
        if (sample.inputs[i].dtype != DType::f32 || std::ranges::any_of(op->updates, is_it))
          continue;
        const Graph graph = graph_of(*op, sample, i);
        const std::string text = refusal(Errc::invalid_model, [&] { differentiate(graph); });
        const bool is_constant = testing::is_constant(*op, sample, i);
        EXPECT_EQ(text.find("which gives one of its inputs no gradient") != text.npos, is_constant)
            << op->name << ", input " << i << ": " << text;
        EXPECT_EQ(text.find("unfreeze() it") != text.npos, !is_constant)
            << op->name << ", input " << i << ": " << text;
      }
  }
}

}  // namespace
}  // namespace penstock::graph
