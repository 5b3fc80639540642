#include <gtest/gtest.h>

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

TEST(Branches, AreRefusedIfTheConditionDependsOnSamples) {
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}}).output("r");
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"IsNaN", {"x"}, {"c"}});
  bytes.node({"If", {"c"}, {"y"}, {{"then_branch", branch.graph()}}, "choice"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "If \"choice\": the condition has to be known when the model is imported; "
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
            "If \"choice\": these operators cannot be imported: Det (\"d\")");
  EXPECT_EQ(refused(Errc::corrupt_file, with({"Relu", {"x"}, {"other"}}, "r")),
            "node \"choice\" reads \"r\", which no earlier node computes");
}

}  // namespace
}  // namespace penstock::testing
