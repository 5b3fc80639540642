#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

TEST(UnsupportedNodes, AreNamedByOperator) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.node({"NonMaxSuppression", {"x"}, {"a"}, {}, "first"});
  bytes.node({"FancyOp", {"a"}, {"b"}, {}, "second", "my.domain"});
  bytes.node({"FancyOp", {"b"}, {"y"}, {}, "third", "my.domain"});
  EXPECT_EQ(
      refused(Errc::unsupported, bytes.file()),
      "these nodes cannot be imported: NonMaxSuppression (\"first\"): Penstock does not have this "
      "operator; my.domain.FancyOp (\"second\", \"third\"): Penstock does not have this operator" +
          std::string(export_advice));
}

TEST(UnsupportedNodes, AreNamedByReasonIfOnlyTheirFormIsNotSupported) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 8, 8}).initializer("w", counted({2, 3, 1, 1}));
  const auto pool = [&](const std::string& name) {
    bytes.output(name).output(name + "_indices");
    bytes.node({"MaxPool",
                {"x"},
                {name, name + "_indices"},
                {{"kernel_shape", std::vector<std::int64_t>{2, 2}}},
                name});
  };
  pool("pool_a");
  bytes.node({"Relu", {"pool_a"}, {"r"}, {}, "behind"});
  bytes.node({"NonMaxSuppression", {"r"}, {"boxes"}, {}, "nms"}).output("boxes");
  bytes.node({"Cast", {"x"}, {"half"}, {{"to", std::int64_t{10}}}, "cast"}).output("half");
  bytes.node({"Conv", {"x", "w"}, {"fine"}, {}, "conv"}).output("fine");
  pool("pool_b");
  const std::string text =
      "these nodes cannot be imported: MaxPool (\"pool_a\", \"pool_b\"): its output of indices has "
      "no counterpart; NonMaxSuppression (\"nms\"): Penstock does not have this operator; Cast "
      "(\"cast\"): it casts to float16, and there are casts to float, double, int32, int64 and "
      "bool "
      "alone, and to uint8 of what is known at import" +
      std::string(export_advice);
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()), text);
  EXPECT_EQ(refused(Errc::unsupported, bytes.file(), {.samples = OnnxSamples::axis}), text);
}

TEST(UnsupportedNodes, AreNamedBesidesNodesThatMixSamples) {
  const auto file = [](const OnnxDimension& samples) {
    OnnxBytes bytes;
    bytes.input("x", {samples, 3}).output("y").output("z");
    bytes.node({"ReduceSum", {"x"}, {"y"}, {{"keepdims", std::int64_t{0}}}, "sum"});
    bytes.node({"Det", {"x"}, {"z"}, {}, "det"});
    return bytes.file();
  };
  const std::string det =
      "Det (\"det\"): Penstock does not have this operator" + std::string(export_advice);
  EXPECT_EQ(refused(Errc::unsupported, file("batch")),
            "these nodes cannot be imported: ReduceSum (\"sum\"): it works along the axis that has "
            "the samples; " +
                det);
  // Samples of a fixed number may be one sample as a whole, in which nothing mixes them.
  EXPECT_EQ(refused(Errc::unsupported, file(2)), "this node cannot be imported: " + det);
}

TEST(UnsupportedNodes, AreNamedBesidesInputsAndInitializers) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", "length"}).input("z", {"batch", 4}).output("y");
  bytes.graph_field(wire_bytes(
      5, wire_integer(1, 1) + wire_integer(2, 8) + wire_bytes(6, "a") + wire_bytes(8, "words")));
  bytes.node({"Equal", {"x", "words"}, {"e"}, {}, "equal"});
  bytes.node({"Det", {"e"}, {"d"}, {}, "det"});
  bytes.node({"Add", {"d", "z"}, {"y"}, {}, "sum"});
  EXPECT_EQ(
      refused(Errc::unsupported, bytes.file()),
      "input \"x\" has a dimension 1 of any size; OnnxOptions::dimensions may say what "
      "\"length\" is; tensor \"words\": Penstock has no tensors of string; this node cannot be "
      "imported: Det (\"det\"): Penstock does not have this operator" +
          std::string(export_advice));
}

TEST(UnsupportedNodes, AreNamedWithTheFirstOfTheInputsThatTheyNeedToKnow) {
  OnnxBytes bytes;
  std::vector<std::string> names;
  std::string first_names;
  for (char name = 'a'; name < 'a' + 25; ++name) {
    names.emplace_back(1, name);
    bytes.input(names.back(), {"batch", 1});
    if (names.size() <= 20) first_names += (name == 'a' ? "\"" : ", \"") + names.back() + "\"";
  }
  bytes.node({"Concat", names, {"all"}, {{"axis", std::int64_t{1}}}});
  bytes.node({"Reshape", {"a", "all"}, {"result"}, {}, "reshape"}).output("result");
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "this node cannot be imported: Reshape (\"reshape\"): input 1 has to be known when the "
            "model is imported; OnnxOptions::inputs may give the value of " +
                first_names + " and 5 more");
}

TEST(UnsupportedNodes, AreNamedInBranches) {
  OnnxBytes branch, bytes;
  branch.node({"Relu", {"d"}, {"a"}, {}, "behind"}).node({"Inverse", {"x"}, {"b"}, {}, "inverse"});
  branch.node({"Sum", {"a", "b"}, {"r"}, {}, "sum"}).output("r");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 4}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.node({"Det", {"x"}, {"d"}, {}, "det"});
  bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "these nodes cannot be imported: Det (\"det\"): Penstock does not have this operator; "
            "Inverse (\"inverse\"): Penstock does not have this operator" +
                std::string(export_advice));
}

TEST(UnsupportedNodes, AreNamedIfTheirBranchesCallTensorsTheSame) {
  OnnxBytes branch, bytes;
  branch.initializer("v", counted({4})).node({"Add", {"x", "v"}, {"p"}});
  // Elements of complex64 cannot be read.
  branch.graph_field(wire_bytes(5, wire_integer(1, 1) + wire_integer(2, 14) +
                                       wire_bytes(9, "12345678") + wire_bytes(8, "w")));
  branch.node({"Add", {"p", "w"}, {"r"}}).output("r");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 4}).output("y").initializer("c", Tensor({}, std::span(yes)));
  for (const std::string name : {"a", "b", "d"})
    bytes.node({"If", {"c"}, {name}, {{"then_branch", branch.graph()}}, "if_" + name});
  bytes.node({"Sum", {"a", "b", "d"}, {"y"}});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "these nodes cannot be imported: If (\"if_a\", \"if_b\", \"if_d\"): tensor \"w\": "
            "Penstock has no tensors of complex64" +
                std::string(export_advice));
}

TEST(UnsupportedNodes, AreListedForAHostByOperatorAndReason) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  for (const auto& [node, from, to] :
       {std::array{"a", "x", "h"}, std::array{"b", "h", "i"}, std::array{"c", "i", "y"}})
    bytes.node({node == std::string("b") ? "Relu" : "Det", {from}, {to}, {}, node});
  write_file(path, bytes.file());
  const std::vector<OnnxRefusal> refusals = LoadedOnnx(path).refusals({});
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].op_type, "Det");
  EXPECT_EQ(refusals[0].reason, "Penstock does not have this operator");
  EXPECT_EQ(refusals[0].nodes, (std::vector<std::string>{"a", "c"}));

  write_file(path, perceptron().file());
  EXPECT_TRUE(LoadedOnnx(path).refusals({}).empty());
  EXPECT_NE(
      refusal(Errc::invalid_argument, [&] { LoadedOnnx(path).refusals({.parameters = {"none"}}); }),
      "accepted");
  OnnxBytes open;
  open.input("x", {"batch", "length"}).output("y").node({"Relu", {"x"}, {"y"}});
  write_file(path, open.file());
  EXPECT_NE(refusal(Errc::unsupported, [&] { LoadedOnnx(path).refusals({}); }), "accepted");
}

TEST(UnsupportedTensors, AreNamedByReason) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4});
  for (int i = 0; i < 150; ++i) {
    const std::string name = "w" + std::to_string(i);
    // Elements of complex64 and of string cannot be read.
    bytes.graph_field(wire_bytes(
        5, wire_integer(1, 1) + wire_integer(2, i == 149 ? 8 : 14) + wire_bytes(8, name)));
    bytes.node({"Add", {"x", name}, {"y" + name}}).output("y" + name);
  }
  const std::string text = refused(Errc::unsupported, bytes.file());
  EXPECT_TRUE(text.starts_with("tensors \"w0\", \"w1\", ")) << text;
  EXPECT_TRUE(text.ends_with(
      "\"w19\" and 129 more: Penstock has no tensors of complex64; tensor \"w149\": Penstock has "
      "no tensors of string" +
      std::string(export_advice)))
      << text;
}

TEST(UnsupportedNodes, AreCountedIfTheyAreTooManyToName) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4});
  for (int i = 0; i < 23; ++i) {
    const std::string name = "d" + std::to_string(i);
    bytes.node({"Det", {"x"}, {name}, {}, name}).output(name);
  }
  const std::string text = refused(Errc::unsupported, bytes.file());
  EXPECT_NE(text.find("\"d19\" and 3 more): Penstock does not have this operator"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("\"d20\""), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::testing
