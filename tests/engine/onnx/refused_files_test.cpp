#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

TEST(FromOnnx, RefusesFunctionsThatCallThemselves) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"Loop2", {"x"}, {"y"}, {}, "call", "my.domain"});
  bytes.model_field(wire_bytes(
      25, wire_bytes(1, "Loop2") + wire_bytes(4, "a") + wire_bytes(5, "c") +
              wire_bytes(7, onnx_node({"Loop2", {"a"}, {"c"}, {}, "again", "my.domain"})) +
              wire_bytes(10, "my.domain")));
  EXPECT_EQ(refused(Errc::corrupt_file, bytes.file()),
            "functions call each other, or more than 16 deep");
}

TEST(FromOnnx, RefusesNamesThatNothingComputesOrThatAreThereTwice) {
  OnnxBytes missing, twice, no_output;
  missing.input("x", {"batch", 4}).output("y").node({"Add", {"x", "z"}, {"y"}, {}, "sum"});
  EXPECT_EQ(refused(Errc::corrupt_file, missing.file()),
            "node \"sum\" reads \"z\", which no earlier node computes");
  twice.input("x", {"batch", 4})
      .output("y")
      .node({"Relu", {"x"}, {"y"}})
      .node({"Relu", {"x"}, {"y"}});
  EXPECT_EQ(refused(Errc::corrupt_file, twice.file()),
            "node \"y\" computes \"y\", which is there already");
  no_output.input("x", {"batch", 4}).output("z").node({"Relu", {"x"}, {"y"}});
  EXPECT_EQ(refused(Errc::corrupt_file, no_output.file()), "no node computes the output \"z\"");
}

TEST(FromOnnx, RefusesVersionsThatItDoesNotKnow) {
  for (const std::int64_t opset : {6, 22})
    EXPECT_EQ(refused(Errc::unsupported, perceptron().file(opset)),
              "expected operators of a version from 7 to 21, got " + std::to_string(opset) +
                  "; export the model with one of these versions (opset_version), or convert the "
                  "file with onnx.version_converter");
}

TEST(FromOnnx, RefusesFilesThatAreNoModels) {
  EXPECT_EQ(refused(Errc::corrupt_file, ""),
            "model: there is no graph; the file is empty: export the model again");
  for (const std::string bytes : {"this is a text", "{\"layers\": 3}"}) {
    const std::string text = refused(Errc::corrupt_file, bytes);
    EXPECT_TRUE(
        text.ends_with("; this does not seem to be an ONNX file, but one of another format: "
                       "export the model, as with torch.onnx.export"))
        << text;
  }
  // A SavedModel begins with the same byte as a file in the ONNX format.
  EXPECT_EQ(refused(Errc::corrupt_file, wire_integer(1, 1) + wire_bytes(2, wire_bytes(1, "ab"))),
            "model: there is no graph; the file may be cut off, or be one of another format, such "
            "as a SavedModel of TensorFlow: copy it again, or export the model, as with tf2onnx");
  EXPECT_NE(refusal(Errc::io_error, [] { Model::from_onnx("/there/is/no/file"); }), "accepted");
}

TEST(FromOnnx, RefusesEveryBeginningOfAFile) {
  const std::string bytes = perceptron().file();
  for (std::size_t size = 0; size + 4 < bytes.size(); ++size)
    EXPECT_NE(refused(Errc::corrupt_file, bytes.substr(0, size)), "accepted") << size;
  EXPECT_EQ(
      refused(Errc::corrupt_file, bytes.substr(0, bytes.size() - 8)),
      "model: a field ends behind its end; the file seems to be damaged or cut off: copy it or "
      "export the model again");
}

TEST(FromOnnx, RefusesNumbersThatDependOnTheNumberOfSamples) {
  const std::string refusal_text =
      "a number that is known at import depends on the number of samples";
  OnnxBytes divided = counting({"batch", 3});
  divided.node({"Div", {"x", "count"}, {"y"}, {}, "div"});
  EXPECT_EQ(refused(Errc::unsupported, divided.file()),
            "this node cannot be imported: Div (\"div\"): " + refusal_text);
  OnnxBytes filled = counting({"batch", 3});
  filled.node({"Expand", {"count", "shape"}, {"wide"}})
      .node({"Mul", {"x", "wide"}, {"y"}, {}, "mul"});
  EXPECT_EQ(refused(Errc::unsupported, filled.file()),
            "this node cannot be imported: Mul (\"mul\"): " + refusal_text);
  OnnxBytes known = counting({"batch", 3});
  known.node({"Identity", {"size"}, {"y"}});
  EXPECT_EQ(refused(Errc::unsupported, known.file()), "output \"y\": " + refusal_text);
}

TEST(FromOnnx, RefusesSlicesOfSamples) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3}).output("y");
  bytes.initializer("zero", integers({0})).initializer("two", integers({2}));
  bytes.node({"Slice", {"x", "zero", "two", "zero"}, {"y"}, {}, "part"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "this node cannot be imported: Slice (\"part\"): it works along the axis that has the "
            "samples");
}

TEST(FromOnnx, RefusesOptionsThatAreNotAboutTheFile) {
  const std::string bytes = perceptron().file();
  EXPECT_EQ(refused(Errc::invalid_argument, bytes, {.parameters = {"fc3.*"}}),
            "OnnxOptions::parameters: no initializer that is read matches \"fc3.*\"; there are: "
            "fc1.weight, fc1.bias, fc2.weight, fc2.bias");
  EXPECT_NE(refused(Errc::invalid_argument, bytes, {.dimensions = {{"length", 3}}}), "accepted");
  EXPECT_EQ(refused(Errc::shape_mismatch, bytes, {.inputs = {{"x", counted({2, 5})}}}),
            "input \"x\": expected float[batch,4], got f32[2,5]");
  EXPECT_EQ(refused(Errc::invalid_argument, bytes, {.inputs = {{"z", counted({2, 4})}}}),
            "there is no input \"z\"; there is: x");
}

TEST(FromOnnx, RefusesBoolsOfOptionsWhoseBytesAreNot0Or1) {
  OnnxBytes bytes;
  bytes.input("x", {1, 2}).input("c", {2}, DType::boolean).output("y");
  bytes.node({"Cast", {"c"}, {"shape"}, {{"to", std::int64_t{7}}}});
  bytes.node({"Reshape", {"x", "shape"}, {"y"}});
  const auto elements =
      std::make_shared<std::array<std::uint8_t, 2>>(std::array<std::uint8_t, 2>{1, 2});
  const Tensor bools = Tensor::wrap(
      DType::boolean, {2}, {elements, reinterpret_cast<const std::byte*>(elements->data())});
  EXPECT_EQ(refused(Errc::invalid_data, bytes.file(), {.inputs = {{"c", bools}}}),
            "input \"c\": expected bytes of 0 and 1, got 2 as element 1");
}

TEST(FromOnnx, RefusesAxisNamesThatAnInputHasTwice) {
  OnnxBytes bytes;
  bytes.input("x", {"n", "n"}).output("y").node({"Relu", {"x"}, {"y"}});
  EXPECT_NE(refused(Errc::unsupported, bytes.file()), "accepted");
}

TEST(FromOnnx, RefusesShapesThatDoNotFitAsCorrupt) {
  const auto with = [](const OnnxNodeBytes& node, const OnnxDimension& columns) {
    OnnxBytes bytes;
    bytes.input("x", {"batch", columns}).output("y").initializer("w", counted({3, 5}));
    bytes.initializer("sizes", integers({-3}));
    return refused(Errc::corrupt_file, bytes.node(node).file());
  };
  EXPECT_TRUE(
      with({"MatMul", {"x", "w"}, {"y"}, {}, "product"}, 4).starts_with("MatMul \"product"));
  EXPECT_EQ(with({"Expand", {"x", "sizes"}, {"y"}, {}, "expand"}, 4),
            "Expand \"expand\": expected dimensions of 0 or more, got [-3]");
  EXPECT_EQ(with({"Relu", {"x"}, {"y"}, {}, "r"}, std::int64_t{1} << 62),
            "input \"x\": the sizes of a shape multiply to more than 2^48: "
            "[2,4611686018427387904]");
}

TEST(FromOnnx, RefusesRepeatsThatATileCannotHave) {
  const auto tile = [](Errc code, const std::vector<std::int64_t>& repeats) {
    OnnxBytes bytes;
    bytes.input("x", {"batch", 4}).output("y").initializer("repeats", integers(repeats));
    return refused(code, bytes.node({"Tile", {"x", "repeats"}, {"y"}, {}, "tile"}).file());
  };
  EXPECT_EQ(
      tile(Errc::corrupt_file, {1, 1, 1}),
      "Tile \"tile\": expected a number of repeats for each axis, which makes 2 of them, got 3");
  for (const std::int64_t count : {-2, 0, (1 << 20) + 1})
    EXPECT_EQ(
        tile(Errc::unsupported, {1, count}),
        "this node cannot be imported: Tile (\"tile\"): expected from 1 to 1048576 repeats of "
        "axis 1, got " +
            std::to_string(count) + export_advice);
}

/// Returns a file with an RNN over x [4,batch,1] whose lengths are computed for `batch` sequences.
std::string with_lengths(const std::string& batch) {
  OnnxBytes bytes;
  bytes.input("x", {4, "batch", 1}).output("y");
  bytes.initializer("w", counted({1, 1, 1})).initializer("one", integers({1}));
  bytes.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "one"}, {"samples"}});
  bytes.node({"ConstantOfShape", {batch}, {"lengths"}, {{"value", integers({4})}}});
  return bytes.node({"RNN", {"x", "w", "w", "", "lengths"}, {"y"}, {}, "rnn"}).file();
}

TEST(FromOnnx, RefusesLengthsThatAreNotOneForEachSequence) {
  EXPECT_NO_THROW(imported(with_lengths("samples")));
  EXPECT_NO_THROW(imported(with_lengths("one"))) << "the file may be made for one sequence";
  EXPECT_EQ(
      refused(Errc::corrupt_file, with_lengths("shape")),
      "RNN \"rnn\": expected integers of shape [2], one for each sequence, as its lengths, got "
      "i64[4,2,1]");
}

// The second part has no elements for two samples, and some for three.
TEST(FromOnnx, RefusesPartsThatSomeNumbersOfSamplesLackAlone) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.initializer("zero", integers({0})).initializer("two", integers({2}));
  bytes.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "zero"}, {"n"}});
  bytes.node({"Sub", {"n", "two"}, {"k"}})
      .node({"Concat", {"n", "k"}, {"to"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"ConstantOfShape", {"to"}, {"z"}});
  bytes.node({"Concat", {"x", "z"}, {"y"}, {{"axis", std::int64_t{1}}}, "concat"});
  const std::string text = refused(Errc::unsupported, bytes.file());
  EXPECT_NE(text.find("Concat (\"concat\")"), std::string::npos) << text;
}

TEST(FromOnnx, RefusesNumbersThatAreOutOfRange) {
  const auto unary = [](const OnnxNodeBytes& node, std::int64_t opset) {
    OnnxBytes bytes;
    bytes.input("x", {"batch", 4, 4, 4}).output("y").node(node);
    return refused(Errc::corrupt_file, bytes.file(opset));
  };
  EXPECT_EQ(unary({"Softmax", {"x"}, {"y"}, {{"axis", std::int64_t{500000}}}, "s"}, 11),
            "Softmax \"s\": expected an axis from -4 to 3, got 500000");
  EXPECT_NE(unary({"DepthToSpace", {"x"}, {"y"}, {{"blocksize", std::int64_t{1} << 32}}}, 13),
            "accepted");
  EXPECT_NE(
      unary({"Transpose", {"x"}, {"y"}, {{"perm", std::vector<std::int64_t>{0, 1, 1, 3}}}}, 13),
      "accepted");
}

const std::string too_many_copies =
    "functions and branches take more than 268435456 bytes of memory once they are written out for "
    "each call";

TEST(FromOnnx, RefusesFunctionsThatAreCalledTooOften) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"F0", {"x"}, {"y"}, {}, "", "d"});
  for (int level = 0; level < 12; ++level) {
    std::string function = wire_bytes(1, "F" + std::to_string(level)) + wire_bytes(4, "a") +
                           wire_bytes(5, "b") + wire_bytes(10, "d");
    for (int i = 0; i < 10; ++i)
      function += wire_bytes(
          7, onnx_node(
                 {"F" + std::to_string(level + 1), {"a"}, {"c" + std::to_string(i)}, {}, "", "d"}));
    bytes.model_field(wire_bytes(25, function));
  }
  bytes.model_field(wire_bytes(
      25, wire_bytes(1, "F12") + wire_bytes(4, "a") + wire_bytes(5, "b") + wire_bytes(10, "d")));
  EXPECT_EQ(refused(Errc::corrupt_file, bytes.file()), too_many_copies);
}

/// Returns what follows the nodes of a function with the input "a" and the output "b".
std::string function_ends(const std::string& name) {
  return wire_bytes(1, name) + wire_bytes(4, "a") + wire_bytes(5, "b") + wire_bytes(10, "d");
}

/// Returns a file in which 4096 calls of functions come to a function that has `leaf` as its node.
/// The calls hand on an attribute "g", which has `branch`.
std::string tree_of_functions(const std::string& leaf, const OnnxGraphBytes& branch = {}) {
  const std::string handed_on = wire_bytes(5, wire_bytes(1, "g") + wire_bytes(21, "g"));
  constexpr int depth = 12;
  const bool yes[] = {true};
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.node({"F0", {"c"}, {"y"}, {{"g", branch}}, "", "d"});
  for (int level = 0; level < depth; ++level) {
    std::string function = function_ends("F" + std::to_string(level));
    for (const char* result : {"l", "r"})
      function += wire_bytes(
          7, onnx_node({"F" + std::to_string(level + 1), {"a"}, {result}, {}, result, "d"}) +
                 handed_on);
    function += wire_bytes(7, onnx_node({"Add", {"l", "r"}, {"b"}}));
    bytes.model_field(wire_bytes(25, function));
  }
  bytes.model_field(
      wire_bytes(25, function_ends("F" + std::to_string(depth)) + wire_bytes(7, leaf)));
  return bytes.file();
}

/// Returns a node If whose branch has the field `field` 100,000 times, and a node before.
std::string node_with_branch(unsigned field, const std::string& content) {
  OnnxBytes branch;
  std::string fields;
  for (int i = 0; i < 100'000; ++i) fields += wire_bytes(field, content);
  branch.node({"Relu", {"x"}, {"r"}}).graph_field(fields);
  return onnx_node({"If", {"a"}, {"b"}, {{"then_branch", branch.graph()}}});
}

TEST(FromOnnx, RefusesFunctionsThatMultiplyWhatTheyHave) {
  const std::string long_text(250'000, 't');
  const std::vector<std::int64_t> list(250'000, 1);
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}, {{"list", list}}}).output("r");
  const std::string value = wire_bytes(1, "r");
  const std::string tensor = wire_bytes(8, "r") + wire_bytes(9, "1234");
  const std::vector<std::pair<std::string, std::string>> leaves = {
      {"integers", onnx_node({"Relu", {"a"}, {"b"}, {{"list", list}}})},
      {"a text", onnx_node({"Relu", {"a"}, {"b"}, {{"text", long_text}}})},
      {"the name of an attribute", onnx_node({"Relu", {"a"}, {"b"}, {{long_text, 1.0f}}})},
      {"the name of an output", onnx_node({"Relu", {"a"}, {"b", long_text}})},
      {"a domain", onnx_node({"Relu", {"a"}, {"b"}, {}, "", long_text})},
      {"inputs", onnx_node({"Sum", std::vector<std::string>(100'000), {"b"}})},
      {"a branch", onnx_node({"If", {"a"}, {"b"}, {{"then_branch", branch.graph()}}})},
      {"initializers of a branch", node_with_branch(5, tensor)},
      {"inputs of a branch", node_with_branch(11, value)},
      {"outputs of a branch", node_with_branch(12, value)}};
  for (const auto& [what, leaf] : leaves)
    EXPECT_EQ(refused(Errc::corrupt_file, tree_of_functions(leaf)), too_many_copies) << what;
}

TEST(FromOnnx, RefusesABranchThatTooManyNodesTake) {
  OnnxBytes branch;
  branch.node({"Relu", {"x"}, {"r"}, {{"list", std::vector<std::int64_t>(250'000, 1)}}});
  branch.output("r");
  const std::string leaf = onnx_node({"If", {"a"}, {"b"}}) +
                           wire_bytes(5, wire_bytes(1, "then_branch") + wire_bytes(21, "g"));
  const std::string text = refused(Errc::corrupt_file, tree_of_functions(leaf, branch.graph()));
  EXPECT_TRUE(text.ends_with(too_many_copies)) << text;
}

TEST(FromOnnx, RefusesFunctionsThatMultiplyTheParametersOfABranch) {
  OnnxBytes branch;
  branch.initializer("w", counted({250'000, 1})).output("r").node({"Add", {"w", "w"}, {"r"}});
  const std::string text = refused(
      Errc::corrupt_file,
      tree_of_functions(onnx_node({"If", {"a"}, {"b"}, {{"then_branch", branch.graph()}}})));
  EXPECT_TRUE(text.ends_with(too_many_copies)) << text;
}

/// Returns an initializer of `elements` floats that begin with byte `offset` of the file "weights".
std::string beside(const std::string& name, std::int64_t elements, const std::string& offset) {
  const auto entry = [](const std::string& key, const std::string& value) {
    return wire_bytes(13, wire_bytes(1, key) + wire_bytes(2, value));
  };
  return wire_bytes(5, wire_integer(1, elements) + wire_integer(2, 1) + wire_bytes(8, name) +
                           wire_integer(14, 1) + entry("location", "weights") +
                           entry("offset", offset));
}

class TensorsBesideAFile : public ::testing::Test {
 protected:
  TensorsBesideAFile() { write_file(directory_ / "weights", std::string(16, '\0')); }

  static void expect_refused(const auto& action) {
    const std::string text = refusal(Errc::corrupt_file, action);
    EXPECT_TRUE(
        text.ends_with("file \"weights\" has 16 bytes, fewer than the tensors that have "
                       "their elements there"))
        << text;
  }

  /// Returns a graph that adds the tensors "a" and "b" to x.
  static OnnxBytes sum(const std::string& a, const std::string& b) {
    OnnxBytes graph;
    graph.graph_field(a).graph_field(b).output("r");
    graph.node({"Add", {"x", "a"}, {"h"}}).node({"Add", {"h", "b"}, {"r"}});
    return graph;
  }

  /// Writes a file that takes `branch`.
  void write_branching(const OnnxGraphBytes& branch, const std::string& graph_field = "") {
    const bool yes[] = {true};
    OnnxBytes bytes;
    bytes.input("x", {"batch", 4}).output("y").initializer("c", Tensor({}, std::span(yes)));
    bytes.graph_field(graph_field).node({"If", {"c"}, {"y"}, {{"then_branch", branch}}});
    write_file(path_, bytes.file());
  }

  const TemporaryDirectory directory_;
  const std::string path_ = (directory_ / "model.onnx").string();
};

TEST_F(TensorsBesideAFile, MayNotTakeMoreThanItHas) {
  OnnxBytes bytes = sum(beside("a", 4, "0"), beside("b", 1, "4")).input("x", {"batch", 4});
  write_file(path_, bytes.file());
  expect_refused([&] { Model::from_onnx(path_); });
  expect_refused([&] { load_onnx_weights(path_); });
  expect_refused([&] { save_onnx_with_weights(path_, path_ + ".new", {}); });

  write_branching(sum(beside("a", 4, "0"), beside("b", 1, "4")).graph());
  expect_refused([&] { Model::from_onnx(path_); });
  OnnxBytes branch;
  branch.graph_field(beside("a", 4, "0")).output("r").node({"Add", {"v", "a"}, {"r"}});
  write_branching(branch.graph(),
                  beside("b", 1, "4") + wire_bytes(1, onnx_node({"Add", {"x", "b"}, {"v"}})));
  expect_refused([&] { Model::from_onnx(path_); });
}

TEST_F(TensorsBesideAFile, ShareTheElementsOfOnePlace) {
  OnnxBytes bytes = sum(beside("a", 4, "0"), beside("b", 4, "0")).input("x", {"batch", 4});
  write_file(path_, bytes.file());
  EXPECT_EQ(Model::from_onnx(path_).parameters().size(), 2u);
  const std::vector<NamedTensor> weights = load_onnx_weights(path_);
  EXPECT_EQ(weights[0].tensor.raw(), weights[1].tensor.raw());
  const std::string copy = path_ + ".new";
  save_onnx_with_weights(path_, copy, {});
  std::filesystem::remove(directory_ / "weights");
  EXPECT_EQ(load_onnx_weights(copy).size(), 2u);
}

TEST_F(TensorsBesideAFile, MayBelongToConstants) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  for (const char* name : {"v", "w"})
    bytes.graph_field(
        wire_bytes(1, onnx_node({"Constant", {}, {name}}) +
                          wire_bytes(5, wire_bytes(1, "value") + beside(name, 4, "0"))));
  bytes.node({"Add", {"v", "w"}, {"h"}}).node({"Add", {"x", "h"}, {"y"}});
  write_file(path_, bytes.file());
  EXPECT_NO_THROW(Model::from_onnx(path_));
}

TEST_F(TensorsBesideAFile, MayBelongToAFunctionThatIsCalledTwice) {
  OnnxBytes branch, bytes;
  branch.graph_field(beside("w", 4, "0")).node({"Add", {"a", "w"}, {"r"}}).output("r");
  const bool yes[] = {true};
  bytes.input("x", {"batch", 4}).output("y").initializer("c", Tensor({}, std::span(yes)));
  bytes.model_field(wire_bytes(
      25, wire_bytes(1, "F") + wire_bytes(4, "a") + wire_bytes(4, "b") + wire_bytes(5, "o") +
              wire_bytes(7, onnx_node({"If", {"b"}, {"o"}, {{"then_branch", branch.graph()}}})) +
              wire_bytes(10, "d")));
  bytes.node({"F", {"x", "c"}, {"h"}, {}, "first", "d"})
      .node({"F", {"h", "c"}, {"y"}, {}, "second", "d"});
  write_file(path_, bytes.file());
  EXPECT_EQ(Model::from_onnx(path_).parameters().size(), 2u);
}

TEST(FromOnnx, RefusesShapesOfConstantsThatDependOnTheNumberOfSamples) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 1}).output("y").output("z").initializer("c", counted({6}));
  bytes.initializer("rest", integers({-1})).initializer("zero", integers({0}));
  bytes.node({"Relu", {"x"}, {"z"}}).node({"Shape", {"x"}, {"shape"}});
  bytes.node({"Gather", {"shape", "zero"}, {"samples"}});
  bytes.node({"Concat", {"samples", "rest"}, {"to"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"Reshape", {"c", "to"}, {"y"}});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file(), {.parameters = {}}),
            "output \"y\": a number that is known at import depends on the number of samples");
}

/// Returns a graph with the input x of the dimensions `dims`, among which "batch" is the only one
/// other than 1. It computes "ones", which has 5 - batch elements, "list", which has the batch
/// behind them, and "zeros", whose dimensions are those of "list".
OnnxBytes with_list(const std::vector<OnnxDimension>& dims) {
  OnnxBytes bytes;
  bytes.input("x", dims).output("y").node({"Shape", {"x"}, {"shape"}});
  bytes.initializer("five", integers({5})).initializer("one", integers({1}));
  bytes.node({"ReduceProd", {"shape"}, {"batch"}}).node({"Sub", {"five", "batch"}, {"count"}});
  bytes.node({"Expand", {"one", "count"}, {"ones"}});
  bytes.node({"Concat", {"ones", "batch"}, {"list"}, {{"axis", std::int64_t{0}}}});
  return bytes.node({"ConstantOfShape", {"list"}, {"zeros"}});
}

TEST(FromOnnx, RefusesNumbersOfAxesThatDependOnTheNumberOfSamples) {
  struct Row {
    OnnxNodeBytes node;
    std::string reason;
    std::vector<OnnxDimension> dims = {"batch", 1, 1};
  };
  const std::string list = "the number of elements of input 1 depends on the number of samples",
                    axes = "the number of axes of a tensor depends on the number of samples";
  const std::vector<Row> rows{
      {{"Tile", {"x", "ones"}, {"y"}, {}, "n"}, list},
      {{"Expand", {"x", "list"}, {"y"}, {}, "n"}, list, {"batch"}},
      {{"Reshape", {"x", "list"}, {"y"}, {}, "n"}, list, {"batch"}},
      {{"Resize", {"x", "", "", "ones"}, {"y"}, {}, "n"},
       "the number of elements of input 3 depends on the number of samples"},
      {{"Add", {"x", "zeros"}, {"y"}, {}, "n"}, axes, {1, 1, 1, "batch"}},
      {{"Shape", {"zeros"}, {"y"}, {}, "n"}, axes}};
  for (const Row& row : rows) {
    OnnxBytes bytes = with_list(row.dims);
    EXPECT_EQ(refused(Errc::unsupported, bytes.node(row.node).file()),
              "this node cannot be imported: " + row.node.op_type + " (\"n\"): " + row.reason);
  }
}

TEST(FromOnnx, RefusesNumbersOfResultsThatDependOnTheNumberOfSamples) {
  const std::string reason = " (\"n\"): the number of its results depends on the number of samples";
  const auto numbers = [](std::int64_t first) {
    OnnxBytes bytes;
    bytes.input("x", {"batch"}).output("y").initializer("one", integers({1}));
    bytes.initializer("first", Tensor({}, {static_cast<float>(first)}));
    bytes.initializer("step", Tensor({}, {1}));
    bytes.node({"Shape", {"x"}, {"shape"}}).node({"Squeeze", {"shape"}, {"batch"}});
    bytes.node({"Cast", {"batch"}, {"end"}, {{"to", std::int64_t{1}}}});
    return bytes.node({"Range", {"first", "end", "step"}, {"numbers"}});
  };
  OnnxBytes split = numbers(0), largest = numbers(2);
  split.node({"Expand", {"one", "shape"}, {"sizes"}});
  split.node({"Split", {"numbers", "sizes"}, {"y", "z", "w"}, {}, "n"});
  EXPECT_EQ(refused(Errc::unsupported, split.file()),
            "this node cannot be imported: Split" + reason);
  // The numbers from 2 to the number of samples are none for two samples.
  largest.node({"ReduceMax", {"numbers"}, {"y"}, {}, "n"});
  EXPECT_EQ(refused(Errc::unsupported, largest.file()),
            "this node cannot be imported: ReduceMax" + reason);
}

}  // namespace
}  // namespace penstock::testing
