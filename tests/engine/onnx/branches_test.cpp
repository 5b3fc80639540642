#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns a file that computes relu(x·w) if x has `columns` columns, and x + b otherwise.
OnnxBytes branching(std::int64_t columns) {
  OnnxBytes then_branch, else_branch;
  then_branch.node({"MatMul", {"x", "w"}, {"product"}}).node({"Relu", {"product"}, {"then_y"}});
  then_branch.output("then_y");
  else_branch.initializer("b", counted({4})).node({"Add", {"x", "b"}, {"else_y"}}).output("else_y");
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").initializer("w", counted({4, 4}));
  bytes.initializer("one", integers({1})).initializer("columns", integers({columns}));
  bytes.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "one"}, {"size"}});
  bytes.node({"Equal", {"size", "columns"}, {"is_so"}});
  bytes.node({"If",
              {"is_so"},
              {"y"},
              {{"then_branch", then_branch.graph()}, {"else_branch", else_branch.graph()}},
              "/choice/If"});
  return bytes;
}

TEST(Branches, AreTakenWhereTheConditionIsKnown) {
  const Tensor x = counted({3, 4}, 0.7f);
  OnnxBytes product, sum;
  product.input("x", {"batch", 4}).output("y").initializer("w", counted({4, 4}));
  product.node({"MatMul", {"x", "w"}, {"p"}}).node({"Relu", {"p"}, {"y"}});
  sum.input("x", {"batch", 4}).output("y").initializer("b", counted({4}));
  sum.node({"Add", {"x", "b"}, {"y"}});
  EXPECT_TRUE(
      same_bits(outputs(imported(branching(4).file()), x), outputs(imported(product.file()), x)));
  EXPECT_TRUE(
      same_bits(outputs(imported(branching(5).file()), x), outputs(imported(sum.file()), x)));
}

TEST(Branches, HaveParametersOfTheirOwn) {
  const Model model = imported(branching(5).file());
  ASSERT_EQ(model.parameters().size(), 1u);
  EXPECT_EQ(model.parameters()[0].name, "b");
  EXPECT_TRUE(model.parameters()[0].trainable);
}

TEST(Branches, AreTakenByConditionsThatTheOptionsGive) {
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}}).output("r");
  OnnxBytes bytes;
  bytes.input("x", {1, 4}).input("c", {}, DType::boolean).output("y");
  bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
  const bool yes[] = {true}, no[] = {false};
  const auto given = [](const bool(&condition)[1]) {
    return OnnxOptions{.inputs = {{"c", Tensor({}, std::span(condition))}}};
  };
  EXPECT_EQ(outputs(imported(bytes.file(), given(yes)), counted({2, 4})).shape(), Shape({2, 4}));
  EXPECT_EQ(refused(Errc::corrupt_file, bytes.file(), given(no)),
            "If \"choice\": expected a graph as else_branch");
}

TEST(Branches, AreTakenByConditionsThatTheOptionsGiveForAnyNumberOfSamples) {
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}}).output("r");
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).input("c", {}, DType::boolean).output("y");
  bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
  const bool yes[] = {true};
  const OnnxOptions given{.inputs = {{"c", Tensor({}, std::span(yes))}}};
  EXPECT_EQ(outputs(imported(bytes.file(), given), counted({2, 4})).shape(), Shape({2, 4}));
}

TEST(Branches, WhoseConditionIsGivenAreRefusedForWhatIsInThem) {
  OnnxBytes branch;
  branch.node({"NonZero", {"x"}, {"r"}}).output("r");
  for (const OnnxSamples samples : {OnnxSamples::automatic, OnnxSamples::whole}) {
    OnnxBytes bytes;
    bytes.input("x", {1, 4}).input("c", {}, DType::boolean).output("y");
    bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
    const bool yes[] = {true};
    const OnnxOptions given{.inputs = {{"c", Tensor({}, std::span(yes))}}, .samples = samples};
    const std::string text = refused(Errc::unsupported, bytes.file(), given);
    EXPECT_NE(text.find("NonZero"), std::string::npos) << text;
  }
}

TEST(Branches, AreRefusedIfTheConditionDependsOnSamples) {
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}}).output("r");
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"IsNaN", {"x"}, {"c"}});
  bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
  EXPECT_EQ(
      refused(Errc::unsupported, bytes.file()),
      "this node cannot be imported: If (\"choice\"): the condition has to be known when the model "
      "is imported; "
      "OnnxOptions::inputs may give the value of \"x\"");
}

TEST(Branches, AreRefusedIfTheyComputeANameTwiceOrCannotBeImported) {
  const auto with = [](const OnnxNodeBytes& node, const std::string& output) {
    OnnxBytes branch, bytes;
    branch.node(node).output(output);
    const bool yes[] = {true};
    bytes.input("x", {"batch", 4}).output("y");
    bytes.initializer("c", Tensor({}, std::span(yes)));
    bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
    return bytes.file();
  };
  EXPECT_EQ(refused(Errc::corrupt_file, with({"Relu", {"x"}, {"x"}}, "x")),
            "If \"choice\": a branch computes \"x\", which is there already");
  EXPECT_EQ(refused(Errc::unsupported, with({"Det", {"x"}, {"r"}, {}, "d"}, "r")),
            "this node cannot be imported: Det (\"d\"): Penstock does not have this operator" +
                std::string(export_advice));
  EXPECT_EQ(refused(Errc::corrupt_file, with({"Relu", {"x"}, {"other"}}, "r")),
            "node \"choice\" reads \"r\", which no earlier node computes");
}

TEST(Branches, OfSeveralNodesMayNameTheirTensorsTheSame) {
  OnnxBytes bytes;
  const bool yes[] = {true};
  bytes.input("x", {"batch", 2}).output("y").initializer("c", Tensor({}, std::span(yes)));
  for (const std::string name : {"a", "b"}) {
    OnnxBytes branch;
    branch.initializer("w", name == "a" ? Tensor({2}, {2, 3}) : Tensor({2}, {5, 7}));
    branch.node({"Mul", {"x", "w"}, {"t"}}).node({"Neg", {"t"}, {"r"}}).output("r");
    bytes.node({"If", {"c"}, {name}, {{"then_branch", branch.graph()}}});
  }
  bytes.node({"Sub", {"a", "b"}, {"y"}});
  const Model model = imported(bytes.file());
  EXPECT_EQ(model.parameters().size(), 2u);
  const Tensor y = outputs(model, Tensor({1, 2}, {1, 10}));
  EXPECT_EQ(y.as<float>()[0], 3);
  EXPECT_EQ(y.as<float>()[1], 40);
}

TEST(Branches, OfFunctionsReadTheFunctionsOwnTensors) {
  // The function and the graph both have a tensor "t"; the branch hides the function's input "b".
  OnnxBytes branch, bytes;
  branch.initializer("b", Tensor({}, {10.0f}));
  branch.node({"Mul", {"t", "a"}, {"p"}}).node({"Add", {"p", "b"}, {"r"}}).output("r");
  const std::string function =
      wire_bytes(1, "F") + wire_bytes(4, "a") + wire_bytes(4, "b") + wire_bytes(5, "o") +
      wire_bytes(7, onnx_node({"Neg", {"a"}, {"t"}})) +
      wire_bytes(7, onnx_node({"If", {"b"}, {"o"}, {{"then_branch", branch.graph()}}})) +
      wire_bytes(10, "d");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 2}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.model_field(wire_bytes(25, function)).node({"Exp", {"x"}, {"t"}});
  bytes.node({"F", {"x", "c"}, {"z"}, {}, "call", "d"}).node({"Add", {"z", "t"}, {"y"}});
  const Tensor y = outputs(imported(bytes.file()), Tensor({1, 2}, {0.5f, 2}));
  EXPECT_NEAR(y.as<float>()[0], 10 - 0.25 + std::exp(0.5), 1e-5);
  EXPECT_NEAR(y.as<float>()[1], 10 - 4 + std::exp(2.0), 1e-5);
}

TEST(Branches, OfFunctionsHaveTheAttributesThatTheCallerGives) {
  OnnxBytes branch, bytes;
  const std::string reference = wire_bytes(1, "alpha") + wire_bytes(21, "slope");
  const std::string leaky =
      onnx_node({"LeakyRelu", {"a"}, {"r"}}) + wire_bytes(5, reference + wire_integer(20, 1));
  branch.graph_field(wire_bytes(1, leaky)).output("r");
  const std::string function =
      wire_bytes(1, "F") + wire_bytes(4, "a") + wire_bytes(4, "b") + wire_bytes(5, "o") +
      wire_bytes(7, onnx_node({"If", {"b"}, {"o"}, {{"then_branch", branch.graph()}}})) +
      wire_bytes(10, "d");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 1}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.model_field(wire_bytes(25, function));
  bytes.node({"F", {"x", "c"}, {"y"}, {{"slope", 0.5f}}, "call", "d"});
  EXPECT_EQ(outputs(imported(bytes.file()), Tensor({1, 1}, {-3.0f})).as<float>()[0], -1.5f);
}

}  // namespace
}  // namespace penstock::testing
